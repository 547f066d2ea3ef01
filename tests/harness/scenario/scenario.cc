#include "scenario/scenario.h"

#include <charconv>
#include <sstream>

#include "data/text/datetime.h"

namespace thalweg::scenario {
namespace {

struct Word {
  std::string text;
  bool quoted = false;
};

// Words of a line: separated by blanks; '...' holds blanks, doubled quotes inside stand for one.
std::vector<Word> SplitWords(std::string_view text) {
  std::vector<Word> words;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '\n') {
      ++at;
      continue;
    }
    Word word;
    while (at < text.size() && text[at] != ' ' && text[at] != '\n') {
      if (text[at] != '\'') {
        word.text += text[at++];
        continue;
      }
      word.quoted = true;
      for (++at; at < text.size(); ++at) {
        if (text[at] != '\'') {
          word.text += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '\'') {
          word.text += text[++at];
        } else {
          ++at;
          break;
        }
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

Rows ParseRows(std::string_view text) {
  Rows rows;
  Cells row;
  for (Word& word : SplitWords(text)) {
    if (!word.quoted && word.text == "|") {
      rows.push_back(std::move(row));
      row.clear();
    } else if (!word.quoted && word.text == "null") {
      row.emplace_back(std::nullopt);
    } else {
      row.emplace_back(std::move(word.text));
    }
  }
  if (!row.empty()) rows.push_back(std::move(row));
  return rows;
}

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "10 seconds", "-1 hour", "250 milliseconds" in ms.
std::optional<int64_t> ParseDuration(const std::string& count, std::string unit) {
  if (unit.ends_with('s')) unit.pop_back();
  const std::map<std::string, int64_t> units = {
      {"millisecond", 1}, {"second", 1000}, {"minute", 60'000}, {"hour", 3'600'000}, {"day", 86'400'000}};
  const auto found = units.find(unit);
  const std::optional<int64_t> value = ParseNumber(count);
  if (!value || found == units.end()) return std::nullopt;
  return *value * found->second;
}

class Parser {
 public:
  explicit Parser(const std::string& name) { scenario_.name = name; }

  Result<Scenario> Parse(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string line, statement;
    int number = 0;
    while (std::getline(lines, line)) {
      ++number;
      if (line.starts_with('#')) continue;
      if (line.starts_with(' ') && !statement.empty()) {
        statement += "\n" + line;
        continue;
      }
      TW_RETURN_NOT_OK(Statement(statement));
      statement = line;
      line_ = number;
    }
    TW_RETURN_NOT_OK(Statement(statement));
    if (scenario_.sql.empty()) return Bad("there is no query");
    return std::move(scenario_);
  }

 private:
  Status Bad(const std::string& what) const {
    return InternalError(scenario_.name + ":" + std::to_string(line_) + ": " + what);
  }

  Status Statement(std::string_view statement) {
    while (statement.ends_with(' ') || statement.ends_with('\n')) statement.remove_suffix(1);
    if (statement.empty()) return Status::OK();
    const std::string_view word = Take(&statement);
    if (word == "source") return Source(statement);
    if (word == "table") return Table(statement);
    if (word == "view") return View(statement);
    if (word == "query") {
      scenario_.mode = Take(&statement);
      scenario_.sql = statement;
      return Status::OK();
    }
    if (word == "set") {
      const std::string key(Take(&statement));
      scenario_.settings[key] = statement;
      return Status::OK();
    }
    if (word == "undisturbed") {
      scenario_.undisturbed = true;
      return Status::OK();
    }
    if (word == "sink") return Sink(statement);
    if (word == "trigger") return Trigger(statement);
    if (word == "expect") return Expect(statement);
    Step step;
    step.line = line_;
    if (word == "add") {
      step.kind = StepKind::kAdd;
      step.name = Take(&statement);
      step.rows = ParseRows(statement);
    } else if (word == "advance") {
      step.kind = StepKind::kAdvance;
      const std::string count(Take(&statement));
      const std::optional<int64_t> duration = ParseDuration(count, std::string(statement));
      if (!duration) return Bad("no duration");
      step.advance_ms = *duration;
    } else if (word == "restart") {
      step.kind = StepKind::kRestart;
    } else if (word != "run") {
      return Bad("unknown word " + std::string(word));
    }
    scenario_.steps.push_back(std::move(step));
    return Status::OK();
  }

  // The first word of what is left.
  static std::string_view Take(std::string_view* rest) {
    while (rest->starts_with(' ') || rest->starts_with('\n')) rest->remove_prefix(1);
    const size_t end = std::min(rest->find_first_of(" \n"), rest->size());
    const std::string_view word = rest->substr(0, end);
    rest->remove_prefix(end);
    while (rest->starts_with(' ') || rest->starts_with('\n')) rest->remove_prefix(1);
    return word;
  }
  // "(a INT, b STRUCT<c: INT>)" without the parentheses.
  static std::string TakeSchema(std::string_view* rest) {
    if (!rest->starts_with('(')) return "";
    int depth = 0;
    size_t end = 0;
    for (; end < rest->size(); ++end) {
      if ((*rest)[end] == '(') ++depth;
      if ((*rest)[end] == ')' && --depth == 0) break;
    }
    const std::string schema(rest->substr(1, end - 1));
    rest->remove_prefix(std::min(end + 1, rest->size()));
    return schema;
  }
  static std::optional<Watermark> TakeWatermark(std::string_view* rest) {
    std::string_view ahead = *rest;
    if (Take(&ahead) != "watermark") return std::nullopt;
    Watermark watermark;
    watermark.column = Take(&ahead);
    watermark.delay = Take(&ahead);
    watermark.delay += " " + std::string(Take(&ahead));
    *rest = ahead;
    return watermark;
  }
  static std::optional<DropDuplicates> TakeDropDuplicates(std::string_view* rest) {
    std::string_view ahead = *rest;
    const std::string_view word = Take(&ahead);
    if (word != "dropDuplicates" && word != "dropDuplicatesWithinWatermark") return std::nullopt;
    DropDuplicates drop;
    drop.within_watermark = word != "dropDuplicates";
    std::string columns = TakeSchema(&ahead);
    std::replace(columns.begin(), columns.end(), ',', ' ');
    for (const Word& column : SplitWords(columns)) drop.columns.push_back(column.text);
    *rest = ahead;
    return drop;
  }
  static std::map<std::string, std::string> ParseOptions(std::string_view text) {
    std::map<std::string, std::string> options;
    for (const Word& word : SplitWords(text)) {
      const size_t equals = word.text.find('=');
      if (equals != std::string::npos) options[word.text.substr(0, equals)] = word.text.substr(equals + 1);
    }
    return options;
  }

  Status Source(std::string_view rest) {
    SourceLine source;
    source.name = Take(&rest);
    source.kind = rest.starts_with('(') ? "memory" : std::string(Take(&rest));
    source.schema = TakeSchema(&rest);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    source.watermark = TakeWatermark(&rest);
    source.options = ParseOptions(rest);
    scenario_.definitions.emplace_back(std::move(source));
    return Status::OK();
  }
  Status Table(std::string_view rest) {
    TableLine table;
    table.name = Take(&rest);
    table.schema = TakeSchema(&rest);
    table.rows = ParseRows(rest);
    scenario_.definitions.emplace_back(std::move(table));
    return Status::OK();
  }
  Status View(std::string_view rest) {
    ViewLine view;
    view.name = Take(&rest);
    view.watermark = TakeWatermark(&rest);
    view.drop_duplicates = TakeDropDuplicates(&rest);
    view.sql = rest;
    scenario_.definitions.emplace_back(std::move(view));
    return Status::OK();
  }
  Status Sink(std::string_view rest) {
    scenario_.sink = Take(&rest);
    for (const auto& [key, value] : ParseOptions(rest)) {
      if (key == "partitionBy") {
        scenario_.partition_columns.push_back(value);
      } else {
        scenario_.sink_options[key] = value;
      }
    }
    return Status::OK();
  }
  Status Trigger(std::string_view rest) {
    scenario_.trigger = Take(&rest);
    if (scenario_.trigger != "every") return Status::OK();
    const std::string count(Take(&rest));
    const std::optional<int64_t> interval = ParseDuration(count, std::string(rest));
    if (!interval) return Bad("no interval");
    scenario_.trigger_ms = *interval;
    return Status::OK();
  }

  Status Expect(std::string_view rest) {
    Step step;
    step.kind = StepKind::kExpect;
    step.line = line_;
    std::string_view what = Take(&rest);
    if (what == "refused") {
      scenario_.refused = rest;
      return Status::OK();
    }
    if (what == "batch") {
      const std::optional<int64_t> batch = ParseNumber(Take(&rest));
      if (!batch) return Bad("no batch number");
      step.batch = *batch;
      what = Take(&rest);
      step.expectation = what == "rows" ? Expectation::kBatchRows : Expectation::kBatchState;
      if (what != "rows" && what != "state") return Bad("expect batch N rows or state");
    } else {
      const std::map<std::string_view, Expectation> kinds = {
          {"rows", Expectation::kRows},       {"table", Expectation::kTable},
          {"watermark", Expectation::kWatermark}, {"dropped", Expectation::kDropped},
          {"state", Expectation::kState},     {"batches", Expectation::kBatches},
          {"fails", Expectation::kFails}};
      const auto found = kinds.find(what);
      if (found == kinds.end()) return Bad("unknown expectation " + std::string(what));
      step.expectation = found->second;
    }
    step.text = rest;
    if (step.text != "none") step.rows = ParseRows(rest);
    scenario_.steps.push_back(std::move(step));
    return Status::OK();
  }

  Scenario scenario_;
  int line_ = 0;
};

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') *out += '\\';
    if (c == '\n') {
      *out += "\\n";
    } else {
      *out += c;
    }
  }
  *out += '"';
}

}  // namespace

Result<Scenario> ParseScenario(const std::string& name, std::string_view text) { return Parser(name).Parse(text); }

Result<std::string> RowAsJson(const Cells& cells, const data::Schema& schema) {
  // A row that is no list of columns stands as it is: '{...}', or text that is no JSON at all.
  if (cells.size() == 1 && cells[0] && (cells[0]->starts_with('{') || cells[0]->starts_with('!'))) {
    return cells[0]->starts_with('!') ? cells[0]->substr(1) : *cells[0];
  }
  if (cells.size() != schema.size()) {
    return InternalError("a row of " + std::to_string(cells.size()) + " cells for " + std::to_string(schema.size()) + " columns: " + RowText(cells));
  }
  std::string json = "{";
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) json += ',';
    AppendQuoted(schema[i].name, &json);
    json += ':';
    if (!cells[i]) {
      json += "null";
      continue;
    }
    const std::string& cell = *cells[i];
    const data::DataType& type = schema[i].type;
    if (type.Is(data::TypeKind::kTimestamp)) {
      std::string time;
      if (cell.starts_with('@')) {  // seconds since 2023-11-14 22:13:20, as the recorded timelines count
        data::AppendTimestampNtz((1'700'000'000 + ParseNumber(cell.substr(1)).value_or(0)) * 1'000'000, &time);
        time[10] = 'T';
      } else {
        time = cell.find('T') == std::string::npos ? "2024-03-01T" + cell : cell;
      }
      AppendQuoted(time + "Z", &json);
    } else if (type.IsNested() || type.IsNumeric() || type.Is(data::TypeKind::kBoolean)) {
      json += cell;
    } else {
      AppendQuoted(cell, &json);
    }
  }
  return json + "}";
}

std::string RowText(const Cells& cells) {
  std::string text;
  for (const std::optional<std::string>& cell : cells) {
    if (!text.empty()) text += ' ';
    if (!cell) {
      text += "null";
    } else if (cell->empty() || cell->find(' ') != std::string::npos || *cell == "null" || *cell == "|") {
      text += "'" + *cell + "'";
    } else {
      text += *cell;
    }
  }
  return text;
}

}  // namespace thalweg::scenario
