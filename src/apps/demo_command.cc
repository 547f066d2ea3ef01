// thalweg demo: the worked example on a Kafka broker inside this program, checked against the events that were produced.

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>

#include "apps/commands.h"
#include "apps/server_process.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/uuid.h"
#include "connectors/kafka/embedded_broker.h"
#include "data/io/local_file_system.h"
#include "data/io/path.h"
#include "data/text/datetime.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX asks for it

namespace thalweg::apps {
namespace {

constexpr int64_t kMinuteUs = 60'000'000;
constexpr int64_t kWindowUs = 5 * kMinuteUs;
constexpr int64_t kStartUs = 1'772'366'400'000'000;  // 2026-03-01 12:00 UTC
constexpr int kMinutes = 60;                         // of events
constexpr int kClicksPerMinute = 40;
constexpr int64_t kPatienceMs = 60'000;

struct Click {
  std::string user, page;
  int64_t time_us = 0;
};
/// (window start, page) -> clicks.
using Counts = std::map<std::pair<int64_t, std::string>, int64_t>;

/// Ctrl-C and SIGTERM end the demo at its next look around, so that nothing is left behind.
std::atomic<bool> g_interrupted = false;
void Interrupt(int) { g_interrupted = true; }

struct Arguments {
  std::string program = "examples/clicks_by_page.py";
  std::string python;
};

class Demo {
 public:
  explicit Demo(Arguments arguments) : arguments_(std::move(arguments)) {}
  ~Demo() { EndProgram(); }

  Status Run() {
    TW_RETURN_NOT_OK(Prepare());
    TW_RETURN_NOT_OK(StartProgram());
    TW_RETURN_NOT_OK(Await("the start of the query", [&]() -> Result<bool> { return files_.Exists(folder_ + "/checkpoint/offsets/0"); }));
    std::cout << "query is running; producing " << kMinutes << " minutes of clicks, some of them late\n";
    TW_RETURN_NOT_OK(ProduceClicks());
    // The window of 12:03 has been written: a click of that time is too late now, whatever the batches are.
    TW_RETURN_NOT_OK(Await("the first window", [&]() -> Result<bool> { return ShowNewRows(); }));
    TW_RETURN_NOT_OK(Produce({{"straggler", "home", kStartUs + 3 * kMinuteUs}}));
    // A click far ahead closes all windows before it; its own stays open.
    TW_RETURN_NOT_OK(Produce({{"closer", "home", kStartUs + 180 * kMinuteUs}}));
    TW_RETURN_NOT_OK(Await("the last window", [&]() -> Result<bool> {
      TW_RETURN_NOT_OK(ShowNewRows().status());
      return shown_.size() >= expected_.size();
    }));
    EndProgram();
    return Check();
  }

