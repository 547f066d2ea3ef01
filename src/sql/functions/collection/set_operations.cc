// array_append, array_prepend, array_insert, array_union, array_intersect, array_except, arrays_zip, map_concat,
// map_from_entries, shuffle: new collections out of the elements of several.

#include <algorithm>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/text/literal.h"
#include "sql/expr/binding.h"
#include "sql/expr/fold_argument.h"
#include "sql/functions/collection/element_set.h"
#include "sql/functions/collection/lists.h"
#include "sql/functions/collection/register.h"

namespace thalweg::sql {
namespace {

/// Elements of two columns under one numbering: rows of the second come behind those of the first.
struct Pool {
  ColumnPtr all;
  int32_t second = 0;
};

Pool PoolOf(const ColumnPtr& a, const ColumnPtr& b, const DataType& type) {
  Pool pool;
  const ColumnPtr parts[] = {data::WithType(data::Flatten(a), type), data::WithType(data::Flatten(b), type)};
  pool.second = static_cast<int32_t>(parts[0]->length());
  pool.all = data::Concat(parts);
  return pool;
}

/// Spark's arrays end here (ByteArrayMethods.MAX_ROUNDED_ARRAY_LENGTH), and so do the lists of one column together.
constexpr int64_t kMostElements = 2147483632;

Status CheckElements(std::string_view function, int64_t count) {
  if (count <= kMostElements) return {};
  return Error("COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION")
      .With("numberOfElements", static_cast<long long>(count))
      .With("maxRoundedArrayLength", static_cast<long long>(kMostElements))
      .With("functionName", QuoteFunctionName(function));
}

/// Lists by element numbers; `pick` fills one row or makes it null by answering false.
template <typename Pick>
Result<ColumnPtr> BuildLists(const DataType& type, const KernelInput& input, const ColumnPtr& child, Pick pick) {
  const int64_t length = input.rows.length;
  auto buffer = data::Buffer::AllocateZeroed((length + 1) * 4);
  auto* offsets = reinterpret_cast<int32_t*>(buffer->mutable_data());
  std::vector<int32_t> elements;
  NullMarks nulls(length);
  int64_t next = 0;
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    while (next <= row) offsets[next++] = static_cast<int32_t>(elements.size());
    TW_ASSIGN_OR_RETURN(const bool present, pick(row, &elements));
    if (!present) nulls.SetNull(row);
    return {};
  }));
  while (next <= length) offsets[next++] = static_cast<int32_t>(elements.size());
  Column::Parts parts;
  parts.type = type;
  parts.length = length;
  parts.values = std::move(buffer);
  parts.children = {data::Take(child, elements)};
  nulls.Finish(&parts);
  return Column::Make(std::move(parts));
}

// --- one more element ---

template <bool kAppend>
Result<ColumnPtr> AddElement(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  const ColumnPtr value = data::Flatten(input.arguments[1]);
  const Pool pool = PoolOf(list->child(0), value, call.type.element());
  return BuildLists(call.type, input, pool.all, [&](int64_t row, std::vector<int32_t>* out) -> Result<bool> {
    if (list->IsNull(row)) return false;
    const ListRange range = RangeOf(*list, row);
    if (!kAppend) out->push_back(pool.second + static_cast<int32_t>(row));
    for (int32_t i = range.begin; i < range.end; ++i) out->push_back(i);
    if (kAppend) out->push_back(pool.second + static_cast<int32_t>(row));
    return true;
  });
}

