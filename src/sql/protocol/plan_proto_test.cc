#include "sql/protocol/plan_proto.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <spark/connect/base.pb.h>
#include <zstd.h>

#include "sql/protocol/literal_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/type_proto.h"

namespace thalweg::sql {
namespace {

namespace pb = ::spark::connect;
using data::DataType;
using data::Value;
using data::ValueList;

// Names are split at dots; SQL text and expressions are kept as they are in a name.
class FakeEnvironment final : public PlanEnvironment {
 public:
  Result<PlanPtr> ParseSql(const std::string& text, const std::map<std::string, ExprPtr>& named,
                           const std::vector<ExprPtr>& positional) override {
    named_arguments = named.size();
    positional_arguments = positional.size();
    return std::make_shared<UnresolvedRelation>(std::vector<std::string>{text}, OptionMap(), false);
  }
  Result<ExprPtr> ParseExpression(const std::string& text) override { return UnresolvedAttribute::Make({text}); }
  Result<std::vector<std::string>> ParseName(const std::string& text) override {
    if (text.empty()) return InvalidPlan("an empty name");
    std::vector<std::string> parts{""};
    for (const char c : text) {
      if (c == '.') parts.emplace_back();
      else parts.back() += c;
    }
    return parts;
  }
  Result<PlanPtr> CachedRemoteRelation(const std::string& id) override {
    return Error("CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND").With("dfId", id).With("sessionId", "s");
  }
  Result<std::string> CachedBlob(const std::string& hash) override {
    return Error("CONNECT_INVALID_PLAN.CANNOT_FIND_CACHED_LOCAL_RELATION").With("hash", hash);
  }
  Result<data::Schema> SchemaOf(const PlanPtr&) override {
    return data::Schema{{"a", DataType::Double()}, {"b", DataType::String()}};
  }
  Result<PlanPtr> CommandRows(const PlanPtr& command) override { return command; }
  Result<PlanPtr> CatalogCall(const pb::Catalog&) override { return std::make_shared<OneRow>(); }

  size_t named_arguments = 0, positional_arguments = 0;
};

pb::Relation Parse(const std::string& text) {
  pb::Relation relation;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &relation)) << text;
  return relation;
}

Result<PlanPtr> Read(const pb::Relation& relation) {
  FakeEnvironment environment;
  PlanReader reader(environment);
  return reader.ReadRelation(relation);
}

TEST(PlanProto, ReadsAPipelineWithPlanIds) {
  const pb::Relation relation = Parse(R"(
    common { plan_id: 3 }
    project {
      input { common { plan_id: 2 } filter {
        input { common { plan_id: 1 } range { end: 10 step: 1 } }
        condition { unresolved_function { function_name: ">" arguments { unresolved_attribute { unparsed_identifier: "id" plan_id: 1 } }
                                          arguments { literal { integer: 3 } } } } } }
      expressions { alias { expr { unresolved_attribute { unparsed_identifier: "id" } } name: "x" } }
      expressions { unresolved_star {} } })");
  const PlanPtr plan = Read(relation).ValueOrDie();
  const auto* project = plan->As<Project>();
  ASSERT_NE(project, nullptr);
  EXPECT_EQ(project->plan_id(), 3);
  ASSERT_EQ(project->list.size(), 2u);
  EXPECT_EQ(project->list[0]->As<Alias>()->name(), "x");
  const auto* filter = project->child()->As<Filter>();
  ASSERT_NE(filter, nullptr);
  const auto* call = filter->condition->As<UnresolvedFunction>();
  EXPECT_EQ(call->children()[0]->As<UnresolvedAttribute>()->plan_id(), 1);
  EXPECT_EQ(filter->child()->As<Range>()->end, 10);
}

TEST(PlanProto, SortsNullsAsSparkWhenNothingIsSaid) {
  const auto order = [](const std::string& text) {
    pb::Expression::SortOrder message;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "child { unresolved_attribute { unparsed_identifier: 'a' } } " + text, &message));
    FakeEnvironment environment;
    PlanReader reader(environment);
    const ExprPtr read = reader.ReadSortOrder(message).ValueOrDie();
    return std::pair(read->As<SortOrder>()->ascending(), read->As<SortOrder>()->nulls_first());
  };
  EXPECT_EQ(order("direction: SORT_DIRECTION_ASCENDING"), std::pair(true, true));
  EXPECT_EQ(order("direction: SORT_DIRECTION_DESCENDING"), std::pair(false, false));
  EXPECT_EQ(order("direction: SORT_DIRECTION_DESCENDING null_ordering: SORT_NULLS_FIRST"), std::pair(false, true));
}

