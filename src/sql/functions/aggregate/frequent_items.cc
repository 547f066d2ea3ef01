// collect_frequent_items(value, size): what DataFrame.freqItems is made of. At most `size` values are counted; one more takes the
// least count from all. Every value that makes up more than 1/size of the rows is among them. Source: Karp, Schenker and
// Papadimitriou 2003; Spark's CollectFrequentItems. Buffer: as percentile's.

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "data/columnar/builder.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "sql/expr/fold_argument.h"
#include "sql/functions/aggregate/accumulate.h"

namespace thalweg::sql {
namespace {

struct FrequentItemsData final : BoundData {
  size_t size = 0;
};

/// Counts by value. The order in which values came is that of the result.
class Items {
 public:
  struct Item {
    int64_t count = 0;
    int64_t place = 0;
  };
  using Entry = std::pair<const std::string, Item>;

  /// A value that finds no room costs a pass over all, which as many rows have paid for: each count that goes was a row.
  void Add(size_t size, std::string_view value, int64_t count) {
    if (const auto known = items_.find(value); known != items_.end()) {
      known->second.count += count;
      return;
    }
    items_.emplace(std::string(value), Item{count, next_place_++});
    value_bytes_ += static_cast<int64_t>(value.size());
    if (items_.size() > size) Cancel();
  }
  std::vector<const Entry*> InOrder() const {
    std::vector<const Entry*> entries;
    for (const Entry& entry : items_) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) { return a->second.place < b->second.place; });
    return entries;
  }
  int64_t owned_bytes() const {
    constexpr int64_t kFixedBytes = 96;  // of one value: with what a map keeps beside it
    return static_cast<int64_t>(items_.size()) * kFixedBytes + value_bytes_;
  }

 private:
  /// Takes the least count from all; whose count is nothing then goes.
  void Cancel() {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const auto& [value, item] : items_) least = std::min(least, item.count);
    for (auto& [value, item] : items_) item.count -= least;
    std::erase_if(items_, [&](const Entry& entry) {
      if (entry.second.count > 0) return false;
      value_bytes_ -= static_cast<int64_t>(entry.first.size());
      return true;
    });
  }

  struct HashOfText {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  std::unordered_map<std::string, Item, HashOfText, std::equal_to<>> items_;
  int64_t next_place_ = 0;
  int64_t value_bytes_ = 0;
};

Items& ItemsOf(uint8_t* accumulator) {
  auto*& items = As<Items*>(accumulator);
  if (items == nullptr) items = new Items();
  return *items;
}

size_t SizeOf(const BoundAggregate& call) { return static_cast<const FrequentItemsData&>(*call.data).size; }

Status UpdateItems(const BoundAggregate& call, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators, EvalContext&) {
  const ColumnPtr column = data::Flatten(arguments[0]);
  data::RowBatch keys;
  TW_RETURN_NOT_OK(data::UnsafeRowWriter({column->type()}, {.normalize_zero = true}).Write(std::span(&column, 1), rows, nullptr, &keys));
  for (int64_t row = 0; row < rows; ++row) ItemsOf(accumulators[row]).Add(SizeOf(call), keys.row(row), 1);
  return {};
}

void AppendNumber(int64_t value, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(static_cast<uint64_t>(value) >> shift));
}

bool TakeNumber(std::string_view* text, int64_t* value) {
  if (text->size() < 8) return false;
  uint64_t bits = 0;
  for (size_t i = 0; i < 8; ++i) bits = bits << 8 | static_cast<unsigned char>((*text)[i]);
  *value = static_cast<int64_t>(bits);
  text->remove_prefix(8);
  return true;
}

Status ExportItems(const BoundAggregate&, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  TextOutput bytes(DataType::Binary(), static_cast<int64_t>(accumulators.size()));
  std::string text;
  for (size_t i = 0; i < accumulators.size(); ++i) {
    text.clear();
    if (const auto* items = As<Items*>(accumulators[i])) {
      for (const Items::Entry* entry : items->InOrder()) {
        AppendNumber(static_cast<int64_t>(entry->first.size()), &text);
        text += entry->first;
        AppendNumber(entry->second.count, &text);
      }
    }
    bytes.Set(static_cast<int64_t>(i), text);
  }
  out->push_back(bytes.Finish());
  return {};
}