Result<DataType> CommonList(const ScalarFunction& function, ExprList* arguments, size_t value, const BindContext& context) {
  const DataType list = (*arguments)[0]->type();
  if (!list.Is(TypeKind::kArray)) return UnexpectedInputType(function.name, *arguments, 0, "\"ARRAY\"");
  const auto element = WiderTypeWithoutPromotion(list.element(), (*arguments)[value]->type(), context.config.ansi);
  if (!element) {
    return Error("DATATYPE_MISMATCH.ARRAY_FUNCTION_DIFF_TYPES")
        .With("sqlExpr", QuoteSql(CallSql(function.name, *arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("dataType", "\"ARRAY\"")
        .With("leftType", QuoteSql(list.Sql()))
        .With("rightType", QuoteSql((*arguments)[value]->type().Sql()));
  }
  (*arguments)[0] = Coerce((*arguments)[0], DataType::Array(*element, list.contains_null()), context.config);
  (*arguments)[value] = Coerce((*arguments)[value], *element, context.config);
  return DataType::Array(*element, list.contains_null() || (*arguments)[value]->nullable());
}

Result<BoundCall> BindAddElement(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_ASSIGN_OR_RETURN(const DataType type, CommonList(function, &arguments, 1, context));
  const bool nullable = arguments[0]->nullable();
  return MakeBoundExact(function, std::move(arguments), type, nullable,
                        function.name == "array_append" ? &AddElement<true> : &AddElement<false>, ModeOf(function, context));
}

/// array_insert(list, position, value): from 1, or from the end when negative; gaps are filled with NULL.
Result<ColumnPtr> Insert(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  const Column& position = *input.arguments[1];
  const ColumnPtr value = data::Flatten(input.arguments[2]);
  const Pool pool = PoolOf(list->child(0), value, call.type.element());
  return BuildLists(call.type, input, pool.all, [&](int64_t row, std::vector<int32_t>* out) -> Result<bool> {
    if (list->IsNull(row) || position.IsNull(row)) return false;
    const int32_t at = Reader<int32_t>(position)[row];
    if (at == 0) return Status(Error("INVALID_INDEX_OF_ZERO"));
    const ListRange range = RangeOf(*list, row);
    const int32_t size = range.end - range.begin;
    const int32_t added = pool.second + static_cast<int32_t>(row);
    const int32_t index = at > 0 ? at - 1 : size + at + 1;
    const int64_t length = index < 0 ? int64_t{1} - index + size : std::max<int64_t>(int64_t{size} + 1, int64_t{index} + 1);
    TW_RETURN_NOT_OK(CheckElements(call.function->name, static_cast<int64_t>(out->size()) + length));
    if (index < 0) {
      out->push_back(added);
      for (int32_t i = index; i < 0; ++i) out->push_back(-1);
      for (int32_t i = range.begin; i < range.end; ++i) out->push_back(i);
      return true;
    }
    for (int32_t i = 0; i < std::max(size, index); ++i) {
      if (i == index) out->push_back(added);
      out->push_back(i < size ? range.begin + i : -1);
    }
    if (index >= size) out->push_back(added);
    return true;
  });
}

Result<BoundCall> BindInsert(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 3, 3));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
  TW_ASSIGN_OR_RETURN(const DataType type, CommonList(function, &arguments, 2, context));
  const bool nullable = arguments[0]->nullable() || arguments[1]->nullable();
  return MakeBoundExact(function, std::move(arguments), DataType::Array(type.element(), true), nullable, &Insert,
                        ModeOf(function, context));
}

// --- sets ---

enum class SetOp : uint8_t { kUnion, kIntersect, kExcept };

template <SetOp kOp>
Result<ColumnPtr> Combine(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr a = data::Flatten(input.arguments[0]);
  const ColumnPtr b = data::Flatten(input.arguments[1]);
  Pool pool = PoolOf(a->child(0), b->child(0), call.type.element());
  pool.all = WithOneZero(pool.all);
  ElementSet taken(pool.all);
  ElementSet second(pool.all);
  return BuildLists(call.type, input, pool.all, [&](int64_t row, std::vector<int32_t>* out) -> Result<bool> {
    const ListRange x = RangeOf(*a, row);
    const ListRange y = RangeOf(*b, row);
    taken.Clear();
    const auto offer = [&](int32_t element) {
      if (taken.Insert(element)) out->push_back(element);
    };
    if (kOp != SetOp::kUnion) {
      second.Clear();
      for (int32_t i = y.begin; i < y.end; ++i) second.Insert(pool.second + i);
    }
    for (int32_t i = x.begin; i < x.end; ++i) {
      if (kOp == SetOp::kUnion || second.Contains(i) == (kOp == SetOp::kIntersect)) offer(i);
    }
    if (kOp == SetOp::kUnion) {
      for (int32_t i = y.begin; i < y.end; ++i) offer(pool.second + i);
    }
    return true;
  });
}

Result<BoundCall> BindSet(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  for (size_t i = 0; i < 2; ++i) {
    if (!arguments[i]->type().Is(TypeKind::kArray)) return UnexpectedInputType(function.name, arguments, i, "\"ARRAY\"");
  }
  const DataType left = arguments[0]->type();
  const DataType right = arguments[1]->type();
  const auto element = WiderTypeWithoutPromotion(left.element(), right.element(), context.config.ansi);
  if (!element) {
    return Error("DATATYPE_MISMATCH.BINARY_ARRAY_DIFF_TYPES")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("arrayType", "\"ARRAY\"")
        .With("leftType", QuoteSql(left.Sql()))
        .With("rightType", QuoteSql(right.Sql()));
  }
  arguments[0] = Coerce(arguments[0], DataType::Array(*element, left.contains_null()), context.config);
  arguments[1] = Coerce(arguments[1], DataType::Array(*element, right.contains_null()), context.config);
  bool contains_null = left.contains_null();
  ScalarKernel kernel = &Combine<SetOp::kExcept>;
  if (function.name == "array_union") {
    kernel = &Combine<SetOp::kUnion>;
    contains_null = contains_null || right.contains_null();
  } else if (function.name == "array_intersect") {
    kernel = &Combine<SetOp::kIntersect>;
    contains_null = contains_null && right.contains_null();
  }
  return MakeBound(function, std::move(arguments), DataType::Array(*element, contains_null), false, kernel, context);
}

// --- arrays_zip ---

Result<ColumnPtr> Zip(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  std::vector<ColumnPtr> lists;
  for (const auto& argument : input.arguments) lists.push_back(data::Flatten(argument));
  const int64_t length = input.rows.length;
  auto buffer = data::Buffer::AllocateZeroed((length + 1) * 4);
  auto* offsets = reinterpret_cast<int32_t*>(buffer->mutable_data());
  std::vector<std::vector<int32_t>> picks(lists.size());
  int32_t total = 0;
  int64_t next = 0;
  ForEachValid(input, [&](int64_t row) {
    while (next <= row) offsets[next++] = total;
    int32_t longest = 0;
    for (const auto& list : lists) longest = std::max(longest, RangeOf(*list, row).end - RangeOf(*list, row).begin);
    for (size_t l = 0; l < lists.size(); ++l) {
      const ListRange range = RangeOf(*lists[l], row);
      for (int32_t i = 0; i < longest; ++i) picks[l].push_back(range.begin + i < range.end ? range.begin + i : -1);
    }
    total += longest;
  });
  while (next <= length) offsets[next++] = total;
  Column::Parts entries;
  entries.type = call.type.element();
  entries.length = total;
  for (size_t l = 0; l < lists.size(); ++l) entries.children.push_back(data::Take(data::Flatten(lists[l]->child(0)), picks[l]));
  Column::Parts parts;
  parts.type = call.type;
  parts.length = length;
  parts.values = std::move(buffer);
  parts.children = {Column::Make(std::move(entries))};
  return Column::Make(std::move(parts));
}

Result<BoundCall> BindZip(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  std::vector<StructField> fields;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i]->type().Is(TypeKind::kArray)) return UnexpectedInputType(function.name, arguments, i, "\"ARRAY\"");
    std::string name = std::to_string(i);
    if (const auto* attribute = arguments[i]->As<Attribute>()) name = attribute->name();
    fields.push_back({name, arguments[i]->type().element(), true, "{}"});
  }
  return MakeBound(function, std::move(arguments), DataType::Array(DataType::Struct(std::move(fields)), false), false, &Zip,
                   context);
}

