// typeof, version, current_user and kin, uuid, monotonically_increasing_id, spark_partition_id, assert_true, raise_error,
// input_file_name.

#include "base/random.h"
#include "sql/expr/binding.h"
#include "sql/expr/fold_argument.h"
#include "sql/functions/alike.h"
#include "sql/functions/misc/register.h"

namespace thalweg::sql {
namespace {

Result<ColumnPtr> TypeOf(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return Column::Constant(call.type, Value(input.arguments[0]->type().SimpleString()), input.rows.length);
}

Result<BoundCall> BindTypeOf(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  return MakeBoundExact(function, std::move(arguments), DataType::String(), false, &TypeOf, ModeOf(function, context));
}

/// Texts of the session, which the configuration holds.
Result<ColumnPtr> SessionText(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const std::string_view name = call.function->name;
  std::string text = context.config->user;
  if (name == "version") text = "4.2.0";
  if (name == "current_schema") text = context.config->current_database;
  if (name == "current_catalog") text = context.config->current_catalog;
  if (name == "current_timezone") text = context.config->time_zone;
  return Column::Constant(call.type, Value(std::move(text)), input.rows.length);
}

Result<BoundCall> BindSessionText(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 0));
  return MakeBoundExact(function, std::move(arguments), DataType::String(), false, &SessionText, ModeOf(function, context));
}

Result<ColumnPtr> PartitionId(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  return Column::Constant(call.type, Value(static_cast<int32_t>(context.partition)), input.rows.length);
}

Result<ColumnPtr> IncreasingId(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  FixedOutput<int64_t> out(call.type, input.rows.length);
  int64_t next = (static_cast<int64_t>(context.partition) << 33) + context.row_base;
  input.rows.ForEach([&](int64_t row) { out.Set(row, next++); });
  return out.Finish();
}

/// Random version 4 ids. Not Spark's sequence: a seed is only used to make runs repeatable.
struct UuidSeed final : BoundData {
  explicit UuidSeed(uint64_t s) : seed(s) {}
  uint64_t seed;
};

void AppendUuid(uint64_t high, uint64_t low, std::string* out) {
  high = (high & ~uint64_t{0xF000}) | 0x4000;
  low = (low & ~(uint64_t{3} << 62)) | uint64_t{1} << 63;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) out->push_back('-');
    const uint64_t word = i < 16 ? high : low;
    out->push_back(kDigits[word >> (60 - 4 * (i % 16)) & 15]);
  }
}

Result<ColumnPtr> MakeUuids(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const uint64_t seed = static_cast<const UuidSeed&>(*call.data).seed;
  const auto start = static_cast<uint64_t>(context.row_base);
  Random random(seed ^ (static_cast<uint64_t>(context.partition) << 48) ^ (start * 0x9E3779B97F4A7C15ULL));
  TextOutput out(call.type, input.rows.length);
  std::string text;
  input.rows.ForEach([&](int64_t row) {
    text.clear();
    const uint64_t high = random.NextUint64();
    AppendUuid(high, random.NextUint64(), &text);
    out.Set(row, text);
  });
  return out.Finish();
}

Result<BoundCall> BindUuid(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 1));
  uint64_t seed = OsRandomSeed();
  if (!arguments.empty()) {
    TW_ASSIGN_OR_RETURN(const Value given, FoldArgumentAs(function.name, arguments, 0, "seed", DataType::Long(), context));
    if (!given.is_null()) seed = static_cast<uint64_t>(given.AsInt64());
  }
  return MakeBoundExact(function, std::move(arguments), DataType::String(), false, &MakeUuids, ModeOf(function, context),
                        std::make_shared<UuidSeed>(seed));
}

Result<ColumnPtr> RaiseError(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& message = *input.arguments[0];
  bool any = false;
  std::string text;
  input.rows.ForEach([&](int64_t row) {
    if (any) return;
    any = true;
    text = message.IsNull(row) ? "null" : std::string(Reader<std::string_view>(message)[row]);
  });
  if (any) return Error("USER_RAISED_EXCEPTION").With("errorMessage", text);
  return Column::Nulls(call.type, input.rows.length);
}

