#include <nlohmann/json.hpp>

#include "connectors/rate/rate_rows.h"
#include "base/cores.h"
#include "connectors/rate/rate_source.h"

namespace thalweg::connectors {
namespace {

struct Options {
  int64_t rows_per_batch = 0;
  int64_t partitions = 1;
  int64_t start_ms = 0;
  int64_t advance_ms = 1000;
};

struct Position {
  int64_t value = 0;  ///< the next row
  int64_t timestamp_ms = 0;
  sql::Offset ToOffset() const {
    return {"{\"offset\":" + std::to_string(value) +
            ",\"timestamp\":" + std::to_string(timestamp_ms) + "}"};
  }
};

Result<Position> ParsePosition(std::string_view json) {
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  const bool good = parsed.is_object() && parsed.contains("offset") &&
                    parsed["offset"].is_number_integer() && parsed.contains("timestamp") &&
                    parsed["timestamp"].is_number_integer();
  if (!good)
    return Error("MALFORMED_LOG_ENTRY")
        .With("place", "offset of a rate-micro-batch source")
        .With("reason", std::string(json));
  return Position{parsed["offset"].get<int64_t>(), parsed["timestamp"].get<int64_t>()};
}

class RateMicroBatchStream final : public sql::MicroBatchStream {
 public:
  explicit RateMicroBatchStream(Options options) : options_(options) {}

  Result<sql::Offset> InitialOffset() override { return Position{0, options_.start_ms}.ToOffset(); }
  Result<std::optional<sql::Offset>> LatestOffset(const sql::Offset& start,
                                                  const std::vector<sql::ReadLimit>&) override {
    TW_ASSIGN_OR_RETURN(Position position, ParsePosition(start.json));
    if (available_now_ && taken_) return std::optional<sql::Offset>{};
    taken_ = true;
    position.value += options_.rows_per_batch;
    position.timestamp_ms += options_.advance_ms;
    return std::optional<sql::Offset>(position.ToOffset());
  }
  Status PrepareForTriggerAvailableNow() override {
    available_now_ = true;
    return Status::OK();
  }
  Result<sql::Offset> DeserializeOffset(std::string_view json) override {
    TW_ASSIGN_OR_RETURN(const Position position, ParsePosition(json));
    return position.ToOffset();
  }
  Result<std::vector<sql::InputSplitPtr>> PlanSplits(const sql::Offset& start,
                                                     const sql::Offset& end,
                                                     const sql::ScanRequest& scan) override {
    TW_ASSIGN_OR_RETURN(const Position from, ParsePosition(start.json));
    TW_ASSIGN_OR_RETURN(const Position to, ParsePosition(end.json));
    RateRows rows;
    rows.first = rows.origin = from.value;
    rows.end = to.value;
    rows.base_us = from.timestamp_ms * 1000;
    return PlanRateSplits(rows, options_.partitions, scan.columns);
  }
  Status Commit(const sql::Offset&) override { return Status::OK(); }
  std::string Description() const override {
    return "RatePerMicroBatchStream[rowsPerBatch=" + std::to_string(options_.rows_per_batch) +
           ", numPartitions=" + std::to_string(options_.partitions) +
           ", startTimestamp=" + std::to_string(options_.start_ms) +
           ", advanceMsPerBatch=" + std::to_string(options_.advance_ms) + "]";
  }
  void Stop() override {}

 private:
  const Options options_;
  bool available_now_ = false;
  bool taken_ = false;  // AvailableNow is one batch
};

class RateMicroBatchTable final : public sql::Table {
 public:
  explicit RateMicroBatchTable(Options options) : options_(options) {}
  std::string name() const override { return "rate-micro-batch"; }
  data::Schema schema() const override { return RateSchema(); }
  sql::TableCapabilities capabilities() const override { return {.micro_batch_read = true}; }
  Result<std::unique_ptr<sql::MicroBatchStream>> NewMicroBatchStream(
      const sql::StreamContext&) override {
    return std::unique_ptr<sql::MicroBatchStream>(std::make_unique<RateMicroBatchStream>(options_));
  }

 private:
  const Options options_;
};

class RateMicroBatchDataSource final : public sql::DataSource {
 public:
  std::string short_name() const override { return "rate-micro-batch"; }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    if (request.schema && !request.for_write)
      return Error("_LEGACY_ERROR_TEMP_2242").With("provider", "RatePerMicroBatchProvider");
    Options options;
    const int64_t cores = AvailableCores();
    TW_ASSIGN_OR_RETURN(options.rows_per_batch,
                        RateOption(request.options, "rowsPerBatch", 0, 1, "must be positive"));
    TW_ASSIGN_OR_RETURN(options.partitions,
                        RateOption(request.options, "numPartitions", cores, 1, "must be positive"));
    TW_ASSIGN_OR_RETURN(options.start_ms, RateOption(request.options, "startTimestamp", 0, 0,
                                                     "must be non-negative"));
    TW_ASSIGN_OR_RETURN(options.advance_ms, RateOption(request.options, "advanceMillisPerBatch",
                                                       1000, 0, "must be non-negative"));
    return sql::TablePtr(std::make_shared<RateMicroBatchTable>(options));
  }
};

}  // namespace

std::shared_ptr<const sql::DataSource> MakeRateMicroBatchDataSource() {
  return std::make_shared<RateMicroBatchDataSource>();
}

}  // namespace thalweg::connectors
