#include "engine/exec/operators/show_string.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "data/columnar/builder.h"
#include "data/text/literal.h"
#include "data/text/utf8.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::TypeKind;
using data::Value;

// Characters that take two places in a terminal, as Spark's regular expression lists them.
constexpr std::array<std::pair<char32_t, char32_t>, 7> kFullWidth = {{{0x1100, 0x115F},
                                                                      {0x2E80, 0xA4CF},
                                                                      {0xAC00, 0xD7A3},
                                                                      {0xF900, 0xFAFF},
                                                                      {0xFE30, 0xFE4F},
                                                                      {0xFF00, 0xFF60},
                                                                      {0xFFE0, 0xFFE6}}};

// Java counts UTF-16 units.
int Units(char32_t c) { return c > 0xFFFF ? 2 : 1; }

int64_t Length(std::string_view text) {
  int64_t length = 0;
  for (size_t at = 0; at < text.size();) length += Units(data::NextCodePoint(text, &at));
  return length;
}

int64_t DisplayWidth(std::string_view text) {
  int64_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = data::NextCodePoint(text, &at);
    width += Units(c);
    for (const auto& [first, last] : kFullWidth) width += c >= first && c <= last ? 1 : 0;
  }
  return width;
}

// The first `length` units; half of a pair becomes '?', as when Java encodes it.
std::string Prefix(std::string_view text, int64_t length) {
  size_t at = 0;
  int64_t units = 0;
  while (at < text.size() && units < length) {
    size_t next = at;
    units += Units(data::NextCodePoint(text, &next));
    if (units > length) return std::string(text.substr(0, at)) + "?";
    at = next;
  }
  return std::string(text.substr(0, at));
}

std::string EscapeControls(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\f': out += "\\f"; break;
      case '\b': out += "\\b"; break;
      case '\v': out += "\\v"; break;
      case '\a': out += "\\a"; break;
      default: out += c;
    }
  }
  return out;
}

std::string HexBytes(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out = "[";
  for (const char c : bytes) {
    if (out.size() > 1) out += ' ';
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out + "]";
}

std::string PrettyText(const Value& value, const DataType& type, const data::TimeZone& zone) {
  if (value.is_null()) return "NULL";
  switch (type.kind()) {
    case TypeKind::kBinary: return HexBytes(value.get<std::string>());
    case TypeKind::kArray: {
      const auto& items = value.get<data::ValueList>();
      std::string out = "[";
      for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ", ";
        out += PrettyText(items[i], type.element(), zone);
      }
      return out + "]";
    }
    case TypeKind::kMap: {
      const auto& items = value.get<data::ValueList>();
      std::string out = "{";
      for (size_t i = 0; i + 1 < items.size(); i += 2) {
        if (i > 0) out += ", ";
        out += PrettyText(items[i], type.key(), zone) + " -> " + PrettyText(items[i + 1], type.value(), zone);
      }
      return out + "}";
    }
    case TypeKind::kStruct: {
      const auto& items = value.get<data::ValueList>();
      std::string out = "{";
      for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ", ";
        out += PrettyText(items[i], type.fields()[i].type, zone);
      }
      return out + "}";
    }
    default: return data::ValueText(value, type, zone);
  }
}

std::string Cell(const Value& value, const DataType& type, const data::TimeZone& zone, int truncate) {
  std::string text = EscapeControls(PrettyText(value, type, zone));
  if (truncate > 0 && Length(text) > truncate) {
    text = truncate < 4 ? Prefix(text, truncate) : Prefix(text, truncate - 3) + "...";
  }
  return text;
}

using TextRows = std::vector<std::vector<std::string>>;

void AppendPadded(std::string_view text, int64_t width, bool right, std::string* out) {
  const auto pad = static_cast<size_t>(std::max<int64_t>(0, width - DisplayWidth(text)));
  if (right) out->append(pad, ' ');
  out->append(text);
  if (!right) out->append(pad, ' ');
}

