#include <ctime>

#include "base/redact.h"
#include "data/io/path.h"
#include "front/commands/handlers.h"

namespace thalweg::front {

namespace {

using data::DataType;
using data::Value;
using Rows = std::vector<data::ValueList>;

data::Schema DescribeSchema() {
  return {{"col_name", DataType::String(), false}, {"data_type", DataType::String(), false}, {"comment", DataType::String(), true}};
}

data::ValueList Row(std::string name, std::string type, Value comment = TextValue("")) {
  return {TextValue(std::move(name)), TextValue(std::move(type)), std::move(comment)};
}

data::ValueList ColumnRow(const data::StructField& field) {
  const std::optional<std::string> comment = field.Comment();
  return Row(field.name, field.type.SimpleString(), comment ? Value(*comment) : Value());
}

std::string TimeText(int64_t unix_epoch_ms) {
  const time_t seconds = static_cast<time_t>(unix_epoch_ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, "%a %b %d %H:%M:%S UTC %Y", &parts));
}

void AddDetails(const sql::TableInfo& table, Rows* rows) {
  rows->push_back(Row("", ""));
  rows->push_back(Row("# Detailed Table Information", ""));
  rows->push_back(Row("Catalog", std::string(sql::kSessionCatalog)));
  rows->push_back(Row("Database", table.database));
  rows->push_back(Row("Table", table.name));
  if (!table.owner.empty()) rows->push_back(Row("Owner", table.owner));
  rows->push_back(Row("Created Time", TimeText(table.created_ms)));
  rows->push_back(Row("Last Access", "UNKNOWN"));
  rows->push_back(Row("Created By", "Spark 4.2.0"));
  const bool view = table.type == sql::TableType::kView;
  rows->push_back(Row("Type", view ? "VIEW" : table.type == sql::TableType::kManaged ? "MANAGED" : "EXTERNAL"));
  if (!view) rows->push_back(Row("Provider", table.format));
  if (table.comment) rows->push_back(Row("Comment", *table.comment));
  if (!table.properties.empty()) {
    std::string text;
    for (const auto& [key, value] : table.properties) text += (text.empty() ? "" : ", ") + key + "=" + RedactValue(key, value);
    rows->push_back(Row("Table Properties", "[" + text + "]"));
  }
  if (view) {
    rows->push_back(Row("View Text", table.view_text));
  } else {
    rows->push_back(Row("Location", data::QualifiedPathText(table.location)));
    if (!table.partition_columns.empty()) rows->push_back(Row("Partition Provider", "Catalog"));
  }
}

bool IsTemporary(const Session& session, const sql::NameParts& parts) {
  return parts.size() == 1 && session.FindTempView(parts[0], false) != nullptr;
}

}  // namespace

Status Run(CommandRun& run, const sql::DescribeTable& command) {
  const auto relation = std::make_shared<sql::UnresolvedRelation>(command.table, sql::OptionMap(), false);
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(relation));
  Rows rows;
  for (const data::StructField& field : plan->schema()) rows.push_back(ColumnRow(field));
  if (!IsTemporary(run.session, command.table)) {
    const Result<sql::TableInfo> table = FindTable(run.session, command.table);
    if (table.ok() && !table->partition_columns.empty()) {
      rows.push_back(Row("# Partition Information", ""));
      rows.push_back(Row("# col_name", "data_type", TextValue("comment")));
      for (const std::string& name : table->partition_columns) {
        for (const data::StructField& field : table->schema) {
          if (field.name == name) rows.push_back(ColumnRow(field));
        }
      }
    }
    if (table.ok() && command.extended) AddDetails(*table, &rows);
  }
  return run.Answer(DescribeSchema(), rows);
}

Status Run(CommandRun& run, const sql::DescribeQuery& command) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(command.query));
  Rows rows;
  for (const data::StructField& field : plan->schema()) rows.push_back(ColumnRow(field));
  return run.Answer(DescribeSchema(), rows);
}

Status Run(CommandRun& run, const sql::DescribeFunction& command) {
  const std::string name = sql::LowerName(command.name.back());
  const sql::FunctionRegistry& functions = *run.session.server().functions;
  const sql::ScalarFunction* scalar = functions.FindScalar(name);
  const sql::AggregateFunction* aggregate = functions.FindAggregate(name);
  if (scalar == nullptr && aggregate == nullptr) {
    return Error("UNRESOLVED_ROUTINE")
        .With("routineName", sql::QuoteName(command.name))
        .With("searchPath", "[`system`.`builtin`, `system`.`session`, " +
                                sql::QuoteName({std::string(sql::kSessionCatalog), run.session.current_database()}) + "]");
  }
  const std::string doc(scalar != nullptr ? scalar->doc : aggregate->doc);
  const std::string signature(scalar != nullptr ? scalar->signature : aggregate->signature);
  Rows rows{{TextValue("Function: " + name)}, {TextValue("Usage: " + name + signature + " - " + doc)}};
  return run.Answer({{"function_desc", DataType::String(), false}}, rows);
}

}  // namespace thalweg::front
