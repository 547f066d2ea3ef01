// Plans as clients send them: no crash, and what is read as a plan has a tree to print. Bytes of spark.connect.Plan.

#include <spark/connect/base.pb.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sql/protocol/command_proto.h"
#include "sql/protocol/delta_proto.h"
#include "sql/protocol/plan_proto.h"

namespace {

using namespace thalweg;       // NOLINT
using namespace thalweg::sql;  // NOLINT
namespace pb = ::spark::connect;

/// A session that knows nothing: names are what they are, SQL text is a relation of that name.
class NoSession final : public PlanEnvironment {
 public:
  Result<PlanPtr> ParseSql(const std::string& text, const std::map<std::string, ExprPtr>&, const std::vector<ExprPtr>&) override {
    return std::make_shared<UnresolvedRelation>(std::vector<std::string>{text}, OptionMap(), false);
  }
  Result<ExprPtr> ParseExpression(const std::string& text) override { return UnresolvedAttribute::Make({text}); }
  Result<std::vector<std::string>> ParseName(const std::string& text) override { return std::vector<std::string>{text}; }
  Result<PlanPtr> CachedRemoteRelation(const std::string& id) override {
    return Error("CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND").With("dfId", id).With("sessionId", "s");
  }
  Result<std::string> CachedBlob(const std::string& hash) override {
    return Error("CONNECT_INVALID_PLAN.CANNOT_FIND_CACHED_LOCAL_RELATION").With("hash", hash);
  }
  Result<data::Schema> SchemaOf(const PlanPtr&) override {
    return data::Schema{{"a", data::DataType::Double()}, {"b", data::DataType::String()}};
  }
  Result<PlanPtr> CommandRows(const PlanPtr& command) override { return command; }
  Result<PlanPtr> CatalogCall(const pb::Catalog&) override { return std::make_shared<OneRow>(); }
};

void Print(const Result<PlanPtr>& plan) {
  if (plan.ok() && (*plan)->TreeText().empty()) std::abort();
}

void ReadCommand(const pb::Command& command, PlanReader& reader) {
  switch (command.command_type_case()) {
    case pb::Command::kWriteOperation: return Print(WriteFromProto(command.write_operation(), reader));
    case pb::Command::kWriteOperationV2: return Print(WriteV2FromProto(command.write_operation_v2(), reader));
    case pb::Command::kMergeIntoTableCommand: return Print(MergeFromProto(command.merge_into_table_command(), reader));
    case pb::Command::kCreateDataframeView: return Print(ViewFromProto(command.create_dataframe_view(), reader));
    case pb::Command::kExtension:
      if (IsDeltaCommand(command.extension())) Print(DeltaCommandFromProto(command.extension(), reader));
      return;
    default: return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  pb::Plan plan;
  if (!ParseDeepMessage({reinterpret_cast<const char*>(bytes), size}, &plan)) return 0;
  Ignore(DecompressPlan(1 << 20, &plan), "what cannot be unpacked is read as it is");
  NoSession session;
  PlanReader reader(session);
  if (plan.has_root()) Print(reader.ReadRelation(plan.root()));
  if (plan.has_command()) ReadCommand(plan.command(), reader);
  return 0;
}
