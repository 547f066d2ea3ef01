#include "connectors/rate/rate_source.h"

#include <charconv>

#include "base/cores.h"
#include "connectors/rate/rate_rows.h"
#include "data/io/path.h"
#include "data/logs/log_text.h"
#include "data/logs/numbered_log.h"

namespace thalweg::connectors {
namespace {

struct RateOptions {
  int64_t rows_per_second = 1;
  int64_t ramp_up_seconds = 0;
  int64_t partitions = 1;
};

Result<int64_t> ParseSecond(std::string_view json) {
  int64_t second = 0;
  const auto parsed = std::from_chars(json.data(), json.data() + json.size(), second);
  if (parsed.ec != std::errc{} || parsed.ptr != json.data() + json.size()) {
    return Error("MALFORMED_LOG_ENTRY")
        .With("place", "offset of a rate source")
        .With("reason", "not a whole number: " + std::string(json));
  }
  return second;
}

class RateStream final : public sql::MicroBatchStream {
 public:
  RateStream(RateOptions options, Clock& clock, int64_t creation_ms)
      : options_(options), clock_(clock), creation_ms_(creation_ms) {}

  Result<sql::Offset> InitialOffset() override { return sql::Offset{"0"}; }
  Result<std::optional<sql::Offset>> LatestOffset(const sql::Offset&,
                                                  const std::vector<sql::ReadLimit>&) override {
    return Now();
  }
  Result<std::optional<sql::Offset>> ReportLatestOffset() override { return Now(); }
  bool supports_available_now() const override { return false; }
  std::chrono::milliseconds poll_interval() const override {
    const int64_t into_second_ms = (clock_.NowMillis() - creation_ms_) % 1000;
    return std::chrono::milliseconds(into_second_ms < 0 ? 10 : 1000 - into_second_ms);
  }
  Result<sql::Offset> DeserializeOffset(std::string_view json) override {
    TW_ASSIGN_OR_RETURN(const int64_t second, ParseSecond(json));
    return sql::Offset{std::to_string(second)};
  }
  Result<std::vector<sql::InputSplitPtr>> PlanSplits(const sql::Offset& start,
                                                     const sql::Offset& end,
                                                     const sql::ScanRequest& scan) override {
    TW_ASSIGN_OR_RETURN(const int64_t start_second, ParseSecond(start.json));
    TW_ASSIGN_OR_RETURN(const int64_t end_second, ParseSecond(end.json));
    RateRows rows;
    TW_ASSIGN_OR_RETURN(rows.first, ValueAt(start_second));
    TW_ASSIGN_OR_RETURN(rows.end, ValueAt(end_second));
    if (rows.first >= rows.end) return std::vector<sql::InputSplitPtr>{};
    rows.base_us = (creation_ms_ + start_second * 1000) * 1000;
    rows.origin = rows.first;
    rows.span_ms = (end_second - start_second) * 1000;
    rows.rows = rows.end - rows.first;
    return PlanRateSplits(rows, options_.partitions, scan.columns);
  }
  Status Commit(const sql::Offset&) override { return Status::OK(); }
  std::string Description() const override {  // the missing bracket is Spark's
    return "RateStreamV2[rowsPerSecond=" + std::to_string(options_.rows_per_second) +
           ", rampUpTimeSeconds=" + std::to_string(options_.ramp_up_seconds) +
           ", numPartitions=" + std::to_string(options_.partitions);
  }
  void Stop() override {}

 private:
  /// Whole seconds since the query was created; never back, whatever the clock does.
  std::optional<sql::Offset> Now() {
    last_second_ = std::max(last_second_, (clock_.NowMillis() - creation_ms_) / 1000);
    return sql::Offset{std::to_string(last_second_)};
  }

  /// How many rows exist by a second.
  Result<int64_t> ValueAt(int64_t second) const {
    int64_t value = 0;
    const int64_t ramp = options_.ramp_up_seconds;
    const auto overflow = [&] {
      return Error("INCORRECT_RAMP_UP_RATE")
          .With("rowsPerSecond", options_.rows_per_second)
          .With("maxSeconds", second)
          .With("rampUpTimeSeconds", ramp);
    };
    if (ramp == 0) {
      if (__builtin_mul_overflow(options_.rows_per_second, second, &value)) return overflow();
      return value;
    }
    const int64_t delta = options_.rows_per_second / (ramp + 1);
    const int64_t ramped = std::min(second, ramp);
    int64_t steps = 0, rest = 0;
    if (__builtin_mul_overflow(ramped, ramped + 1, &steps) ||
        __builtin_mul_overflow(delta, steps / 2, &value))
      return overflow();
    if (second <= ramp) return value;
    if (__builtin_mul_overflow(second - ramp, options_.rows_per_second, &rest) ||
        __builtin_add_overflow(value, rest, &value))
      return overflow();
    return value;
  }