Status MergeItems(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators, EvalContext&) {
  const Reader<std::string_view> texts(*buffers[0]);
  for (int64_t row = 0; row < rows; ++row) {
    if (buffers[0]->IsNull(row)) continue;
    std::string_view text = texts[row];
    while (!text.empty()) {
      int64_t size = 0, count = 0;
      if (!TakeNumber(&text, &size) || size < 0 || static_cast<size_t>(size) > text.size()) {
        return Error("MALFORMED_STATE_ROW").With("reason", "a list of frequent items ends early");
      }
      const std::string_view key = text.substr(0, static_cast<size_t>(size));
      text.remove_prefix(static_cast<size_t>(size));
      if (!TakeNumber(&text, &count)) return Error("MALFORMED_STATE_ROW").With("reason", "a list of frequent items ends early");
      ItemsOf(accumulators[row]).Add(SizeOf(call), key, count);
    }
  }
  return {};
}

void DestroyItems(const BoundAggregate&, uint8_t* accumulator) {
  auto*& items = As<Items*>(accumulator);
  delete items;
  items = nullptr;
}

Status ImportItems(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) DestroyItems(call, accumulators[row]);
  EvalContext context;
  return MergeItems(call, buffers, rows, accumulators, context);
}

int64_t OwnedItems(const BoundAggregate&, const uint8_t* accumulator) {
  const auto* items = As<Items*>(accumulator);
  return items == nullptr ? 0 : items->owned_bytes();
}

Result<ColumnPtr> FinishItems(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  auto builder = data::ColumnBuilder::Make(call.type);
  const data::UnsafeRowReader reader({call.argument_types[0]});
  for (const uint8_t* accumulator : accumulators) {
    const auto* items = As<Items*>(accumulator);
    std::vector<std::string_view> keys;
    if (items != nullptr) {
      for (const Items::Entry* entry : items->InOrder()) keys.push_back(entry->first);
    }
    if (!keys.empty()) {
      TW_ASSIGN_OR_RETURN(const std::vector<ColumnPtr> columns, reader.Read(keys));
      for (int64_t row = 0; row < columns[0]->length(); ++row) builder->child(0)->AppendFrom(*columns[0], row);
    }
    builder->AppendList();
  }
  return builder->Finish();
}

constexpr AggregateKernels kKernels{.size = sizeof(void*), .update = &UpdateItems, .merge = &MergeItems, .export_buffers = &ExportItems,
                                    .import_buffers = &ImportItems, .finish = &FinishItems, .destroy = &DestroyItems,
                                    .owned_bytes = &OwnedItems};

Result<BoundAggregateCall> BindFrequentItems(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_ASSIGN_OR_RETURN(const Value size, FoldArgumentAs(function.name, arguments, 1, "size", DataType::Integer(), context));
  auto data = std::make_shared<FrequentItemsData>();
  data->size = size.is_null() || size.get<int32_t>() < 1 ? 1 : static_cast<size_t>(size.get<int32_t>());
  const DataType type = DataType::Array(arguments[0]->type(), true);
  return MakeAggregate(function, std::move(arguments), type, false, {{"buf", DataType::Binary(), true}}, &kKernels,
                       AggregateMode(function, context), std::move(data));
}

}  // namespace

void RegisterFrequentItems(FunctionLists& lists) {
  static const AggregateFunction kFrequentItems{.name = "collect_frequent_items", .since = "4.0.0",
                                                .doc = "Candidates for the most frequent values; DataFrame.freqItems.",
                                                .bind = &BindFrequentItems, .ignores_order = false, .spark_buffer = false};
  lists.Add(kFrequentItems);
}

}  // namespace thalweg::sql