 private:
  Status Prepare() {
    TW_ASSIGN_OR_RETURN(const bool there, files_.Exists(data::AbsolutePath(arguments_.program)));
    if (!there) {
      return Error("ILLEGAL_ARGUMENT").With("message", "there is no program " + arguments_.program + ": run the demo in the checkout, or name the program with --program");
    }
    const char* base = std::getenv("TMPDIR");
    folder_ = data::AbsolutePath(std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/thalweg-demo-" + Uuid::MakeRandom().ToString());
    TW_RETURN_NOT_OK(files_.MakeDirectories(folder_));
    TW_ASSIGN_OR_RETURN(broker_, connectors::EmbeddedBroker::Make());
    TW_RETURN_NOT_OK(broker_->CreateTopic("clicks", 4));
    std::cout << "embedded Kafka broker at " << broker_->bootstrap_servers() << ", topic clicks, 4 partitions\n";
    SettingsMap settings;
    settings.Set("spark.sql.warehouse.dir", folder_ + "/own-warehouse");
    settings.Set("spark.sql.session.timeZone", "UTC");
    TW_ASSIGN_OR_RETURN(process_, ServerProcess::Make(std::move(settings)));
    session_ = front::Session::Make(process_->context(), "demo", Uuid::MakeRandom().ToString());
    return Status::OK();
  }

  /// `thalweg submit examples/clicks_by_page.py BROKER CHECKPOINT "1 second"`, as a user would type it.
  Status StartProgram() {
    std::string self(4096, '\0');
    const ssize_t size = readlink("/proc/self/exe", self.data(), self.size());
    if (size <= 0) return IoError("find this program", errno);
    self.resize(size);
    if (!arguments_.python.empty()) setenv("PYSPARK_PYTHON", arguments_.python.c_str(), 1);
    const std::vector<std::string> command{self, "submit", "--conf", "spark.sql.warehouse.dir=" + folder_ + "/warehouse", "--conf",
                                           "spark.sql.session.timeZone=UTC", arguments_.program, broker_->bootstrap_servers(),
                                           folder_ + "/checkpoint", "1 second"};
    std::vector<char*> argv;
    for (const std::string& part : command) argv.push_back(const_cast<char*>(part.c_str()));
    argv.push_back(nullptr);
    const int error = posix_spawn(&program_, argv[0], nullptr, nullptr, argv.data(), environ);
    if (error != 0) return IoError("start " + self, error);
    std::cout << "thalweg submit " << arguments_.program << "\n";
    return Status::OK();
  }

  void EndProgram() {
    if (program_ <= 0) return;
    kill(program_, SIGTERM);
    int status = 0;
    while (waitpid(program_, &status, 0) < 0 && errno == EINTR) {
    }
    program_ = 0;
  }

  Status ProduceClicks() {
    static const char* const kPages[] = {"home", "search", "cart", "help"};
    Random random(20260301);
    for (int minute = 0; minute < kMinutes; ++minute) {
      if (g_interrupted) return Cancelled();
      std::vector<Click> clicks;
      for (int i = 0; i < kClicksPerMinute; ++i) {
        Click click;
        click.user = "u" + std::to_string(random.NextBelow(100));
        click.page = kPages[random.NextBelow(4)];
        click.time_us = kStartUs + minute * kMinuteUs + static_cast<int64_t>(random.NextBelow(60)) * 1'000'000;
        // Late by up to five minutes: inside of what the watermark waits for.
        if (random.NextBelow(8) == 0) click.time_us -= static_cast<int64_t>(random.NextBelow(5)) * kMinuteUs;
        ++expected_[{click.time_us - (click.time_us % kWindowUs), click.page}];
        clicks.push_back(std::move(click));
      }
      TW_RETURN_NOT_OK(Produce(clicks));
      TW_RETURN_NOT_OK(ShowNewRows().status());
      SystemClock::Get().WaitFor(std::chrono::milliseconds(120), nullptr, {});
    }
    return Status::OK();
  }

  /// Through our own Kafka sink.
  Status Produce(const std::vector<Click>& clicks) {
    std::string sql = "SELECT value FROM VALUES ";
    for (const Click& click : clicks) {
      std::string time;
      data::AppendTimestampNtz(click.time_us, &time);
      time[10] = 'T';
      sql += (sql.ends_with(' ') ? "('" : ", ('") + std::string("{\"user_id\": \"") + click.user + "\", \"page\": \"" + click.page +
             "\", \"event_time\": \"" + time + "Z\"}')";
    }
    sql += " AS t(value)";
    sql::WriteDataFrame write;
    TW_ASSIGN_OR_RETURN(write.input, session_->ParseSql(sql, {}, {}));
    write.format = "kafka";
    write.mode = sql::SaveMode::kAppend;
    write.options.Set("kafka.bootstrap.servers", broker_->bootstrap_servers());
    write.options.Set("topic", "clicks");
    return session_->Collect(std::make_shared<sql::Command>(std::move(write))).status();
  }

  /// Prints rows of the table that were not there before; true when there are any rows.
  Result<bool> ShowNewRows() {
    const std::string table = folder_ + "/warehouse/analytics.db/clicks_by_page";
    TW_ASSIGN_OR_RETURN(const bool there, files_.Exists(table + "/_delta_log/00000000000000000001.json"));
    if (!there) return false;
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr query,
                        session_->ParseSql("SELECT unix_micros(window.start), page, count FROM delta.`" + table + "` ORDER BY 1, 2", {}, {}));
    TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, session_->Collect(query));
    rows_ = 0;
    for (const data::Chunk& chunk : chunks) {
      rows_ += chunk.num_rows();
      for (int64_t row = 0; row < chunk.num_rows(); ++row) {
        const int64_t start_us = chunk.column(0)->GetValue(row).get<int64_t>();
        const std::string page = chunk.column(1)->GetValue(row).get<std::string>();
        const int64_t count = chunk.column(2)->GetValue(row).get<int64_t>();
        if (!shown_.emplace(std::pair(start_us, page), count).second) continue;
        std::string time;
        data::AppendTimestampNtz(start_us, &time);
        std::cout << "  " << time << "  " << page << std::string(8 - page.size(), ' ') << count << "\n" << std::flush;
      }
    }
    return !shown_.empty();
  }

