#include "sql/plan/commands.h"

namespace thalweg::sql {
namespace {

AttributeList Columns(std::initializer_list<std::pair<const char*, DataType>> columns, bool nullable = false) {
  AttributeList out;
  for (const auto& [name, type] : columns) out.push_back(Attribute::Make(name, type, nullable));
  return out;
}

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string Name(const NameParts& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + data::QuoteIfNeeded(part);
  return text;
}

}  // namespace

AttributeList Command::output() const {
  const DataType text = DataType::String();
  return std::visit(
      Overloaded{
          [&](const ShowDatabases&) { return Columns({{"namespace", text}}); },
          [&](const ShowTables&) {
            return Columns({{"namespace", text}, {"tableName", text}, {"isTemporary", DataType::Boolean()}});
          },
          [&](const ShowColumns&) { return Columns({{"col_name", text}}); },
          [&](const ShowViews&) {
            return Columns({{"namespace", text}, {"viewName", text}, {"isTemporary", DataType::Boolean()}});
          },
          [&](const ShowFunctions&) { return Columns({{"function", text}}); },
          [&](const ShowCreateTable&) { return Columns({{"createtab_stmt", text}}); },
          [&](const DescribeTable&) {
            AttributeList out = Columns({{"col_name", text}, {"data_type", text}});
            out.push_back(Attribute::Make("comment", text, true));
            return out;
          },
          [&](const DescribeColumn&) { return Columns({{"info_name", text}, {"info_value", text}}); },
          [&](const ShowCatalogs&) { return Columns({{"catalog", text}}); },
          [&](const ShowCurrentNamespace&) { return Columns({{"catalog", text}, {"namespace", text}}); },
          [&](const ShowPartitions&) { return Columns({{"partition", text}}); },
          [&](const ShowTableExtended&) {
            return Columns({{"namespace", text}, {"tableName", text}, {"isTemporary", DataType::Boolean()}, {"information", text}});
          },
          [&](const ShowTableProperties&) { return Columns({{"key", text}, {"value", text}}); },
          [&](const DescribeQuery&) {
            AttributeList out = Columns({{"col_name", text}, {"data_type", text}});
            out.push_back(Attribute::Make("comment", text, true));
            return out;
          },
          [&](const DescribeDatabase&) { return Columns({{"info_name", text}, {"info_value", text}}); },
          [&](const DescribeFunction&) { return Columns({{"function_desc", text}}); },
          [&](const SetConfig&) { return Columns({{"key", text}, {"value", text}}); },
          [&](const ExplainCommand&) { return Columns({{"plan", text}}); },
          [&](const MergeIntoTable&) {
            const DataType count = DataType::Long();
            return Columns({{"num_affected_rows", count}, {"num_updated_rows", count}, {"num_deleted_rows", count}, {"num_inserted_rows", count}});
          },
          [&](const UpdateTable&) { return Columns({{"num_affected_rows", DataType::Long()}}); },
          [&](const DeleteFromTable&) { return Columns({{"num_affected_rows", DataType::Long()}}); },
          [&](const auto&) { return AttributeList{}; },
      },
      body);
}

std::string Command::NodeText() const {
  return std::visit(Overloaded{
                        [](const CreateDatabase& c) { return "CreateNamespace " + Name(c.name); },
                        [](const DropDatabase& c) { return "DropNamespace " + Name(c.name); },
                        [](const UseDatabase& c) { return "SetCatalogAndNamespace " + Name(c.name); },
                        [](const UseCatalog& c) { return "SetCatalogCommand " + c.name; },
                        [](const ShowDatabases&) { return std::string("ShowNamespaces"); },
                        [](const ShowTables&) { return std::string("ShowTablesCommand"); },
                        [](const ShowColumns& c) { return "ShowColumnsCommand " + Name(c.table); },
                        [](const ShowViews&) { return std::string("ShowViewsCommand"); },
                        [](const ShowFunctions&) { return std::string("ShowFunctionsCommand"); },
                        [](const ShowCreateTable& c) { return "ShowCreateTableCommand " + Name(c.table); },
                        [](const DescribeTable& c) { return "DescribeTableCommand " + Name(c.table); },
                        [](const DescribeQuery&) { return std::string("DescribeQueryCommand"); },
                        [](const DescribeDatabase& c) { return "DescribeNamespace " + Name(c.name); },
                        [](const DescribeFunction& c) { return "DescribeFunctionCommand " + Name(c.name); },
                        [](const CreateTable& c) {
                          return (c.query ? "CreateTableAsSelect " : "CreateTable ") + Name(c.table);
                        },
                        [](const DropTable& c) { return (c.view ? "DropView " : "DropTable ") + Name(c.table); },
                        [](const CreateView& c) { return "CreateViewCommand " + Name(c.name); },
                        [](const InsertInto&) { return std::string("InsertIntoStatement"); },
                        [](const SetConfig&) { return std::string("SetCommand"); },
                        [](const ResetConfig&) { return std::string("ResetCommand"); },
                        [](const SetTimeZone&) { return std::string("SetTimeZone"); },
                        [](const ExplainCommand&) { return std::string("ExplainCommand"); },
                        [](const CacheTable& c) { return "CacheTable " + Name(c.name); },
                        [](const UncacheTable& c) { return "UncacheTable " + Name(c.name); },
                        [](const ClearCache&) { return std::string("ClearCacheCommand"); },
                        [](const RefreshTable& c) { return "RefreshTable " + Name(c.name); },
                        [](const WriteDataFrame&) { return std::string("SaveIntoDataSourceCommand"); },
                        [](const CreateTempViewFromPlan& c) { return "CreateViewCommand " + c.name; },
                        [](const MergeIntoTable&) { return std::string("MergeIntoTable"); },
                        [](const UpdateTable&) { return std::string("UpdateTable"); },
                        [](const DeleteFromTable&) { return std::string("DeleteFromTable"); },
                        [](const MaintainTable& c) { return c.name; },
                        [](const AlterDatabase& c) { return "AlterNamespace " + Name(c.name); },
                        [](const AlterTable& c) { return (c.view ? "AlterView " : "AlterTable ") + Name(c.table); },
                        [](const AlterViewAs& c) { return "AlterViewAsCommand " + Name(c.name); },
                        [](const AnalyzeTable& c) { return "AnalyzeTableCommand " + Name(c.table); },
                        [](const CreateFunction& c) { return "CreateFunctionCommand " + Name(c.name); },
                        [](const CreateTableLike& c) { return "CreateTableLikeCommand " + Name(c.table); },
                        [](const CreateTempViewUsing& c) { return "CreateTempViewUsing " + c.name; },
                        [](const DescribeColumn& c) { return "DescribeColumnCommand " + Name(c.table); },
                        [](const DropFunction& c) { return "DropFunctionCommand " + Name(c.name); },
                        [](const RefreshFunction& c) { return "RefreshFunctionCommand " + Name(c.name); },
                        [](const RefreshPath&) { return std::string("RefreshResource"); },
                        [](const ShowCatalogs&) { return std::string("ShowCatalogsCommand"); },
                        [](const ShowCurrentNamespace&) { return std::string("ShowCurrentNamespaceCommand"); },
                        [](const ShowPartitions& c) { return "ShowPartitionsCommand " + Name(c.table); },
                        [](const ShowTableExtended&) { return std::string("ShowTablesCommand"); },
                        [](const ShowTableProperties& c) { return "ShowTablePropertiesCommand " + Name(c.table); },
                        [](const TruncateTable& c) { return "TruncateTableCommand " + Name(c.table); },
                    },
                    body);
}

}  // namespace thalweg::sql