// --- maps ---

Status CheckKeys(const Column& keys, const std::vector<int32_t>& chosen, size_t first, ElementSet* seen) {
  seen->Clear();
  for (size_t i = first; i < chosen.size(); ++i) {
    if (keys.IsNull(chosen[i])) return Error("NULL_MAP_KEY");
    if (!seen->Insert(chosen[i])) {
      return Error("DUPLICATED_MAP_KEY")
          .With("key", data::ValueText(keys.GetValue(chosen[i]), keys.type()))
          .With("mapKeyDedupPolicy", "\"spark.sql.mapKeyDedupPolicy\"");
    }
  }
  return {};
}

/// A map column of entries chosen from key and value columns.
template <typename Pick>
Result<ColumnPtr> BuildMaps(const DataType& type, const KernelInput& input, const ColumnPtr& keys, const ColumnPtr& values,
                            Pick pick) {
  std::vector<int32_t> chosen;
  ElementSet seen(keys);
  DataType list = DataType::Array(type.key(), true);
  TW_ASSIGN_OR_RETURN(const ColumnPtr lists,
                      BuildLists(list, input, keys, [&](int64_t row, std::vector<int32_t>* out) -> Result<bool> {
                        const size_t first = out->size();
                        const bool present = pick(row, out);
                        TW_RETURN_NOT_OK(CheckKeys(*keys, *out, first, &seen));
                        chosen.insert(chosen.end(), out->begin() + static_cast<ptrdiff_t>(first), out->end());
                        return present;
                      }));
  Column::Parts parts = lists->parts();
  parts.type = type;
  parts.children = {lists->child(0), data::Take(values, chosen)};
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> ConcatMaps(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  std::vector<ColumnPtr> maps;
  std::vector<ColumnPtr> keys;
  std::vector<ColumnPtr> values;
  std::vector<int32_t> bases;
  int32_t base = 0;
  for (const auto& argument : input.arguments) {
    maps.push_back(data::Flatten(argument));
    keys.push_back(data::WithType(data::Flatten(maps.back()->child(0)), call.type.key()));
    values.push_back(data::WithType(data::Flatten(maps.back()->child(1)), call.type.value()));
    bases.push_back(base);
    base += static_cast<int32_t>(keys.back()->length());
  }
  return BuildMaps(call.type, input, data::Concat(keys), data::Concat(values), [&](int64_t row, std::vector<int32_t>* out) {
    for (size_t m = 0; m < maps.size(); ++m) {
      const ListRange range = RangeOf(*maps[m], row);
      for (int32_t i = range.begin; i < range.end; ++i) out->push_back(bases[m] + i);
    }
    return true;
  });
}

Result<BoundCall> BindConcatMaps(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, -1));
  std::vector<DataType> types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i]->type().Is(TypeKind::kMap)) {
      std::string listed;
      for (const auto& a : arguments) listed += (listed.empty() ? "" : " or ") + QuoteSql(a->type().Sql());
      return Error("DATATYPE_MISMATCH.MAP_CONCAT_DIFF_TYPES")
          .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
          .With("functionName", "`map_concat`")
          .With("dataType", "(" + listed + ")");
    }
    types.push_back(arguments[i]->type());
  }
  const auto type = WiderTypeOf(types, context.config.ansi);
  if (!type) return UnexpectedInputType(function.name, arguments, 1, QuoteSql(types[0].Sql()));
  for (auto& argument : arguments) argument = Coerce(argument, *type, context.config);
  return MakeBound(function, std::move(arguments), *type, false, &ConcatMaps, context);
}

