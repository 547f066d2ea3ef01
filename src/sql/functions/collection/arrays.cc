// sort_array, array_distinct, array_min, array_max, array_join, slice, flatten, sequence, array_remove, array_repeat,
// array_compact, arrays_overlap: arrays rebuilt from the elements of one.

#include <algorithm>
#include <functional>

#include "data/columnar/builder.h"
#include "data/text/numbers.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/collection/element_set.h"
#include "sql/functions/collection/lists.h"
#include "sql/functions/collection/register.h"

namespace thalweg::sql {
namespace {

/// Lists of element rows, row by row, over one child.
class ListOutput {
 public:
  explicit ListOutput(int64_t length)
      : length_(length), offsets_(data::Buffer::AllocateZeroed((length + 1) * 4)), nulls_(length) {}
  /// Rows must come in ascending order.
  std::vector<int32_t>& BeginRow(int64_t row) {
    Advance(row);
    return elements_;
  }
  void SetNull(int64_t row) { nulls_.SetNull(row); }
  ColumnPtr Finish(const DataType& type, const ColumnPtr& child) {
    Advance(length_);
    Column::Parts parts;
    parts.type = type;
    parts.length = length_;
    parts.values = std::move(offsets_);
    parts.children = {data::Take(child, elements_)};
    nulls_.Finish(&parts);
    return Column::Make(std::move(parts));
  }

 private:
  /// The offsets up to the one where `row` begins.
  void Advance(int64_t row) {
    auto* offsets = reinterpret_cast<int32_t*>(offsets_->mutable_data());
    while (next_ <= row) offsets[next_++] = static_cast<int32_t>(elements_.size());
  }
  int64_t length_;
  std::shared_ptr<data::Buffer> offsets_;
  std::vector<int32_t> elements_;
  int64_t next_ = 0;
  NullMarks nulls_;
};

/// pick(row, range, elements*) for each valid row of the first argument.
template <typename Pick>
Result<ColumnPtr> RebuildLists(const BoundScalar& call, const KernelInput& input, Pick pick) {
  const ColumnPtr& list = input.arguments[0];
  ListOutput out(input.rows.length);
  ForEachValid(input, [&](int64_t row) { pick(row, RangeOf(*list, row), &out.BeginRow(row)); });
  return out.Finish(call.type, data::Flatten(list->child(0)));
}

Result<ColumnPtr> SortKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& child = *input.arguments[0]->child(0);
  return RebuildLists(call, input, [&](int64_t row, ListRange range, std::vector<int32_t>* out) {
    const bool ascending =
        input.arguments[1]->values<uint8_t>()[static_cast<size_t>(SlotOf(*input.arguments[1], row))] != 0;
    const size_t first = out->size();
    for (int32_t i = range.begin; i < range.end; ++i) out->push_back(i);
    // Nulls first when ascending, last when descending.
    std::stable_sort(out->begin() + static_cast<ptrdiff_t>(first), out->end(), [&](int32_t a, int32_t b) {
      if (!ascending) std::swap(a, b);
      const bool a_null = child.IsNull(a);
      const bool b_null = child.IsNull(b);
      if (a_null || b_null) return a_null && !b_null;
      return CompareRows(child, a, child, b) < 0;
    });
  });
}

Result<ColumnPtr> DistinctKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr& list = input.arguments[0];
  const ColumnPtr elements = WithOneZero(data::Flatten(list->child(0)));
  ElementSet seen(elements);
  ListOutput out(input.rows.length);
  ForEachValid(input, [&](int64_t row) {
    const ListRange range = RangeOf(*list, row);
    auto& kept = out.BeginRow(row);
    seen.Clear();
    for (int32_t i = range.begin; i < range.end; ++i) {
      if (seen.Insert(i)) kept.push_back(i);
    }
  });
  return out.Finish(call.type, elements);
}

Result<ColumnPtr> ReverseKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return RebuildLists(call, input, [&](int64_t, ListRange range, std::vector<int32_t>* out) {
    for (int32_t i = range.end; i-- > range.begin;) out->push_back(i);
  });
}

