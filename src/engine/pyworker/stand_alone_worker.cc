#include "engine/pyworker/stand_alone_worker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "engine/pyworker/daemon.h"

namespace thalweg::engine {

namespace {

constexpr std::chrono::milliseconds kModuleEndGrace{500};
constexpr std::chrono::milliseconds kGreetingLimit{10000};
constexpr std::chrono::seconds kEndLimit{5};

// As `python -m` would, but with a __main__ that has a file while the module's packages are imported: without one pyspark takes the
// process for a run of its doctests, imports its test helpers and, in pyspark-client, ends because there is no SPARK_HOME.
constexpr const char* kRunModule =
    "import runpy, sys; __file__ = 'thalweg'; sys.argv = sys.argv[1:]; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)";

class Listener {
 public:
  ~Listener() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Status Open() {
    descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (descriptor_ < 0 || bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        listen(descriptor_, 4) != 0 || getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      return IoError("listen for a Python worker", errno);
    }
    port_ = ntohs(address.sin_port);
    return Status::OK();
  }
  /// Ends Accept, now and later. Thread: any.
  void Wake() { shutdown(descriptor_, SHUT_RDWR); }
  /// A connection; -1 when there is none in time or it was woken.
  int Accept(std::chrono::milliseconds timeout) {
    pollfd wait{descriptor_, POLLIN, 0};
    int ready = 0;
    while ((ready = poll(&wait, 1, static_cast<int>(timeout.count()))) < 0 && errno == EINTR) {
    }
    return ready > 0 ? accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC) : -1;
  }
  int port() const { return port_; }

 private:
  int descriptor_ = -1;
  int port_ = 0;
};

class Worker final : public StandAloneWorker {
 public:
  Worker(PythonRuntime runtime, std::unique_ptr<ChildProcess> process, std::unique_ptr<WorkerSocket> socket)
      : runtime_(std::move(runtime)), process_(std::move(process)), socket_(std::move(socket)) {}
  ~Worker() override {
    socket_.reset();
    process_->End(kModuleEndGrace);
  }
  WorkerSocket& socket() override { return *socket_; }
  const PythonRuntime& runtime() const override { return runtime_; }
  ChildProcess& process() override { return *process_; }
  void Kill() override { process_->Kill(); }

 private:
  const PythonRuntime runtime_;
  std::unique_ptr<ChildProcess> process_;
  std::unique_ptr<WorkerSocket> socket_;
};

// Its socket closes before it ends: by how much depends on what the interpreter has to clean up.
std::string Fate(ChildProcess& process, const std::stop_token& stop) {
  const bool ended = process.ended()->WaitFor(stop, kEndLimit);
  return (ended ? process.HowItEnded() : "its end of the connection is closed, the process has not ended") + "\n" + process.StderrTail();
}

// Whether a connection is our worker's: it must know the secret.
Result<bool> Greet(WorkerSocket& socket, const std::string& secret, std::stop_token stop) {
  socket.set_silence_limit(kGreetingLimit);
  TW_ASSIGN_OR_RETURN(const int32_t length, socket.ReadInt(stop));
  if (length != static_cast<int32_t>(secret.size())) return false;
  std::string_view nothing;
  while (socket.input().size() < secret.size()) TW_RETURN_NOT_OK(socket.Step(&nothing, stop));
  const bool known = socket.input().substr(0, secret.size()) == secret;
  socket.Consume(secret.size());
  TW_RETURN_NOT_OK(socket.Write(JavaData().Bytes(known ? "ok" : "err").bytes(), stop));
  if (!known) return false;
  TW_RETURN_NOT_OK(socket.ReadInt(stop).status());  // its process id
  socket.set_silence_limit({});
  return true;
}

}  // namespace

Result<std::unique_ptr<StandAloneWorker>> LaunchStandAlone(PythonRuntime runtime, std::map<std::string, std::string> environment,
                                                           const std::string& module, int64_t memory_limit_bytes,
                                                           PythonWorkers::Output output, std::chrono::milliseconds timeout,
                                                           std::stop_token stop) {
  const auto listener = std::make_shared<Listener>();
  TW_RETURN_NOT_OK(listener->Open());
  const std::string secret = NewSecret();
  environment["PYTHON_WORKER_FACTORY_PORT"] = std::to_string(listener->port());
  environment["PYTHON_WORKER_FACTORY_SECRET"] = secret;
  ChildSpec spec;
  spec.arguments = {runtime.executable, "-c", kRunModule, module};
  spec.environment = std::move(environment);
  spec.memory_limit_bytes = memory_limit_bytes;
  spec.on_line = std::move(output);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ChildProcess> process, ChildProcess::Launch(std::move(spec)));
  process->ended()->OnSet([listener] { listener->Wake(); });
  const std::stop_callback on_stop(stop, [&] { listener->Wake(); });
  const auto deadline = SystemClock::Get().NowMonotonic() + timeout;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SystemClock::Get().NowMonotonic());
    const int descriptor = left.count() > 0 ? listener->Accept(left) : -1;
    if (stop.stop_requested()) {
      if (descriptor >= 0) close(descriptor);
      return Cancelled();
    }
    if (descriptor < 0) {
      if (process->has_ended()) {
        return Error("PYTHON_WORKER_CRASHED").With("detail", Fate(*process, stop)).Kind(ErrorKind::kEnvironment);
      }
      if (left.count() > 0) continue;
      return Error("PYTHON_WORKER_TIMEOUT").With("what", "its start").With("detail", process->StderrTail()).Kind(ErrorKind::kEnvironment);
    }
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    auto socket = std::make_unique<WorkerSocket>(descriptor, [raw = process.get()](const std::stop_token& heard) { return Fate(*raw, heard); });
    Result<bool> greeted = Greet(*socket, secret, stop);
    if (greeted.ok() && *greeted) {
      return std::unique_ptr<StandAloneWorker>(std::make_unique<Worker>(std::move(runtime), std::move(process), std::move(socket)));
    }
    if (stop.stop_requested()) return Cancelled();
    if (process->has_ended()) return std::move(greeted).status();
  }
}

}  // namespace thalweg::engine