Result<ColumnPtr> FromEntries(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  const ColumnPtr entries = data::Flatten(list->child(0));
  return BuildMaps(call.type, input, entries->child(0), entries->child(1), [&](int64_t row, std::vector<int32_t>* out) {
    const ListRange range = RangeOf(*list, row);
    for (int32_t i = range.begin; i < range.end; ++i) {
      if (entries->IsNull(i)) return false;
    }
    for (int32_t i = range.begin; i < range.end; ++i) out->push_back(i);
    return true;
  });
}

Result<BoundCall> BindFromEntries(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType type = arguments[0]->type();
  if (!type.Is(TypeKind::kArray) || !type.element().Is(TypeKind::kStruct) || type.element().fields().size() != 2) {
    return UnexpectedInputType(function.name, arguments, 0, "\"ARRAY\" of pair \"STRUCT\"");
  }
  const auto& fields = type.element().fields();
  return MakeBound(function, std::move(arguments), DataType::Map(fields[0].type, fields[1].type, fields[1].nullable),
                   type.contains_null(), &FromEntries, context);
}

// --- shuffle ---

struct ShuffleSeed final : BoundData {
  explicit ShuffleSeed(uint64_t s) : seed(s) {}
  uint64_t seed;
};

Result<ColumnPtr> Shuffle(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  Random random(static_cast<const ShuffleSeed&>(*call.data).seed + static_cast<uint64_t>(context.partition) * 7919 +
                static_cast<uint64_t>(context.row_base));
  return BuildLists(call.type, input, data::Flatten(list->child(0)), [&](int64_t row, std::vector<int32_t>* out) -> Result<bool> {
    const ListRange range = RangeOf(*list, row);
    const size_t first = out->size();
    for (int32_t i = range.begin; i < range.end; ++i) out->push_back(i);
    for (size_t i = out->size(); i > first + 1; --i) std::swap((*out)[i - 1], (*out)[first + random.NextBelow(i - first)]);
    return true;
  });
}