Result<ColumnPtr> CompactKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& child = *input.arguments[0]->child(0);
  return RebuildLists(call, input, [&](int64_t, ListRange range, std::vector<int32_t>* out) {
    for (int32_t i = range.begin; i < range.end; ++i) {
      if (!child.IsNull(i)) out->push_back(i);
    }
  });
}

Result<ColumnPtr> RemoveKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& child = *input.arguments[0]->child(0);
  const Column& value = *input.arguments[1];
  return RebuildLists(call, input, [&](int64_t row, ListRange range, std::vector<int32_t>* out) {
    for (int32_t i = range.begin; i < range.end; ++i) {
      if (child.IsNull(i) || CompareRows(child, i, value, row) != 0) out->push_back(i);
    }
  });
}

Result<ColumnPtr> SliceKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Reader<int32_t> start(*input.arguments[1]);
  const Reader<int32_t> length(*input.arguments[2]);
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    if (start[row] == 0) {
      return Error("INVALID_PARAMETER_VALUE.START").With("parameter", "`start`").With("functionName", "`slice`");
    }
    if (length[row] < 0) {
      return Error("INVALID_PARAMETER_VALUE.LENGTH")
          .With("parameter", "`length`")
          .With("functionName", "`slice`")
          .With("length", static_cast<long long>(length[row]));
    }
    return {};
  }));
  return RebuildLists(call, input, [&](int64_t row, ListRange range, std::vector<int32_t>* out) {
    const int64_t size = range.end - range.begin;
    const int64_t from = start[row] > 0 ? start[row] - 1 : size + start[row];
    if (from < 0) return;
    for (int64_t i = from; i < std::min(size, from + length[row]); ++i) out->push_back(range.begin + static_cast<int32_t>(i));
  });
}

Result<ColumnPtr> FlattenListsKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  const ColumnPtr inner = data::Flatten(list->child(0));
  ListOutput out(input.rows.length);
  ForEachValid(input, [&](int64_t row) {
    auto& elements = out.BeginRow(row);
    const ListRange range = RangeOf(*list, row);
    for (int32_t i = range.begin; i < range.end; ++i) {
      if (inner->IsNull(i)) {
        out.SetNull(row);
        return;
      }
    }
    for (int32_t i = range.begin; i < range.end; ++i) {
      const ListRange part = RangeOf(*inner, i);
      for (int32_t j = part.begin; j < part.end; ++j) elements.push_back(j);
    }
  });
  return out.Finish(call.type, inner->child(0));
}

template <bool kMax>
Result<ColumnPtr> ArrayExtremeKernel(const BoundScalar&, const KernelInput& input, EvalContext&) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  const Column& child = *list->child(0);
  std::vector<int32_t> rows(static_cast<size_t>(input.rows.length), -1);
  ForEachValid(input, [&](int64_t row) {
    int32_t best = -1;
    const ListRange range = RangeOf(*list, row);
    for (int32_t i = range.begin; i < range.end; ++i) {
      if (child.IsNull(i)) continue;
      if (best < 0 || (kMax ? CompareRows(child, i, child, best) > 0 : CompareRows(child, i, child, best) < 0)) best = i;
    }
    rows[static_cast<size_t>(row)] = best;
  });
  return data::Take(list->child(0), rows);
}

Result<ColumnPtr> JoinKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr& list = input.arguments[0];
  const Column& child = *list->child(0);
  const Reader<std::string_view> delimiter(*input.arguments[1]);
  const bool replaces = input.arguments.size() > 2;
  TextOutput out(call.type, input.rows.length);
  std::string text;
  const auto values = child.values<TextView>();
  ForEachValid(input, [&](int64_t row) {
    text.clear();
    bool first = true;
    const ListRange range = RangeOf(*list, row);
    for (int32_t i = range.begin; i < range.end; ++i) {
      if (child.IsNull(i) && !replaces) continue;
      if (!first) text.append(delimiter[row]);
      first = false;
      text.append(child.IsNull(i) ? Reader<std::string_view>(*input.arguments[2])[row] : values[static_cast<size_t>(i)].view());
    }
    out.Set(row, text);
  });
  return out.Finish();
}

