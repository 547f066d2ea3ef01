// Statistics as JSON, written.

#include "connectors/delta/delta_stats.h"

#include <algorithm>
#include <cmath>

#include "data/text/datetime.h"
#include "data/text/numbers.h"
#include "data/text/utf8.h"

namespace thalweg::connectors {

using data::DataType;
using data::LeafStatistics;
using data::TypeKind;
using data::Value;

namespace {

/// A JSON object that is nested by paths; keys keep the order in which they came.
struct Node {
  std::string name;   // empty for the root
  std::string value;  // leaves
  std::vector<Node> children;

  Node* Child(const std::string& wanted) {
    for (Node& child : children) {
      if (child.name == wanted) return &child;
    }
    children.push_back(Node{wanted, {}, {}});
    return &children.back();
  }
  void Set(const std::vector<std::string>& path, std::string json) {
    Node* at = this;
    for (const std::string& step : path) at = at->Child(step);
    at->value = std::move(json);
  }
  /// The structs on the way exist, also without a value below.
  void Touch(const std::vector<std::string>& path) {
    Node* at = this;
    for (size_t i = 0; i + 1 < path.size(); ++i) at = at->Child(path[i]);
  }
  void Append(std::string* out) const {
    if (!value.empty()) {
      *out += value;
      return;
    }
    *out += '{';
    for (const Node& child : children) {
      if (out->back() != '{') *out += ',';
      AppendJsonText(child.name, out);
      *out += ':';
      child.Append(out);
    }
    *out += '}';
  }
};

int64_t FloorMillis(int64_t micros) { return micros / 1000 - (micros % 1000 < 0 ? 1 : 0); }

// yyyy-MM-dd'T'HH:mm:ss.SSS of a local time.
std::string LocalMillisText(int64_t local_micros) {
  std::string text;
  data::AppendTimestampNtz(FloorMillis(local_micros) * 1000, &text);
  const size_t blank = text.find(' ');
  if (blank != std::string::npos) text[blank] = 'T';
  const size_t dot = text.find('.', blank == std::string::npos ? 0 : blank);
  if (dot == std::string::npos) return text + ".000";
  text.append(3 - std::min<size_t>(3, text.size() - dot - 1), '0');
  return text;
}

template <typename T>
std::string FloatJson(T value, void (*append)(T, std::string*)) {
  std::string text;
  append(value, &text);
  if (!std::isfinite(value)) return "\"" + text + "\"";
  return text;
}

std::optional<std::string> ValueJson(const Value& value, const DataType& type, bool is_max, const DeltaStatsOptions& options) {
  std::string out;
  switch (type.kind()) {
    case TypeKind::kByte:
    case TypeKind::kShort:
    case TypeKind::kInteger:
    case TypeKind::kLong: return std::to_string(value.AsInt64());
    case TypeKind::kFloat: return FloatJson<float>(value.get<float>(), data::AppendFloat);
    case TypeKind::kDouble: return FloatJson<double>(value.get<double>(), data::AppendDouble);
    case TypeKind::kDecimal: data::AppendDecimalScientific(value.get<data::Int128>(), type.scale(), &out); return out;
    case TypeKind::kDate:
      out = "\"";
      data::AppendDate(value.get<int32_t>(), &out);
      return out + "\"";
    case TypeKind::kTimestamp: {
      const int64_t micros = value.get<int64_t>();
      const int32_t offset = options.zone.OffsetSecondsAt(micros);
      out = "\"" + LocalMillisText(micros + offset * int64_t{1000000});
      data::AppendOffsetId(offset, &out);
      return out + "\"";
    }
    case TypeKind::kTimestampNtz: return "\"" + LocalMillisText(value.get<int64_t>()) + "\"";
    case TypeKind::kString: {
      const auto& text = value.get<std::string>();
      if (!data::IsValidUtf8(text)) return {};  // JSON cannot say it, and what stands for it sorts elsewhere
      std::optional<std::string> cut = is_max ? TruncateMax(text, options.string_prefix)
                                              : std::optional<std::string>(TruncateMin(text, options.string_prefix));
      if (!cut) return {};
      AppendJsonText(*cut, &out);
      return out;
    }
    default: return {};
  }
}

std::string Dotted(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& part : path) out += (out.empty() ? "" : ".") + part;
  return out;
}

bool Contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<std::string> SplitColumns(std::string_view text) {
  std::vector<std::string> out;
  std::string current;
  for (const char c : text) {
    if (c == ',') {
      out.push_back(std::move(current));
      current.clear();
    } else if (c != '`' && !(c == ' ' && current.empty())) {
      current += c;
    }
  }
  out.push_back(std::move(current));
  return out;
}

// Bytes of the code point that begins at `at`; at least one, never beyond the end.
size_t CodePointBytes(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(length, text.size() - at);
}

}  // namespace

