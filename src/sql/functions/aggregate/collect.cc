// collect_list, array_agg, collect_set, listagg, string_agg: NULLs are skipped. Buffer: buf BINARY, an UnsafeRow of one array column.

#include <unordered_set>

#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "sql/expr/fold_argument.h"
#include "sql/functions/aggregate/held_value.h"

namespace thalweg::sql {
namespace {

/// What a group has collected. Owned by its accumulator.
struct Collected {
  std::unique_ptr<data::ColumnBuilder> values;
  int64_t value_bytes = 0;                ///< of what is in `values`
  ColumnPtr flushed;                      ///< what was built before the builder was last finished
  int64_t seen_bytes = 0;
  std::unordered_set<std::string> seen;   ///< UnsafeRows of the values, equal values having equal bytes (collect_set)
};

bool IsSet(const BoundAggregate& call) { return call.function->name == "collect_set"; }

Collected& GetCollected(uint8_t* accumulator) {
  auto*& collected = As<Collected*>(accumulator);
  if (collected == nullptr) collected = new Collected();
  return *collected;
}

/// What is collected: the element of the result, or text for listagg.
const DataType& ElementOf(const BoundAggregate& call) {
  return call.type.Is(TypeKind::kArray) ? call.type.element() : call.type;
}

struct DelimiterData final : BoundData {
  explicit DelimiterData(std::string d) : delimiter(std::move(d)) {}
  std::string delimiter;
};

/// Everything collected as one column.
ColumnPtr Flush(const BoundAggregate& call, Collected& c) {
  if (c.values == nullptr || c.values->length() == 0) {
    if (c.flushed == nullptr) c.flushed = data::ColumnBuilder::Make(ElementOf(call))->Finish();
    return c.flushed;
  }
  const ColumnPtr fresh = c.values->Finish();
  c.value_bytes = 0;
  if (c.flushed == nullptr || c.flushed->length() == 0) {
    c.flushed = fresh;
  } else {
    const ColumnPtr both[] = {c.flushed, fresh};
    c.flushed = data::Concat(both);
  }
  return c.flushed;
}

/// What the values of a column weigh, about, once collected. The column's type is asked once, not for each row.
class RowBytes {
 public:
  explicit RowBytes(const Column& column) : each_(column.type().IsNested() ? kNestedBytes : kFixedBytes) {
    const bool text = column.type().Is(TypeKind::kString) || column.type().Is(TypeKind::kBinary);
    if (text) texts_ = column.values<TextView>();
  }
  int64_t operator[](int64_t row) const {
    return each_ + (texts_.empty() ? 0 : static_cast<int64_t>(texts_[static_cast<size_t>(row)].view().size()));
  }