Result<BoundCall> BindRaiseError(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::String(), context));
  return MakeBoundExact(function, std::move(arguments), DataType::Null(), true, &RaiseError, ModeOf(function, context));
}

Result<ColumnPtr> AssertTrue(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& condition = *input.arguments[0];
  const Column& message = *input.arguments[1];
  TW_RETURN_NOT_OK(TryForEachValid(KernelInput{{}, input.rows, nullptr}, [&](int64_t row) -> Status {
    if (!condition.IsNull(row) && Reader<bool>(condition)[row]) return {};
    return Error("USER_RAISED_EXCEPTION")
        .With("errorMessage", message.IsNull(row) ? "null" : std::string(Reader<std::string_view>(message)[row]));
  }));
  return Column::Nulls(call.type, input.rows.length);
}

Result<BoundCall> BindAssertTrue(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  if (arguments.size() == 1) arguments.push_back(Literal::String("'" + arguments[0]->Sql() + "' is not true!"));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Boolean(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::String(), context));
  return MakeBoundExact(function, std::move(arguments), DataType::Null(), true, &AssertTrue, ModeOf(function, context));
}

}  // namespace

void RegisterMisc(FunctionLists& lists) {
  RegisterMore(lists);
  static const ScalarFunction kTypeOf{.name = "typeof", .since = "3.0.0", .doc = "The type of the value.",
                                      .example = {"SELECT typeof(1)", "int"}, .nulls = NullPolicy::kCustom,
                                      .bind = &BindTypeOf};
  static const ScalarFunction kVersion{.name = "version", .since = "3.0.0", .doc = "The version of Spark this engine answers as.",
                                       .nulls = NullPolicy::kCustom, .bind = &BindSessionText};
  static const ScalarFunction kCurrentUser = Alike(kVersion, "current_user", "Who runs the query.");
  static const ScalarFunction kUser = Alike(kVersion, "user", "Who runs the query.");
  static const ScalarFunction kSessionUser = Alike(kVersion, "session_user", "Who runs the query.");
  static const ScalarFunction kSchema = [] {
    ScalarFunction f = Alike(kVersion, "current_schema", "The database of the session.", {"SELECT current_schema()", "default"});
    f.aliases = {"current_database"};
    return f;
  }();
  static const ScalarFunction kCatalog =
      Alike(kVersion, "current_catalog", "The catalogue of the session.",
            {"SELECT current_catalog()", "spark_catalog"});
  static const ScalarFunction kZone = Alike(kVersion, "current_timezone", "The time zone of the session.");
  static const ScalarFunction kPartition{.name = "spark_partition_id", .signature = "() -> INT", .since = "1.4.0",
                                         .doc = "The number of the partition.", .nulls = NullPolicy::kCustom,
                                         .evaluate = &PartitionId, .deterministic = false,
                                         .sql = [](const Call&, bool) -> std::string { return "SPARK_PARTITION_ID()"; }};
  static const ScalarFunction kIncreasing{.name = "monotonically_increasing_id", .signature = "() -> BIGINT",
                                          .since = "1.4.0", .doc = "Unique growing numbers: partition, then row.",
                                          .nulls = NullPolicy::kCustom, .evaluate = &IncreasingId, .deterministic = false};
  static const ScalarFunction kUuid{.name = "uuid", .since = "2.3.0", .doc = "A random UUID.", .nulls = NullPolicy::kCustom,
                                    .bind = &BindUuid, .deterministic = false};
  static const ScalarFunction kRaise{.name = "raise_error", .since = "3.1.0", .doc = "Fails the query with a message.",
                                     .nulls = NullPolicy::kCustom, .bind = &BindRaiseError};
  static const ScalarFunction kAssert{.name = "assert_true", .since = "2.0.0", .doc = "Fails the query unless true.",
                                      .nulls = NullPolicy::kCustom, .bind = &BindAssertTrue};
  for (const auto* f : {&kTypeOf, &kVersion, &kCurrentUser, &kUser, &kSessionUser, &kSchema, &kCatalog, &kZone,
                        &kPartition, &kIncreasing, &kUuid, &kRaise, &kAssert}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