  const RateOptions options_;
  Clock& clock_;
  const int64_t creation_ms_;
  int64_t last_second_ = 0;
};

class RateTable final : public sql::Table {
 public:
  RateTable(RateOptions options, const sql::ConnectorServices& services)
      : options_(options), services_(services) {}
  std::string name() const override { return "rate"; }
  data::Schema schema() const override { return RateSchema(); }
  sql::TableCapabilities capabilities() const override { return {.micro_batch_read = true}; }

  Result<std::unique_ptr<sql::MicroBatchStream>> NewMicroBatchStream(
      const sql::StreamContext& context) override {
    data::NumberedLog log(*services_.file_system, context.metadata_path);
    TW_ASSIGN_OR_RETURN(std::optional<std::string> entry, log.Get(0));
    if (!entry) {
      const std::string made = "v1\n" + std::to_string(services_.clock->NowMillis());
      TW_RETURN_NOT_OK(log.Add(0, made).status());
      TW_ASSIGN_OR_RETURN(entry, log.Get(0));
    }
    const std::vector<std::string_view> lines = data::SplitLogLines(*entry);
    if (lines.size() != 2)
      return data::MalformedLogEntry("sources/" + std::to_string(context.source_index) + "/0",
                                     "two lines expected");
    TW_RETURN_NOT_OK(data::ParseLogVersion(lines[0], 1).status());
    TW_ASSIGN_OR_RETURN(const int64_t creation_ms, ParseSecond(lines[1]));
    return std::unique_ptr<sql::MicroBatchStream>(
        std::make_unique<RateStream>(options_, *services_.clock, creation_ms));
  }

 private:
  const RateOptions options_;
  const sql::ConnectorServices services_;
};

int64_t DefaultPartitions() { return AvailableCores(); }

class RateDataSource final : public sql::DataSource {
 public:
  explicit RateDataSource(const sql::ConnectorServices& services) : services_(services) {}
  std::string short_name() const override { return "rate"; }
  std::vector<std::string> aliases() const override { return {"ratesource"}; }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    if (request.schema && !request.for_write)
      return Error("_LEGACY_ERROR_TEMP_2242").With("provider", "RateStreamProvider");
    RateOptions options;
    TW_ASSIGN_OR_RETURN(options.rows_per_second,
                        RateOption(request.options, "rowsPerSecond", 1, 1, "must be positive"));
    TW_ASSIGN_OR_RETURN(options.partitions, RateOption(request.options, "numPartitions",
                                                       DefaultPartitions(), 1, "must be positive"));
    const std::string ramp = request.options.Get("rampUpTime").value_or("0");
    TW_ASSIGN_OR_RETURN(options.ramp_up_seconds, Seconds(ramp));
    return sql::TablePtr(std::make_shared<RateTable>(options, services_));
  }

 private:
  /// "5s", "2min", or a bare number of seconds.
  static Result<int64_t> Seconds(const std::string& text) {
    const auto refused = [&] {
      return Error("INVALID_RATE_OPTION")
          .With("value", text)
          .With("option", "rampUpTime")
          .With("reason", "must not be negative");
    };
    int64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{} || number < 0) return refused();
    const std::string_view unit =
        std::string_view(parsed.ptr, text.data() + text.size() - parsed.ptr);
    if (unit.empty() || unit == "s") return number;
    if (unit == "ms") return number / 1000;
    if (unit == "us") return number / 1000000;
    if (unit == "m" || unit == "min") return number * 60;
    if (unit == "h") return number * 3600;
    if (unit == "d") return number * 86400;
    return refused();
  }

  const sql::ConnectorServices services_;
};

}  // namespace

std::shared_ptr<const sql::DataSource> MakeRateDataSource(const sql::ConnectorServices& services) {
  return std::make_shared<RateDataSource>(services);
}

}  // namespace thalweg::connectors