 private:
  static constexpr int64_t kFixedBytes = 16, kNestedBytes = 64;
  int64_t each_;
  std::span<const TextView> texts_;  // empty: its values are no texts
};

Status AddRows(const BoundAggregate& call, const ColumnPtr& argument, std::span<uint8_t* const> targets) {
  const ColumnPtr column = data::Flatten(argument);
  const auto rows = static_cast<int64_t>(targets.size());
  data::RowBatch keys;
  const bool set = IsSet(call);
  if (set) {
    const ColumnPtr columns[] = {column};
    // A number is in the set once whatever the sign of its zero, unless it lies in a struct or an array.
    const bool number = column->type().Is(TypeKind::kDouble) || column->type().Is(TypeKind::kFloat);
    const data::UnsafeRowWriter writer({column->type()}, {.normalize_zero = number});
    TW_RETURN_NOT_OK(writer.Write(columns, rows, nullptr, &keys));
  }
  const RowBytes bytes(*column);
  ForEachNotNull(*column, rows, [&](int64_t row) {
    Collected& c = GetCollected(targets[static_cast<size_t>(row)]);
    if (set) {
      if (!c.seen.emplace(keys.row(row)).second) return;
      c.seen_bytes += 64 + static_cast<int64_t>(keys.row(row).size());  // with what a set keeps beside it
    }
    if (c.values == nullptr) c.values = data::ColumnBuilder::Make(ElementOf(call));
    c.values->AppendFrom(*column, row);
    c.value_bytes += bytes[row];
  });
  return {};
}

Status UpdateCollected(const BoundAggregate& call, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
              EvalContext&) {
  return AddRows(call, arguments[0], std::span(accumulators, static_cast<size_t>(rows)));
}

Status MergeCollected(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
             EvalContext&) {
  const data::UnsafeRowReader reader({DataType::Array(ElementOf(call), false)});
  std::vector<std::string_view> bytes;
  std::vector<int64_t> owners;
  const Reader<std::string_view> values(*buffers[0]);
  ForEachNotNull(*buffers[0], rows, [&](int64_t row) {
    bytes.push_back(values[row]);
    owners.push_back(row);
  });
  TW_ASSIGN_OR_RETURN(const std::vector<ColumnPtr> columns, reader.Read(bytes));
  const ColumnPtr& lists = columns[0];
  std::vector<int32_t> elements;
  std::vector<uint8_t*> targets;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (lists->IsNull(static_cast<int64_t>(i))) continue;
    for (int32_t at = lists->offsets()[i]; at < lists->offsets()[i + 1]; ++at) {
      elements.push_back(at);
      targets.push_back(accumulators[owners[i]]);
    }
  }
  return AddRows(call, data::Take(lists->child(0), elements), targets);
}

void DestroyCollected(const BoundAggregate&, uint8_t* accumulator) {
  auto*& collected = As<Collected*>(accumulator);
  delete collected;
  collected = nullptr;
}

Status ImportCollected(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) DestroyCollected(call, accumulators[row]);
  EvalContext context;
  return MergeCollected(call, buffers, rows, accumulators, context);
}

ColumnPtr Lists(const BoundAggregate& call, std::span<uint8_t* const> accumulators) {
  std::vector<ColumnPtr> parts;
  auto offsets_buffer = data::Buffer::AllocateZeroed((static_cast<int64_t>(accumulators.size()) + 1) * 4);
  auto* offsets = reinterpret_cast<int32_t*>(offsets_buffer->mutable_data());
  for (size_t i = 0; i < accumulators.size(); ++i) {
    auto* collected = As<Collected*>(accumulators[i]);
    offsets[i + 1] = offsets[i];
    if (collected == nullptr) continue;
    parts.push_back(Flush(call, *collected));
    offsets[i + 1] += static_cast<int32_t>(parts.back()->length());
  }
  Column::Parts list;
  list.type = DataType::Array(ElementOf(call), false);
  list.length = static_cast<int64_t>(accumulators.size());
  list.values = std::move(offsets_buffer);
  list.children = {parts.empty() ? data::ColumnBuilder::Make(ElementOf(call))->Finish() : data::Concat(parts)};
  return Column::Make(std::move(list));
}

Status ExportCollected(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  const ColumnPtr lists = Lists(call, accumulators);
  const data::UnsafeRowWriter writer({lists->type()});
  data::RowBatch rows;
  const ColumnPtr columns[] = {lists};
  TW_RETURN_NOT_OK(writer.Write(columns, lists->length(), nullptr, &rows));
  TextOutput bytes(DataType::Binary(), lists->length());
  for (int64_t i = 0; i < lists->length(); ++i) bytes.Set(i, rows.row(i));
  out->push_back(bytes.Finish());
  return {};
}

Result<ColumnPtr> FinishCollected(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  return data::WithType(Lists(call, accumulators), call.type);
}

int64_t OwnedCollected(const BoundAggregate&, const uint8_t* accumulator) {
  const auto* collected = As<Collected*>(accumulator);
  if (collected == nullptr) return 0;
  return collected->value_bytes + (collected->flushed == nullptr ? 0 : collected->flushed->bytes()) + collected->seen_bytes;
}