Result<ColumnPtr> OverlapKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& a = *input.arguments[0];
  const Column& b = *input.arguments[1];
  const ColumnPtr parts[] = {data::Flatten(a.child(0)), data::WithType(data::Flatten(b.child(0)), a.child(0)->type())};
  const ColumnPtr all = data::Concat(parts);
  const auto second = static_cast<int32_t>(parts[0]->length());
  ElementSet seen(all);
  FixedOutput<bool> out(call.type, input.rows.length);
  ForEachValid(input, [&](int64_t row) {
    const ListRange x = RangeOf(a, row);
    const ListRange y = RangeOf(b, row);
    if (x.begin == x.end || y.begin == y.end) {
      out.Set(row, false);
      return;
    }
    bool null = false;
    seen.Clear();
    for (int32_t i = x.begin; i < x.end; ++i) {
      if (all->IsNull(i)) {
        null = true;
      } else {
        seen.Insert(i);
      }
    }
    for (int32_t i = second + y.begin; i < second + y.end; ++i) {
      if (all->IsNull(i)) {
        null = true;
      } else if (seen.Contains(i)) {
        out.Set(row, true);
        return;
      }
    }
    if (null) out.SetNull(row);
  });
  return out.Finish();
}

Result<ColumnPtr> RepeatKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& count = *input.arguments[1];
  const Reader<int32_t> times(count);
  ListOutput out(input.rows.length);
  input.rows.ForEach([&](int64_t row) {
    auto& elements = out.BeginRow(row);
    if (count.IsNull(row)) {
      out.SetNull(row);
      return;
    }
    for (int32_t i = 0; i < times[row]; ++i) elements.push_back(static_cast<int32_t>(row));
  });
  return out.Finish(call.type, data::Flatten(input.arguments[0]));
}

template <typename T>
Result<ColumnPtr> SequenceKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Reader<T> start(*input.arguments[0]);
  const Reader<T> stop(*input.arguments[1]);
  const bool has_step = input.arguments.size() > 2;
  std::vector<T> values;
  auto offsets_buffer = data::Buffer::AllocateZeroed((input.rows.length + 1) * 4);
  auto* offsets = reinterpret_cast<int32_t*>(offsets_buffer->mutable_data());
  int64_t next = 0;
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    while (next <= row) offsets[next++] = static_cast<int32_t>(values.size());
    const int64_t a = start[row];
    const int64_t b = stop[row];
    const int64_t step = has_step ? static_cast<int64_t>(Reader<T>(*input.arguments[2])[row]) : (a <= b ? 1 : -1);
    if ((step == 0 && a != b) || (step > 0 && a > b) || (step < 0 && a < b)) {
      return Error("_LEGACY_ERROR_TEMP_3102")
          .With("msg", "Illegal sequence boundaries: " + std::to_string(a) + " to " + std::to_string(b) + " by " +
                           std::to_string(step));
    }
    const Int128 count = step == 0 ? 1 : (static_cast<Int128>(b) - a) / step + 1;
    if (count > 2147483632) {
      return Error("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER")
          .With("numberOfElements", static_cast<long long>(count))
          .With("maxRoundedArrayLength", 2147483632LL)
          .With("functionName", "`sequence`")
          .With("parameter", "`count`");
    }
    for (Int128 i = 0; i < count; ++i) values.push_back(static_cast<T>(a + static_cast<int64_t>(i) * step));
    return {};
  }));
  while (next <= input.rows.length) offsets[next++] = static_cast<int32_t>(values.size());
  data::FixedBuilder<T> builder(call.type.element());
  builder.Reserve(static_cast<int64_t>(values.size()));
  for (const T value : values) builder.Append(value);
  Column::Parts parts;
  parts.type = call.type;
  parts.length = input.rows.length;
  parts.values = std::move(offsets_buffer);
  parts.children = {builder.Finish()};
  return Column::Make(std::move(parts));
}

// --- binders ---

Status NeedArray(const ScalarFunction& function, const ExprList& arguments, size_t i = 0) {
  if (arguments[i]->type().Is(TypeKind::kArray)) return {};
  return UnexpectedInputType(function.name, arguments, i, "\"ARRAY\"");
}

Result<BoundCall> BindSame(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(NeedArray(function, arguments));
  const DataType type = arguments[0]->type();
  return MakeBound(function, std::move(arguments), type, false, function.evaluate, context);
}

