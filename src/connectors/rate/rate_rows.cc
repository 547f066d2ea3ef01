#include "connectors/rate/rate_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "data/columnar/builder.h"

namespace thalweg::connectors {
namespace {

class RateReader final : public sql::PartitionReader {
 public:
  RateReader(RateRows rows, std::vector<std::string> columns)
      : rows_(rows), columns_(std::move(columns)) {}

  Result<sql::ReadStep> Next() override {
    if (rows_.first >= rows_.end) return sql::ReadStep(sql::ReadEnd{});
    const int64_t left = (rows_.end - rows_.first + rows_.stride - 1) / rows_.stride;
    const int64_t count = std::min(left, data::kChunkRows);
    std::vector<data::ColumnPtr> made;
    for (const std::string& column : columns_) {
      const bool value = column == "value";
      data::FixedBuilder<int64_t> builder(value ? data::DataType::Long()
                                                : data::DataType::Timestamp());
      builder.Reserve(count);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = rows_.first + i * rows_.stride;
        builder.Append(value ? row : TimestampOf(row));
      }
      made.push_back(builder.Finish());
    }
    rows_.first += count * rows_.stride;
    return sql::ReadStep(sql::ReadChunk{data::Chunk(std::move(made), count)});
  }

 private:
  int64_t TimestampOf(int64_t value) const {
    const double relative_ms =
        static_cast<double>(value - rows_.origin) *
        (static_cast<double>(rows_.span_ms) / static_cast<double>(rows_.rows));
    return rows_.base_us + static_cast<int64_t>(std::floor(relative_ms + 0.5)) * 1000;
  }

  RateRows rows_;
  std::vector<std::string> columns_;
};

class RateSplit final : public sql::InputSplit {
 public:
  RateSplit(RateRows rows, std::vector<std::string> columns)
      : rows_(rows), columns_(std::move(columns)) {}
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<RateReader>(rows_, columns_));
  }
  std::string Describe() const override {
    return "rate " + std::to_string(rows_.first) + ".." + std::to_string(rows_.end);
  }

 private:
  RateRows rows_;
  std::vector<std::string> columns_;
};

}  // namespace

data::Schema RateSchema() {
  return {{"timestamp", data::DataType::Timestamp()}, {"value", data::DataType::Long()}};
}

Result<int64_t> RateOption(const sql::OptionMap& options, std::string_view name, int64_t otherwise,
                           int64_t least, std::string_view complaint) {
  const std::optional<std::string> text = options.Get(name);
  int64_t value = otherwise;
  if (text) {
    const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text->data() + text->size()) value = least - 1;
  }
  if (value < least) {
    return Error("INVALID_RATE_OPTION")
        .With("value", text.value_or(std::to_string(otherwise)))
        .With("option", name)
        .With("reason", complaint);
  }
  return value;
}

std::vector<sql::InputSplitPtr> PlanRateSplits(const RateRows& all, int64_t partitions,
                                               const std::vector<std::string>& columns) {
  std::vector<sql::InputSplitPtr> splits;
  for (int64_t partition = 0; partition < partitions && all.first + partition < all.end;
       ++partition) {
    RateRows own = all;
    own.first += partition;
    own.stride = partitions;
    splits.push_back(std::make_shared<RateSplit>(own, columns));
  }
  return splits;
}

}  // namespace thalweg::connectors