/// The texts of each group with the delimiter between them; NULL for none.
Result<ColumnPtr> FinishListagg(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  const std::string& delimiter = static_cast<const DelimiterData&>(*call.data).delimiter;
  const ColumnPtr lists = Lists(call, accumulators);
  const ColumnPtr texts = data::Flatten(lists->child(0));
  const auto views = texts->values<TextView>();
  TextOutput out(call.type, lists->length());
  std::string text;
  for (int64_t i = 0; i < lists->length(); ++i) {
    const int32_t begin = lists->offsets()[static_cast<size_t>(i)];
    const int32_t end = lists->offsets()[static_cast<size_t>(i) + 1];
    if (begin == end) {
      out.SetNull(i);
      continue;
    }
    text.clear();
    for (int32_t at = begin; at < end; ++at) {
      if (at > begin) text.append(delimiter);
      text.append(views[static_cast<size_t>(at)].view());
    }
    out.Set(i, text);
  }
  return out.Finish();
}

constexpr AggregateKernels kListaggKernels{.size = sizeof(void*), .update = &UpdateCollected, .merge = &MergeCollected,
                                        .export_buffers = &ExportCollected, .import_buffers = &ImportCollected, .finish = &FinishListagg,
                                        .destroy = &DestroyCollected, .owned_bytes = &OwnedCollected};

Result<BoundAggregateCall> BindListagg(const AggregateFunction& function, ExprList arguments, bool,
                                       const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  const bool binary = arguments[0]->type().Is(TypeKind::kBinary);
  const DataType type = binary ? DataType::Binary() : DataType::String();
  std::string delimiter;
  if (arguments.size() == 1) arguments.push_back(Literal::Null(DataType::Null()));
  TW_ASSIGN_OR_RETURN(const Value value, FoldArgumentAs(function.name, arguments, 1, "delimiter", type, context));
  if (const auto* text = value.get_if<std::string>()) delimiter = *text;
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, type, context));
  return MakeAggregate(function, std::move(arguments), type, true, {{"buf", DataType::Binary(), true}}, &kListaggKernels,
                       AggregateMode(function, context), std::make_shared<DelimiterData>(std::move(delimiter)));
}

constexpr AggregateKernels kCollectedKernels{.size = sizeof(void*), .update = &UpdateCollected, .merge = &MergeCollected, .export_buffers = &ExportCollected,
                                    .import_buffers = &ImportCollected, .finish = &FinishCollected, .destroy = &DestroyCollected,
                                    .owned_bytes = &OwnedCollected};

Result<BoundAggregateCall> BindCollect(const AggregateFunction& function, ExprList arguments, bool,
                                       const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType element = WithoutLength(arguments[0]->type());
  if (function.name == "collect_set") {
    if (element.Is(TypeKind::kMap)) {
      return Error("DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE")
          .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
          .With("functionName", "`collect_set`")
          .With("dataType", "\"MAP\"");
    }
  }
  return MakeAggregate(function, std::move(arguments), DataType::Array(element, false), false,
                       {{"buf", DataType::Binary(), true}}, &kCollectedKernels, AggregateMode(function, context));
}

}  // namespace

void RegisterCollect(FunctionLists& lists) {
  static const AggregateFunction kList{.name = "collect_list", .since = "2.0.0", .doc = "The values as an array.",
                                       .example = {"SELECT collect_list(c) FROM VALUES (1), (2), (1) AS t(c)", "[1, 2, 1]"},
                                       .bind = &BindCollect, .ignores_order = false};
  static const AggregateFunction kArrayAgg = Renamed(kList, "array_agg");
  static const AggregateFunction kSet{.name = "collect_set", .since = "2.0.0", .doc = "The distinct values as an array.",
                                      .example = {"SELECT collect_set(c) FROM VALUES (1), (2), (1) AS t(c)", "[1, 2]"},
                                      .bind = &BindCollect, .ignores_order = false};
  static const AggregateFunction kListagg{.name = "listagg", .since = "4.0.0", .doc = "The texts as one, with a delimiter.",
                                          .bind = &BindListagg, .ignores_order = false};
  static const AggregateFunction kStringAgg = Renamed(kListagg, "string_agg");
  for (const auto* f : {&kList, &kArrayAgg, &kSet, &kListagg, &kStringAgg}) lists.Add(*f);
}

}  // namespace thalweg::sql