Result<BoundCall> BindSort(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  TW_RETURN_NOT_OK(NeedArray(function, arguments));
  const DataType type = arguments[0]->type();
  if (!type.element().IsOrderable() && !type.element().Is(TypeKind::kNull)) {
    return Error("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("dataType", QuoteSql(type.Sql()));
  }
  if (arguments.size() == 1) arguments.push_back(Literal::Boolean(true));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Boolean(), context));
  return MakeBound(function, std::move(arguments), type, false, &SortKernel, context);
}

Result<BoundCall> BindRemove(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_RETURN_NOT_OK(NeedArray(function, arguments));
  const DataType list = arguments[0]->type();
  const auto element = WiderType(list.element(), arguments[1]->type(), context.config.ansi);
  if (!element) return UnexpectedInputType(function.name, arguments, 1, QuoteSql(list.element().Sql()));
  const DataType type = DataType::Array(*element, list.contains_null());
  arguments[0] = Coerce(arguments[0], type, context.config);
  arguments[1] = Coerce(arguments[1], *element, context.config);
  return MakeBound(function, std::move(arguments), type, false, &RemoveKernel, context);
}

Result<BoundCall> BindSlice(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 3, 3));
  TW_RETURN_NOT_OK(NeedArray(function, arguments));
  for (size_t i = 1; i < 3; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Integer(), context));
  const DataType type = arguments[0]->type();
  return MakeBound(function, std::move(arguments), type, false, &SliceKernel, context);
}

Result<BoundCall> BindFlatten(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType type = arguments[0]->type();
  if (!type.Is(TypeKind::kArray) || !type.element().Is(TypeKind::kArray)) {
    return UnexpectedInputType(function.name, arguments, 0, "\"ARRAY\" of \"ARRAY\"");
  }
  return MakeBound(function, std::move(arguments), type.element(), type.contains_null(), &FlattenListsKernel, context);
}

Result<BoundCall> BindArrayExtreme(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(NeedArray(function, arguments));
  const DataType type = arguments[0]->type().element();
  return MakeBoundExact(function, std::move(arguments), type, true,
                        function.name == "array_max" ? &ArrayExtremeKernel<true> : &ArrayExtremeKernel<false>,
                        ModeOf(function, context));
}

Result<BoundCall> BindJoin(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  TW_RETURN_NOT_OK(NeedArray(function, arguments));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Array(DataType::String()), context));
  for (size_t i = 1; i < arguments.size(); ++i) {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  }
  return MakeBound(function, std::move(arguments), DataType::String(), false, &JoinKernel, context);
}

Result<BoundCall> BindOverlap(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(NeedArray(function, arguments, i));
  const auto type = WiderType(arguments[0]->type(), arguments[1]->type(), context.config.ansi);
  if (!type) {
    return Error("DATATYPE_MISMATCH.BINARY_ARRAY_DIFF_TYPES")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("arrayType", "\"ARRAY\"")
        .With("leftType", QuoteSql(arguments[0]->type().Sql()))
        .With("rightType", QuoteSql(arguments[1]->type().Sql()));
  }
  const bool may_be_null = type->contains_null();
  for (auto& argument : arguments) argument = Coerce(argument, *type, context.config);
  return MakeBound(function, std::move(arguments), DataType::Boolean(), may_be_null, &OverlapKernel, context);
}

Result<BoundCall> BindRepeat(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
  const DataType type = DataType::Array(arguments[0]->type(), arguments[0]->nullable());
  const bool nullable = arguments[1]->nullable();
  return MakeBoundExact(function, std::move(arguments), type, nullable, &RepeatKernel, ModeOf(function, context));
}

Result<BoundCall> BindSequence(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  std::vector<DataType> types;
  for (const auto& argument : arguments) types.push_back(argument->type());
  const auto type = WiderTypeOf(types, context.config.ansi);
  if (!type || !type->IsIntegral()) return Unsupported("sequence over " + arguments[0]->type().SimpleString());
  for (auto& argument : arguments) argument = Coerce(argument, *type, context.config);
  ScalarKernel kernel = &SequenceKernel<int64_t>;
  if (type->Is(TypeKind::kInteger)) kernel = &SequenceKernel<int32_t>;
  if (type->Is(TypeKind::kShort)) kernel = &SequenceKernel<int16_t>;
  if (type->Is(TypeKind::kByte)) kernel = &SequenceKernel<int8_t>;
  return MakeBound(function, std::move(arguments), DataType::Array(*type, false), false, kernel, context);
}

}  // namespace