DeltaStatsOptions StatsOptionsFor(const DeltaMetadata& metadata) {
  DeltaStatsOptions options;
  int64_t number = 0;
  if (const auto text = metadata.Property("delta.dataSkippingNumIndexedCols"); text && data::ParseJavaLong(*text, &number)) {
    options.indexed_columns = static_cast<int>(std::clamp<int64_t>(number, -1, 100000));
  }
  if (const auto text = metadata.Property("delta.dataSkippingStringPrefixLength"); text && data::ParseJavaLong(*text, &number)) {
    options.string_prefix = static_cast<int>(std::clamp<int64_t>(number, 0, 100000));
  }
  if (const auto text = metadata.Property("delta.dataSkippingStatsColumns")) options.only_columns = SplitColumns(*text);
  return options;
}

std::string TruncateMin(std::string_view text, int prefix) {
  size_t at = 0;
  for (int i = 0; i < prefix && at < text.size(); ++i) at += CodePointBytes(text, at);
  return std::string(text.substr(0, at));
}

std::optional<std::string> TruncateMax(std::string_view text, int prefix) {
  // Lengths are UTF-16 units, as Delta counts; a code point beyond the BMP has two.
  const auto units_at = [&](size_t at) { return CodePointBytes(text, at) == 4 ? 2 : 1; };
  int units = 0;
  size_t at = 0;
  size_t cut = std::string_view::npos;  // where the text is cut when it is longer
  while (at < text.size()) {
    if (units >= prefix && cut == std::string_view::npos) cut = at;
    units += units_at(at);
    at += CodePointBytes(text, at);
  }
  if (cut == std::string_view::npos || units <= prefix) return std::string(text);
  constexpr std::string_view kHighest = "\xF4\x8F\xBF\xBF";  // U+10FFFF
  int kept = 0;
  for (size_t i = 0; i < cut; i += CodePointBytes(text, i)) kept += units_at(i);
  while (text.substr(cut).starts_with(kHighest)) {
    cut += kHighest.size();
    kept += 2;
    if (kept > 2 * prefix) return {};
  }
  if (cut >= text.size()) return std::string(text);
  const bool ascii = static_cast<unsigned char>(text[cut]) < 0x7F;
  return std::string(text.substr(0, cut)) + (ascii ? std::string("\x7F") : std::string(kHighest));
}

std::string DeltaStatsJson(const data::ParquetFileSummary& summary, const DeltaStatsOptions& options) {
  Node minimum;
  Node maximum;
  Node nulls;
  int counted = 0;
  for (const LeafStatistics& leaf : summary.leaves) {
    if (Contains(options.partition_columns, leaf.path.front())) continue;
    if (!options.only_columns.empty()) {
      const std::string dotted = Dotted(leaf.path);
      const bool wanted = std::any_of(options.only_columns.begin(), options.only_columns.end(), [&](const std::string& name) {
        return dotted == name || (dotted.starts_with(name) && dotted[name.size()] == '.');
      });
      if (!wanted) continue;
    } else if (options.indexed_columns >= 0 && counted++ >= options.indexed_columns) {
      break;
    }
    nulls.Set(leaf.path, std::to_string(leaf.null_count));
    const bool ordered = leaf.type.IsNumeric() || leaf.type.Is(TypeKind::kDate) || leaf.type.Is(TypeKind::kTimestamp) ||
                         leaf.type.Is(TypeKind::kTimestampNtz) || leaf.type.Is(TypeKind::kString);
    if (!ordered) continue;
    minimum.Touch(leaf.path);
    maximum.Touch(leaf.path);
    if (leaf.min) {
      if (auto json = ValueJson(*leaf.min, leaf.type, false, options)) minimum.Set(leaf.path, std::move(*json));
    }
    if (leaf.max) {
      if (auto json = ValueJson(*leaf.max, leaf.type, true, options)) maximum.Set(leaf.path, std::move(*json));
    }
  }
  for (const std::string& name : options.void_columns) nulls.Set({name}, std::to_string(summary.rows));
  std::string out = "{\"numRecords\":" + std::to_string(summary.rows);
  if (!nulls.children.empty()) {
    out += ",\"minValues\":";
    minimum.Append(&out);
    out += ",\"maxValues\":";
    maximum.Append(&out);
    out += ",\"nullCount\":";
    nulls.Append(&out);
  }
  if (options.tight_bounds) out += ",\"tightBounds\":true";
  return out + "}";
}

}  // namespace thalweg::connectors