TEST(PlanProto, GivesTheOriginOfAFailingExpression) {
  const pb::Relation relation = Parse(R"(
    project { expressions { common { origin { python_origin { fragment: "__getitem__" call_site: "job.py:7" } } }
                            window { } } })");
  const Status status = Read(relation).status();
  EXPECT_EQ(status.condition(), "CONNECT_INVALID_PLAN.WINDOW_FUNCTION_REQUIRED");
  ASSERT_EQ(status.query_context().size(), 1u);
  EXPECT_EQ(status.query_context()[0].call_site, "job.py:7");
}

TEST(PlanProto, DataFrameArgumentsOfSqlBecomeCommonTableExpressions) {
  const pb::Relation relation = Parse(R"(
    with_relations { root { sql { query: "select * from t" pos_arguments { literal { integer: 1 } } } }
                     references { subquery_alias { input { range { end: 1 step: 1 } } alias: "t" } } })");
  const PlanPtr plan = Read(relation).ValueOrDie();
  const auto* with = plan->As<UnresolvedWith>();
  ASSERT_NE(with, nullptr);
  EXPECT_EQ(with->ctes[0].first, "t");
}

// Whatever a client sends is converted or refused by name.
TEST(PlanProto, EveryVariantIsReadOrRefusedByName) {
  const auto try_all = [](const char* oneof, google::protobuf::Message& message, auto read) {
    const auto* descriptor = message.GetDescriptor()->FindOneofByName(oneof);
    int variants = 0;
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const auto* field = descriptor->field(i);
      if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
      message.Clear();
      message.GetReflection()->MutableMessage(&message, field);
      const Status status = read(message);
      EXPECT_TRUE(status.ok() || !status.condition().empty()) << field->name();
      EXPECT_NE(status.kind(), ErrorKind::kInternal) << field->name() << ": " << status.message();
      ++variants;
    }
    return variants;
  };
  FakeEnvironment environment;
  PlanReader reader(environment);
  pb::Relation relation;
  EXPECT_GE(try_all("rel_type", relation, [&](const auto& m) { return reader.ReadRelation(static_cast<const pb::Relation&>(m)).status(); }), 60);
  pb::Expression expression;
  EXPECT_GE(try_all("expr_type", expression, [&](const auto& m) { return reader.ReadExpression(static_cast<const pb::Expression&>(m)).status(); }), 20);
  pb::Expression::Literal literal;
  try_all("literal_type", literal, [](const auto& m) { return ValueFromProto(static_cast<const pb::Expression::Literal&>(m)).status(); });
  pb::DataType type;
  EXPECT_GE(try_all("kind", type, [](const auto& m) { return TypeFromProto(static_cast<const pb::DataType&>(m)).status(); }), 28);
}

TEST(PlanProto, AnUnknownVariantIsAnUnsetOneof) {
  EXPECT_EQ(Read(pb::Relation()).status().condition(), "CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET");
}

TEST(PlanProto, DepthIsBounded) {
  const auto nested = [](int levels) {
    pb::Relation relation;
    relation.mutable_range()->set_end(1);
    relation.mutable_range()->set_step(1);
    for (int i = 0; i < levels; ++i) {
      pb::Relation outer;
      outer.mutable_subquery_alias()->set_alias("a");
      *outer.mutable_subquery_alias()->mutable_input() = std::move(relation);
      relation = std::move(outer);
    }
    return relation;
  };
  EXPECT_TRUE(Read(nested(400)).ok());
  EXPECT_EQ(Read(nested(1100)).status().condition(), "CONNECT_INVALID_PLAN.ASSERTION_FAILURE");
  pb::Relation parsed;
  EXPECT_TRUE(ParseDeepMessage(nested(400).SerializeAsString(), &parsed));
  EXPECT_FALSE(ParseDeepMessage(nested(1100).SerializeAsString(), &parsed));
}

TEST(PlanProto, ReadsCompressedPlansOfBoundedSize) {
  pb::Relation relation = Parse(R"(sql { query: "select 1" })");
  const std::string bytes = relation.SerializeAsString();
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  pb::Plan plan;
  plan.mutable_compressed_operation()->set_data(packed);
  plan.mutable_compressed_operation()->set_op_type(pb::Plan::CompressedOperation::OP_TYPE_RELATION);
  plan.mutable_compressed_operation()->set_compression_codec(pb::COMPRESSION_CODEC_ZSTD);
  pb::Plan good = plan;
  ASSERT_TRUE(DecompressPlan(1 << 20, &good).ok());
  EXPECT_EQ(good.root().sql().query(), "select 1");
  pb::Plan large = plan;
  EXPECT_EQ(DecompressPlan(4, &large).condition(), "CONNECT_INVALID_PLAN.PLAN_SIZE_LARGER_THAN_MAX");
  pb::Plan torn = plan;
  torn.mutable_compressed_operation()->mutable_data()->pop_back();
  EXPECT_EQ(DecompressPlan(1 << 20, &torn).condition(), "CONNECT_INVALID_PLAN.CANNOT_PARSE");
  pb::Plan garbage = plan;
  garbage.mutable_compressed_operation()->set_data("no zstd");
  EXPECT_EQ(DecompressPlan(1 << 20, &garbage).condition(), "CONNECT_INVALID_PLAN.CANNOT_PARSE");
}