Result<BoundCall> BindShuffle(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  const DataType type = arguments[0]->type();
  if (!type.Is(TypeKind::kArray)) return UnexpectedInputType(function.name, arguments, 0, "\"ARRAY\"");
  uint64_t seed = OsRandomSeed();
  if (arguments.size() == 2) {
    TW_ASSIGN_OR_RETURN(const Value given, FoldArgumentAs(function.name, arguments, 1, "seed", DataType::Long(), context));
    if (!given.is_null()) seed = static_cast<uint64_t>(given.AsInt64());
  }
  return MakeBound(function, std::move(arguments), type, false, &Shuffle, context, std::make_shared<ShuffleSeed>(seed));
}

}  // namespace

void RegisterSetOperations(FunctionLists& lists) {
  static const ScalarFunction kAll[] = {
      {.name = "array_append", .since = "3.4.0", .doc = "The array with one more element.", .nulls = NullPolicy::kCustom, .bind = &BindAddElement},
      {.name = "array_prepend", .since = "3.5.0", .doc = "The array with one more element in front.", .nulls = NullPolicy::kCustom, .bind = &BindAddElement},
      {.name = "array_insert", .since = "3.4.0", .doc = "The array with one more element at a position.", .nulls = NullPolicy::kCustom, .bind = &BindInsert},
      {.name = "array_union", .since = "2.4.0", .doc = "Elements of either array, once each.", .bind = &BindSet},
      {.name = "array_intersect", .since = "2.4.0", .doc = "Elements of both arrays, once each.", .bind = &BindSet},
      {.name = "array_except", .since = "2.4.0", .doc = "Elements of the first array alone, once each.", .bind = &BindSet},
      {.name = "arrays_zip", .since = "2.4.0", .doc = "Structs of the arrays' n-th elements.", .bind = &BindZip},
      {.name = "map_concat", .since = "2.4.0", .doc = "The entries of several maps.", .bind = &BindConcatMaps},
      {.name = "map_from_entries", .since = "2.4.0", .doc = "A map of an array of pairs.", .bind = &BindFromEntries},
      {.name = "shuffle", .since = "2.4.0", .doc = "The array in random order.", .bind = &BindShuffle, .deterministic = false},
  };
  for (const auto& function : kAll) lists.Add(function);
}

}  // namespace thalweg::sql
