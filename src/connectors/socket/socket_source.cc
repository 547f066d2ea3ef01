#include "connectors/socket/socket_source.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <deque>

#include "base/cores.h"
#include "base/mutex.h"
#include "base/string_case.h"
#include "base/thread.h"
#include "data/columnar/builder.h"
#include "data/text/utf8.h"

namespace thalweg::connectors {
namespace {

constexpr size_t kMaxLineBytes = 16 << 20;
/// Beyond so many bytes of waiting lines nothing is read: the sender has to wait then.
constexpr int64_t kMaxWaitingBytes = 256 << 20;

struct Options {
  std::string host, port;
  bool include_timestamp = false;
};

data::Schema SocketSchema(bool include_timestamp) {
  data::Schema schema{{"value", data::DataType::String()}};
  if (include_timestamp) schema.push_back({"timestamp", data::DataType::Timestamp()});
  return schema;
}

struct Line {
  std::string text;
  int64_t arrival_us = 0;
};

class LinesSplit final : public sql::InputSplit {
 public:
  LinesSplit(std::vector<Line> lines, std::vector<std::string> columns)
      : lines_(std::move(lines)), columns_(std::move(columns)) {}

  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    class Reader final : public sql::PartitionReader {
     public:
      explicit Reader(data::Chunk chunk) : chunk_(std::move(chunk)) {}
      Result<sql::ReadStep> Next() override {
        if (done_) return sql::ReadStep(sql::ReadEnd{});
        done_ = true;
        return sql::ReadStep(sql::ReadChunk{std::move(chunk_)});
      }

     private:
      data::Chunk chunk_;
      bool done_ = false;
    };
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<Reader>(MakeChunk()));
  }
  std::string Describe() const override { return "socket lines"; }

 private:
  data::Chunk MakeChunk() const {
    std::vector<data::ColumnPtr> made;
    for (const std::string& column : columns_) {
      if (column == "value") {
        data::TextBuilder builder(data::DataType::String());
        for (const Line& line : lines_) builder.Append(line.text);
        made.push_back(builder.Finish());
      } else {
        data::FixedBuilder<int64_t> builder(data::DataType::Timestamp());
        for (const Line& line : lines_) builder.Append(line.arrival_us);
        made.push_back(builder.Finish());
      }
    }
    return data::Chunk(std::move(made), static_cast<int64_t>(lines_.size()));
  }

  std::vector<Line> lines_;
  std::vector<std::string> columns_;
};