std::string Table(const TextRows& rows, int truncate) {
  std::vector<int64_t> widths(rows[0].size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string line = "+";
  for (const int64_t width : widths) line += std::string(static_cast<size_t>(width), '-') + "+";
  if (widths.empty()) line += "+";
  line += "\n";
  std::string out = line;
  for (size_t r = 0; r < rows.size(); ++r) {
    out += '|';
    for (size_t i = 0; i < rows[r].size(); ++i) {
      AppendPadded(rows[r][i], widths[i], truncate > 0, &out);
      out += '|';
    }
    if (rows[r].empty()) out += '|';
    out += '\n';
    if (r == 0) out += line;
  }
  return out + line;
}

std::string Vertical(const TextRows& rows) {
  int64_t name_width = 3;
  int64_t data_width = 3;
  for (size_t r = 0; r < rows.size(); ++r) {
    int64_t& width = r == 0 ? name_width : data_width;
    for (const std::string& cell : rows[r]) width = std::max(width, DisplayWidth(cell));
  }
  std::string out;
  for (size_t r = 1; r < rows.size(); ++r) {
    std::string header = "-RECORD " + std::to_string(r - 1);
    const auto width = static_cast<size_t>(name_width + data_width + 5);
    if (header.size() < width) header.append(width - header.size(), '-');
    out += header + "\n";
    for (size_t i = 0; i < rows[r].size(); ++i) {
      out += ' ';
      AppendPadded(rows[0][i], name_width, false, &out);
      out += " | ";
      AppendPadded(rows[r][i], data_width, false, &out);
      out += " \n";
    }
  }
  return out;
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string Html(const TextRows& rows) {
  std::string out = "<table border='1'>\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::string tag = r == 0 ? "th" : "td";
    out += "<tr><" + tag + ">";
    for (size_t i = 0; i < rows[r].size(); ++i) {
      if (i > 0) out += "</" + tag + "><" + tag + ">";
      out += EscapeHtml(rows[r][i]);
    }
    out += "</" + tag + "></tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace

std::string FormatRows(const ShowStringParams& params, const std::vector<data::Chunk>& chunks, const std::string& time_zone) {
  const data::TimeZone zone = data::TimeZone::Find(time_zone).value_or(data::TimeZone::Utc());
  TextRows rows(1);
  for (const std::string& name : params.names) rows[0].push_back(EscapeControls(name));
  bool more = false;
  for (const data::Chunk& chunk : chunks) {
    for (int64_t row = 0; row < chunk.num_rows() && !more; ++row) {
      more = static_cast<int64_t>(rows.size()) > params.num_rows;
      if (more) break;
      std::vector<std::string> cells;
      for (size_t i = 0; i < params.types.size(); ++i) {
        cells.push_back(Cell(chunk.column(static_cast<int>(i))->GetValue(row), params.types[i], zone, params.truncate));
      }
      rows.push_back(std::move(cells));
    }
  }
  std::string out = params.html ? Html(rows) : params.vertical ? Vertical(rows) : Table(rows, params.truncate);
  if (params.vertical && !params.html && rows.size() == 1) {
    out += "(0 rows)";
  } else if (more) {
    out += "only showing top " + std::to_string(params.num_rows) + (params.num_rows == 1 ? " row" : " rows");
    if (params.html) out += "\n";
  }
  return out;
}

Status ShowString::Open(const TaskContext& context) {
  time_zone_ = context.config->time_zone;
  return Status::OK();
}

Status ShowString::BeginEpoch(const sql::EpochContext&) {
  chunks_.clear();
  rows_ = 0;
  return Status::OK();
}

Result<OperatorState> ShowString::Push(int, data::Chunk chunk) {
  rows_ += chunk.num_rows();
  chunks_.push_back(chunk.Dense());
  return rows_ > params_.num_rows ? OperatorState::kHaveOutput : OperatorState::kNeedInput;
}

Result<OperatorState> ShowString::EndInput(int) { return OperatorState::kHaveOutput; }

Result<std::optional<data::Chunk>> ShowString::Pull(OperatorState* state) {
  *state = OperatorState::kFinished;
  data::TextBuilder builder(DataType::String());
  builder.Append(FormatRows(params_, chunks_, time_zone_));
  chunks_.clear();
  return std::optional<data::Chunk>(data::Chunk({builder.Finish()}, 1));
}

}  // namespace thalweg::engine
