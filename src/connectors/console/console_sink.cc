#include "connectors/console/console_sink.h"

#include <algorithm>
#include <charconv>

#include "base/string_case.h"
#include "engine/exec/operators/show_string.h"

namespace thalweg::connectors {
namespace {

constexpr int kDefaultWidth = 20;

class ConsoleSink final : public sql::BatchSink {
 public:
  ConsoleSink(engine::ShowStringParams format, std::string time_zone,
              std::function<void(std::string_view)> print)
      : format_(std::move(format)), time_zone_(std::move(time_zone)), print_(std::move(print)) {}

  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kAtLeastOnce; }
  Status AddBatch(BatchId epoch, std::shared_ptr<const sql::BatchRelation> rows) override {
    static constexpr std::string_view kRule = "-------------------------------------------\n";
    std::vector<data::Chunk> shown;
    int64_t left = int64_t{format_.num_rows} + 1;  // one more tells that there are more
    for (const data::Chunk& chunk : rows->chunks()) {
      if (left <= 0) break;
      shown.push_back(chunk.num_rows() > left ? chunk.Slice(0, left).Dense() : chunk.Dense());
      left -= shown.back().num_rows();
    }
    std::string text;
    text += kRule;
    text += "Batch: " + std::to_string(epoch.value()) + "\n";
    text += kRule;
    text += engine::FormatRows(format_, shown, time_zone_) + "\n";
    print_(text);
    return Status::OK();
  }
  std::string Description() const override {
    const bool truncated = format_.truncate > 0;
    return "ConsoleTable[numRows=" + std::to_string(format_.num_rows) +
           ", truncate=" + (truncated ? "true" : "false") + "]";
  }

 private:
  const engine::ShowStringParams format_;
  const std::string time_zone_;
  const std::function<void(std::string_view)> print_;
};

class ConsoleTable final : public sql::Table {
 public:
  explicit ConsoleTable(std::function<void(std::string_view)> print) : print_(std::move(print)) {}
  std::string name() const override { return "console"; }
  data::Schema schema() const override { return {}; }
  sql::TableCapabilities capabilities() const override { return {.streaming_write = true}; }

  Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>>
  NewStreamingWrite(const sql::StreamWriteRequest& request) override {
    engine::ShowStringParams format;
    for (const data::StructField& field : request.schema) {
      format.names.push_back(field.name);
      format.types.push_back(field.type);
    }
    TW_ASSIGN_OR_RETURN(const int64_t num_rows, request.options.GetInt("numRows", 20));
    format.num_rows = static_cast<int>(std::clamp<int64_t>(num_rows, 0, 1 << 20));
    TW_ASSIGN_OR_RETURN(format.truncate, Width(request.options.Get("truncate").value_or("true")));
    std::unique_ptr<sql::BatchSink> sink =
        std::make_unique<ConsoleSink>(std::move(format), request.config->time_zone, print_);
    return std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>(
        std::move(sink));
  }

 private:
  static Result<int> Width(const std::string& text) {
    if (EqualsIgnoreCase(text, "true")) return kDefaultWidth;
    if (EqualsIgnoreCase(text, "false")) return 0;
    int width = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), width);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || width < 0) {
      return Error("INVALID_OPTION_VALUE")
          .With("option", "truncate")
          .With("value", text)
          .With("expected", "true, false or a width");
    }
    return width;
  }

  const std::function<void(std::string_view)> print_;
};

class ConsoleDataSource final : public sql::DataSource {
 public:
  explicit ConsoleDataSource(std::function<void(std::string_view)> print)
      : print_(std::move(print)) {}
  std::string short_name() const override { return "console"; }
  Result<sql::TablePtr> Load(const sql::LoadRequest&) const override {
    return sql::TablePtr(std::make_shared<ConsoleTable>(print_));
  }

 private:
  const std::function<void(std::string_view)> print_;
};

}  // namespace

std::shared_ptr<const sql::DataSource> MakeConsoleDataSource(
    const sql::ConnectorServices& services) {
  return std::make_shared<ConsoleDataSource>(services.console);
}

}  // namespace thalweg::connectors