/// Owns the connection and the lines that no committed batch has taken. Thread: the stream's calls
/// come from the driver, lines from an own thread that ends with the object.
class SocketStream final : public sql::MicroBatchStream {
 public:
  static Result<std::unique_ptr<sql::MicroBatchStream>> Connect(
      const Options& options, Clock& clock, std::function<void()> on_more_data) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failure = getaddrinfo(options.host.c_str(), options.port.c_str(), &hints, &found);
    const std::string where = options.host + ":" + options.port;
    if (failure != 0)
      return Error("IO_ERROR")
          .With("attempted", "resolve " + where)
          .With("error", gai_strerror(failure))
          .Kind(ErrorKind::kEnvironment);
    int error = ECONNREFUSED, fd = -1;
    for (const addrinfo* address = found; address != nullptr && fd < 0;
         address = address->ai_next) {
      fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
      if (fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) == 0) break;
      error = errno;
      if (fd >= 0) close(fd);
      fd = -1;
    }
    freeaddrinfo(found);
    if (fd < 0) return IoError("connect to " + where, error);
    return std::unique_ptr<sql::MicroBatchStream>(
        std::make_unique<SocketStream>(options, clock, std::move(on_more_data), fd));
  }

  SocketStream(const Options& options, Clock& clock, std::function<void()> on_more_data, int fd)
      : options_(options),
        clock_(clock),
        on_more_data_(std::move(on_more_data)),
        fd_(fd),
        wake_fd_(eventfd(0, EFD_CLOEXEC)) {
    thread_ = StartThread(
        "socket source", [this](std::stop_token stop) { Receive(stop); },
        [this](const Status& exception) {
          {
            const MutexLock lock(mutex_);
            failure_ = exception;
          }
          on_more_data_();  // the next turn finds out
        });
  }
  ~SocketStream() override {
    Stop();
    close(fd_);
    close(wake_fd_);
  }

  Result<sql::Offset> InitialOffset() override { return sql::Offset{"-1"}; }
  Result<std::optional<sql::Offset>> LatestOffset(const sql::Offset&,
                                                  const std::vector<sql::ReadLimit>&) override {
    return Latest();
  }
  Result<std::optional<sql::Offset>> ReportLatestOffset() override { return Latest(); }
  std::chrono::milliseconds poll_interval() const override { return std::chrono::milliseconds(0); }
  bool supports_available_now() const override { return false; }

  Result<std::vector<sql::InputSplitPtr>> PlanSplits(const sql::Offset& start,
                                                     const sql::Offset& end,
                                                     const sql::ScanRequest& scan) override {
    TW_ASSIGN_OR_RETURN(const int64_t from, Index(start));
    TW_ASSIGN_OR_RETURN(const int64_t to, Index(end));
    std::vector<Line> lines;
    {
      const MutexLock lock(mutex_);
      // Offsets of a checkpoint may lie anywhere: only the lines that are there are gone through.
      const int64_t last = std::min(to, first_index_ + static_cast<int64_t>(lines_.size()) - 1);
      for (int64_t i = std::max(std::min(from, last) + 1, first_index_); i <= last; ++i) lines.push_back(lines_[i - first_index_]);
    }
    const size_t tasks = std::min<size_t>(AvailableCores(),
                                          std::max<size_t>(lines.size(), 1));
    std::vector<std::vector<Line>> parts(tasks);
    for (size_t i = 0; i < lines.size(); ++i) parts[i % tasks].push_back(std::move(lines[i]));
    std::vector<sql::InputSplitPtr> splits;
    for (std::vector<Line>& part : parts) {
      if (!part.empty())
        splits.push_back(std::make_shared<LinesSplit>(std::move(part), scan.columns));
    }
    return splits;
  }

  Status Commit(const sql::Offset& end) override {
    TW_ASSIGN_OR_RETURN(const int64_t index, Index(end));
    const MutexLock lock(mutex_);
    while (!lines_.empty() && first_index_ <= index) {
      waiting_bytes_ -= BytesOf(lines_.front());
      lines_.pop_front();
      ++first_index_;
    }
    return Status::OK();
  }
  std::string Description() const override {
    return "TextSocketV2[host: " + options_.host + ", port: " + options_.port + "]";
  }
  void Stop() override {
    thread_.request_stop();
    const uint64_t one = 1;
    if (write(wake_fd_, &one, sizeof(one)) < 0) return;  // the poll ends by its time-out
    if (thread_.joinable()) thread_.join();
  }

 private:
  static Result<int64_t> Index(const sql::Offset& offset) {
    int64_t index = 0;
    const char* end = offset.json.data() + offset.json.size();
    const auto parsed = std::from_chars(offset.json.data(), end, index);
    if (parsed.ec != std::errc{} || parsed.ptr != end)
      return Error("MALFORMED_LOG_ENTRY")
          .With("place", "offset of a socket source")
          .With("reason", offset.json);
    return index;
  }

  Result<std::optional<sql::Offset>> Latest() const {
    const MutexLock lock(mutex_);
    if (!failure_.ok()) return failure_;  // lines may be missing from here on
    return std::optional<sql::Offset>(sql::Offset{std::to_string(first_index_ + static_cast<int64_t>(lines_.size()) - 1)});
  }

  void Receive(const std::stop_token& stop) {
    std::string buffer;
    std::vector<char> block(64 << 10);
    while (!stop.stop_requested()) {
      const bool full = IsFull();
      pollfd waits[2] = {{full ? -1 : fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
      if (poll(waits, 2, full ? 20 : 1000) < 0 && errno != EINTR) return;
      if ((waits[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      const ssize_t count = recv(fd_, block.data(), block.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count > 0) buffer.append(block.data(), count);
      const bool ended = count <= 0;
      if (ended && !buffer.empty()) buffer.push_back('\n');  // the last line needs no end
      if (TakeLines(&buffer)) on_more_data_();
      if (ended) return;
    }
  }

  /// Moves whole lines out of the buffer; true when there were any.
  bool TakeLines(std::string* buffer) {
    std::vector<Line> fresh;
    const int64_t now_us = clock_.NowMicros();
    size_t begin = 0;
    for (size_t end = buffer->find('\n'); end != std::string::npos;
         end = buffer->find('\n', begin)) {
      std::string_view line(buffer->data() + begin, end - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      Line entry{{}, now_us};
      data::AppendValidUtf8(line, &entry.text);
      fresh.push_back(std::move(entry));
      begin = end + 1;
    }
    buffer->erase(0, begin);
    if (buffer->size() > kMaxLineBytes) {  // nobody sends such lines: cut it
      fresh.push_back({std::move(*buffer), now_us});
      buffer->clear();
    }
    const MutexLock lock(mutex_);
    for (const Line& line : fresh) waiting_bytes_ += BytesOf(line);
    std::move(fresh.begin(), fresh.end(), std::back_inserter(lines_));
    return !fresh.empty();
  }

  static int64_t BytesOf(const Line& line) { return static_cast<int64_t>(sizeof(Line) + line.text.size()); }
  bool IsFull() const {
    const MutexLock lock(mutex_);
    return waiting_bytes_ > kMaxWaitingBytes;
  }

  const Options options_;
  Clock& clock_;
  const std::function<void()> on_more_data_;
  const int fd_;
  const int wake_fd_;
  mutable Mutex mutex_;
  std::deque<Line> lines_ TW_GUARDED_BY(mutex_);
  int64_t waiting_bytes_ TW_GUARDED_BY(mutex_) = 0;  ///< of lines_
  Status failure_ TW_GUARDED_BY(mutex_);             ///< what ended the thread before its time
  int64_t first_index_ TW_GUARDED_BY(mutex_) = 0;  ///< of lines_.front()
  std::jthread thread_;                            // last: joins first
};

class SocketTable final : public sql::Table {
 public:
  SocketTable(Options options, const sql::ConnectorServices& services)
      : options_(std::move(options)), services_(services) {}
  std::string name() const override { return "socket"; }
  data::Schema schema() const override { return SocketSchema(options_.include_timestamp); }
  sql::TableCapabilities capabilities() const override { return {.micro_batch_read = true}; }
  Result<std::unique_ptr<sql::MicroBatchStream>> NewMicroBatchStream(
      const sql::StreamContext& context) override {
    return SocketStream::Connect(options_, *services_.clock, context.on_more_data);
  }

 private:
  const Options options_;
  const sql::ConnectorServices services_;
};

class SocketDataSource final : public sql::DataSource {
 public:
  explicit SocketDataSource(const sql::ConnectorServices& services) : services_(services) {}
  std::string short_name() const override { return "socket"; }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    if (request.schema)
      return Error("_LEGACY_ERROR_TEMP_2242").With("provider", "TextSocketSourceProvider");
    Options options;
    const std::optional<std::string> host = request.options.Get("host"),
                                     port = request.options.Get("port");
    if (!host) return Error("_LEGACY_ERROR_TEMP_1295");
    if (!port) return Error("_LEGACY_ERROR_TEMP_1296");
    options.host = *host;
    options.port = *port;
    const std::string timestamp = request.options.Get("includeTimestamp").value_or("false");
    if (!EqualsIgnoreCase(timestamp, "true") && !EqualsIgnoreCase(timestamp, "false"))
      return Error("_LEGACY_ERROR_TEMP_1297");
    options.include_timestamp = EqualsIgnoreCase(timestamp, "true");
    return sql::TablePtr(std::make_shared<SocketTable>(std::move(options), services_));
  }

 private:
  const sql::ConnectorServices services_;
};

}  // namespace

std::shared_ptr<const sql::DataSource> MakeSocketDataSource(
    const sql::ConnectorServices& services) {
  return std::make_shared<SocketDataSource>(services);
}

}  // namespace thalweg::connectors