Result<BoundCall> BindReverseArray(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  const DataType type = arguments[0]->type();
  return MakeBound(function, std::move(arguments), type, false, &ReverseKernel, context);
}

void RegisterArrays(FunctionLists& lists) {
  static const ScalarFunction kSort{.name = "sort_array", .since = "1.5.0", .doc = "The array in order; NULLs first, last when descending.",
                                    .example = {"SELECT sort_array(array('b', 'd', NULL, 'c', 'a'), true)", "[NULL, a, b, c, d]"},
                                    .bind = &BindSort};
  static const ScalarFunction kDistinct{.name = "array_distinct", .since = "2.4.0", .doc = "The array without duplicates.",
                                        .example = {"SELECT array_distinct(array(1, 2, 3, NULL, 3))", "[1, 2, 3, NULL]"},
                                        .evaluate = &DistinctKernel, .bind = &BindSame};
  static const ScalarFunction kCompact{.name = "array_compact", .since = "3.4.0", .doc = "The array without NULLs.",
                                       .example = {"SELECT array_compact(array(1, 2, 3, NULL))", "[1, 2, 3]"},
                                       .evaluate = &CompactKernel, .bind = &BindSame};
  static const ScalarFunction kRemove{.name = "array_remove", .since = "2.4.0", .doc = "The array without a value.",
                                      .example = {"SELECT array_remove(array(1, 2, 3, NULL, 3), 3)", "[1, 2, NULL]"},
                                      .bind = &BindRemove};
  static const ScalarFunction kSlice{.name = "slice", .since = "2.4.0", .doc = "Part of an array, from a position counted from 1.",
                                     .example = {"SELECT slice(array(1, 2, 3, 4), 2, 2)", "[2, 3]"}, .bind = &BindSlice};
  static const ScalarFunction kFlatten{.name = "flatten", .since = "2.4.0", .doc = "The elements of the arrays of an array.",
                                       .example = {"SELECT flatten(array(array(1, 2), array(3, 4)))", "[1, 2, 3, 4]"},
                                       .bind = &BindFlatten};
  static const ScalarFunction kMax{.name = "array_max", .since = "2.4.0", .doc = "The greatest element.",
                                   .example = {"SELECT array_max(array(1, 20, NULL, 3))", "20"}, .bind = &BindArrayExtreme};
  static const ScalarFunction kMin =
      Alike(kMax, "array_min", "The least element.", {"SELECT array_min(array(1, 20, NULL, 3))", "1"});
  static const ScalarFunction kJoin{.name = "array_join", .since = "2.4.0", .doc = "The elements as one string.",
                                    .example = {"SELECT array_join(array('hello', 'world'), ' ')", "hello world"},
                                    .bind = &BindJoin};
  static const ScalarFunction kOverlap{.name = "arrays_overlap", .since = "2.4.0", .doc = "Whether the arrays share an element.",
                                       .example = {"SELECT arrays_overlap(array(1, 2, 3), array(3, 4, 5))", "true"},
                                       .bind = &BindOverlap};
  static const ScalarFunction kRepeat{.name = "array_repeat", .since = "2.4.0", .doc = "An array of one value, so many times.",
                                      .example = {"SELECT array_repeat('123', 2)", "[123, 123]"},
                                      .nulls = NullPolicy::kCustom, .bind = &BindRepeat};
  static const ScalarFunction kSequence{.name = "sequence", .since = "2.4.0", .doc = "Whole numbers from the first to the second.",
                                        .example = {"SELECT sequence(1, 5)", "[1, 2, 3, 4, 5]"}, .bind = &BindSequence};
  for (const auto* f : {&kSort, &kDistinct, &kCompact, &kRemove, &kSlice, &kFlatten, &kMax, &kMin, &kJoin, &kOverlap,
                        &kRepeat, &kSequence}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