  Status Check() const {
    if (rows_ == static_cast<int64_t>(shown_.size()) && shown_ == expected_) {
      std::cout << "the table has " << rows_ << " rows, each as counted from the events: correct\n";
      return Status::OK();
    }
    for (const auto& [key, count] : expected_) {
      const auto found = shown_.find(key);
      if (found == shown_.end()) std::cout << "missing: " << key.first << " " << key.second << " " << count << "\n";
      else if (found->second != count) std::cout << "wrong: " << key.first << " " << key.second << " " << found->second << ", not " << count << "\n";
    }
    return InternalError("the table has " + std::to_string(rows_) + " rows and differs from the " + std::to_string(expected_.size()) + " counted from the events");
  }

  Status Await(std::string_view what, const std::function<Result<bool>()>& there) {
    const int64_t until_ms = SystemClock::Get().NowMillis() + kPatienceMs;
    while (true) {
      if (g_interrupted) return Cancelled();
      TW_ASSIGN_OR_RETURN(const bool done, there());
      if (done) return Status::OK();
      int status = 0;
      if (waitpid(program_, &status, WNOHANG) == program_) {
        program_ = 0;
        if (g_interrupted) return Cancelled();
        return InternalError("the program ended before " + std::string(what));
      }
      if (SystemClock::Get().NowMillis() > until_ms) return InternalError("waited in vain for " + std::string(what));
      SystemClock::Get().WaitFor(std::chrono::milliseconds(50), nullptr, {});
    }
  }

  const Arguments arguments_;
  data::LocalFileSystem files_;
  std::string folder_;
  std::unique_ptr<connectors::EmbeddedBroker> broker_;
  std::unique_ptr<ServerProcess> process_;
  std::shared_ptr<front::Session> session_;
  pid_t program_ = 0;
  Counts expected_, shown_;
  int64_t rows_ = 0;

 public:
  /// Leaves no trace of a good run; what a bad one left is named.
  void CleanUp(bool good) {
    EndProgram();
    if (session_ != nullptr) session_->Close();
    session_.reset();
    if (good) Ignore(files_.RemoveTree(folder_), "a temporary folder");
    else if (!folder_.empty()) std::cerr << "files are in " << folder_ << "\n";
  }
};

}  // namespace

void AddDemoCommand(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("demo", "Run the worked example on an embedded Kafka broker and check its result");
  command->add_option("--program", arguments->program, "The PySpark program, called with the broker, a checkpoint folder and \"1 second\"")->capture_default_str();
  command->add_option("--python", arguments->python, "Python that has pyspark (default: as for submit)");
  command->callback([arguments, exit_code] {
    ConfigureLog(LogLevel::kOff, LogFormat::kText);
    for (const int number : {SIGINT, SIGTERM}) signal(number, &Interrupt);
    Demo demo(*arguments);
    const Status status = demo.Run();
    demo.CleanUp(status.ok() || g_interrupted);
    if (status.ok()) return;
    if (g_interrupted) {
      *exit_code = 130;
      return;
    }
    std::cerr << "thalweg demo: " << status.message() << "\n";
    *exit_code = 1;
  });
}

}  // namespace thalweg::apps