TEST(TypeProto, RoundTrips) {
  const std::vector<DataType> types{
      DataType::Null(), DataType::Boolean(), DataType::Byte(), DataType::Short(), DataType::Integer(), DataType::Long(),
      DataType::Float(), DataType::Double(), DataType::Decimal(38, 18), DataType::String(), DataType::String("UNICODE_CI"),
      DataType::Char(3), DataType::Varchar(7), DataType::Binary(), DataType::Date(), DataType::Timestamp(),
      DataType::TimestampNtz(), DataType::Time(3), DataType::YearMonthInterval(), DataType::DayTimeInterval(),
      DataType::CalendarInterval(), DataType::Array(DataType::Integer(), false),
      DataType::Map(DataType::String(), DataType::Array(DataType::Date()), true), DataType::Variant(),
      DataType::Struct({{"a", DataType::Integer(), false, R"({"k":1})"}, {"b", DataType::Struct({})}})};
  for (const DataType& type : types) {
    pb::DataType message;
    TypeToProto(type, &message);
    EXPECT_EQ(TypeFromProto(message).ValueOrDie(), type) << type.Sql();
  }
}

TEST(LiteralProto, RoundTrips) {
  const std::vector<TypedValue> values{
      {Value(), DataType::Long()}, {Value(true), DataType::Boolean()}, {Value(int8_t{-1}), DataType::Byte()},
      {Value(int64_t{1} << 40), DataType::Long()}, {Value(1.5), DataType::Double()},
      {Value(data::Int128(-12345)), DataType::Decimal(10, 2)}, {Value(std::string("x")), DataType::String()},
      {Value(int32_t{19000}), DataType::Date()}, {Value(int64_t{5}), DataType::DayTimeInterval()},
      {Value(ValueList{Value(int32_t{1}), Value()}), DataType::Array(DataType::Integer())},
      {Value(ValueList{Value(std::string("k")), Value(int32_t{2})}), DataType::Map(DataType::String(), DataType::Integer())},
      {Value(ValueList{Value(int32_t{1}), Value(std::string("s"))}),
       DataType::Struct({{"a", DataType::Integer()}, {"b", DataType::String()}})}};
  for (const TypedValue& typed : values) {
    pb::Expression::Literal message;
    ASSERT_TRUE(LiteralToProto(typed.value, typed.type, &message).ok());
    const TypedValue back = ValueFromProto(message).ValueOrDie();
    EXPECT_EQ(back.value, typed.value) << typed.type.Sql();
    EXPECT_TRUE(back.type.SameType(typed.type)) << typed.type.Sql();
  }
}

TEST(LiteralProto, DecimalsTakeTheirShapeFromTheText) {
  const auto read = [](const std::string& text) {
    pb::Expression::Literal message;
    message.mutable_decimal()->set_value(text);
    return ValueFromProto(message).ValueOrDie();
  };
  EXPECT_EQ(read("12.30").type, DataType::Decimal(4, 2));
  EXPECT_EQ(read("12.30").value, Value(data::Int128(1230)));
  EXPECT_EQ(read("0.05").type, DataType::Decimal(2, 2));
  EXPECT_EQ(read("1E+3").value, Value(data::Int128(1000)));
  // As real Spark answers to lit(Decimal(...)), which the client sends as DECIMAL(10,0).
  const auto inferred = [](const std::string& text) {
    pb::Expression::Literal message;
    message.mutable_decimal()->set_value(text);
    message.mutable_decimal()->set_precision(10);
    message.mutable_decimal()->set_scale(0);
    return ValueFromProto(message).ValueOrDie();
  };
  EXPECT_EQ(inferred("1.50").type, DataType::Decimal(10, 2));
  EXPECT_EQ(inferred("1.50").value, Value(data::Int128(150)));
  EXPECT_EQ(inferred("123456789012.5").type, DataType::Decimal(13, 1));
  EXPECT_EQ(inferred("1E+5").type, DataType::Decimal(10, 0));
  EXPECT_EQ(inferred("1E-30").type, DataType::Decimal(30, 30));
  EXPECT_EQ(inferred("99999999999999999999999999999999999999").type, DataType::Decimal(38, 0));
  pb::Expression::Literal bad;
  bad.mutable_decimal()->set_value("1.2.3");
  EXPECT_EQ(ValueFromProto(bad).status().condition(), "CONNECT_INVALID_PLAN.ASSERTION_FAILURE");
}

}  // namespace
}  // namespace thalweg::sql
