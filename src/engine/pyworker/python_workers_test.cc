// The launcher against a small pyspark of the test's own, which speaks the protocol of the real one (tests/streaming has that).
#include "engine/pyworker/python_workers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "engine/pyworker/pyworker_settings.h"

namespace thalweg::engine {
namespace {

constexpr const char* kDaemon = R"(
import os, signal, socket, struct, sys
assert __name__ == '__main__' and sys.argv[1:] == ['pyspark.worker']
def read(n):
    data = b''
    while len(data) < n:
        part = os.read(0, n - len(data))
        if not part:
            os.kill(0, signal.SIGHUP)
            sys.exit(0)
        data += part
    return struct.unpack('>i', data)[0]
def recv(conn, n):
    data = b''
    while len(data) < n:
        part = conn.recv(n - len(data))
        if not part:
            os._exit(0)
        data += part
    return data
def serve(conn):
    conn.sendall(struct.pack('>i', os.getpid()))
    secret = recv(conn, struct.unpack('>i', recv(conn, 4))[0])
    conn.sendall(struct.pack('>i', 2) + b'ok' if secret.decode() == os.environ['PYTHON_WORKER_FACTORY_SECRET'] else b'')
    while True:
        # A task: an int, answered by its double; 13 is an error, 14 and 15 the end of the process, 17 that of a child of its own.
        n = struct.unpack('>i', recv(conn, 4))[0]
        if n == 13:
            text = b'Traceback: thirteen'
            conn.sendall(struct.pack('>ii', -2, len(text)) + text)
            continue
        if n == 14:
            os.write(2, b'fourteen is too much')
            os._exit(3)
        if n == 15:
            os.kill(os.getpid(), signal.SIGSEGV)
        if n == 16:
            os.write(2, b'sixteen\n')
        if n == 17:
            child = os.fork()
            if child == 0:
                os._exit(7)
            n = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        conn.sendall(struct.pack('>i', 2 * n))
import select
os.setpgid(0, 0)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(16)
os.write(1, struct.pack('>i', listener.getsockname()[1]))
while True:
    ready = select.select([0, listener], [], [])[0]
    if 0 in ready:
        try:
            os.kill(read(4), signal.SIGKILL)
        except OSError:
            pass
    if listener in ready:
        conn = listener.accept()[0]
        dies_early = 'DIES_EARLY' in os.environ
        pid = os.fork()
        if pid == 0:
            if dies_early:
                os._exit(7)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(conn)
        if dies_early:
            try:
                while True:
                    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:  # its end is told
                conn.sendall(struct.pack('>i', pid))
        conn.close()
)";

constexpr const char* kModule = R"(
import os, socket, struct, sys, threading
conn = socket.create_connection(('127.0.0.1', int(os.environ['PYTHON_WORKER_FACTORY_PORT'])))
secret = os.environ['PYTHON_WORKER_FACTORY_SECRET'].encode()
conn.sendall(struct.pack('>i', len(secret)) + secret)
assert conn.recv(6) == b'\0\0\0\2ok'
conn.sendall(struct.pack('>i', os.getpid()))
conn.sendall(struct.pack('>i', 42))
threading.Event().wait()
)";

class PythonWorkersTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = testing::TempDir() + "/pyworkersXXXXXX";
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    folder_ = made;
    Write("pyspark/__init__.py", "");
    Write("pyspark/version.py", "__version__ = '4.3.1'\n");
    Write("pyspark/util.py", "class SpecialLengths:\n    START_OF_INIT_MESSAGE = -8\n");
    Write("pyspark/daemon.py", kDaemon);
    Write("pyspark/module.py", kModule);
    Write("pyspark/broken.py", "import no_such_module_here\n");
    request_.settings.Set(kPythonProgram, std::string("python3"));
    request_.python_path = {folder_.string()};
  }
  void TearDown() override {
    workers_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  static Result<int32_t> Ask(PooledWorker& worker, int32_t n, std::stop_token stop = {}) {
    TW_RETURN_NOT_OK(worker.socket().Write(JavaData().Int(n).bytes(), stop));
    return worker.socket().ReadTag(stop);
  }

  std::filesystem::path folder_;
  WorkerRequest request_;
  std::unique_ptr<PythonWorkers> workers_ = PythonWorkers::Make([](std::string_view, bool) {});
};

TEST_F(PythonWorkersTest, TellsWhatThePysparkSpeaks) {
  const PythonRuntime runtime = workers_->Runtime(request_, {}).ValueOrDie();
  EXPECT_EQ(runtime.pyspark_version, "4.3.1");
  EXPECT_TRUE(runtime.AtLeast(4, 3));
  EXPECT_FALSE(runtime.AtLeast(5, 0));
  EXPECT_EQ(runtime.start_of_init_message, -8);
}

TEST_F(PythonWorkersTest, NamesWhatIsMissing) {
  WorkerRequest other = request_;
  other.python_version = "2.6";
  EXPECT_EQ(workers_->Runtime(other, {}).status().condition(), "PYTHON_VERSION_MISMATCH");
  other.settings.Set(kPythonProgram, std::string("no-such-python"));
  EXPECT_EQ(workers_->Runtime(other, {}).status().condition(), "PYTHON_WORKER_UNAVAILABLE");
  Write("pyspark/version.py", "__version__ = '3.5.0'\n");
  workers_ = PythonWorkers::Make([](std::string_view, bool) {});  // an answer is kept
  EXPECT_EQ(workers_->Runtime(request_, {}).status().condition(), "PYTHON_WORKER_UNAVAILABLE");
}

TEST_F(PythonWorkersTest, AProgramThatIsNoPythonIsNamed) {
  for (const char* answer : {"no JSON", "[]", "{}", R"({"python": 3})", R"({"python": "3.11", "pyspark": 4})", R"({"python": "3.11", "pyspark": "four"})"}) {
    Write("odd", "#!/bin/sh\necho '" + std::string(answer) + "'\n");
    std::filesystem::permissions(folder_ / "odd", std::filesystem::perms::owner_all);
    WorkerRequest odd = request_;
    odd.settings.Set(kPythonProgram, (folder_ / "odd").string());
    EXPECT_EQ(workers_->Runtime(odd, {}).status().condition(), "PYTHON_WORKER_UNAVAILABLE") << answer;
  }
}

TEST_F(PythonWorkersTest, WorkersAreLentAgainUnlessSomethingWentWrong) {
  auto first = workers_->Acquire(request_, {}).ValueOrDie();
  const int pid = first->pid();
  EXPECT_EQ(Ask(*first, 21).ValueOrDie(), 42);
  auto second = workers_->Acquire(request_, {}).ValueOrDie();
  EXPECT_NE(second->pid(), pid);
  EXPECT_EQ(workers_->Count().daemons, 1);
  EXPECT_EQ(workers_->Count().lent, 2);
  workers_->Release(std::move(first));
  EXPECT_EQ(workers_->Count().idle, 1);
  first = workers_->Acquire(request_, {}).ValueOrDie();
  EXPECT_EQ(first->pid(), pid);

  const Status failed = Ask(*first, 13).status();
  EXPECT_EQ(failed.condition(), "PYTHON_EXCEPTION");
  EXPECT_NE(failed.message().find("Traceback: thirteen"), std::string::npos);
  first.reset();
  const Status crashed = Ask(*second, 14).status();
  EXPECT_EQ(crashed.condition(), "PYTHON_WORKER_CRASHED");
  // The line of the prelude stands behind what the worker left without an end.
  EXPECT_NE(crashed.message().find("exit status 3\nfourteen is too much"), std::string::npos) << crashed.message();
  second.reset();
  EXPECT_EQ(workers_->Count().lent, 0);
  EXPECT_NE(workers_->Acquire(request_, {}).ValueOrDie()->pid(), pid);
}

TEST_F(PythonWorkersTest, ACrashTellsTheSignalAndWhatItsTaskPrinted) {
  auto worker = workers_->Acquire(request_, {}).ValueOrDie();
  EXPECT_EQ(Ask(*worker, 16).ValueOrDie(), 32);
  Status crashed = Ask(*worker, 15).status();
  EXPECT_NE(crashed.message().find("signal 11 (Segmentation fault)\nsixteen"), std::string::npos) << crashed.message();
  worker = workers_->Acquire(request_, {}).ValueOrDie();
  crashed = Ask(*worker, 15).status();
  EXPECT_NE(crashed.message().find("signal 11"), std::string::npos) << crashed.message();
  EXPECT_EQ(crashed.message().find("sixteen"), std::string::npos) << "of an earlier task";
}

// One SIGCHLD may stand for several ends.
TEST_F(PythonWorkersTest, EachOfSeveralThatEndAtOnceIsTold) {
  std::vector<std::unique_ptr<PooledWorker>> workers;
  for (int i = 0; i < 6; ++i) workers.push_back(workers_->Acquire(request_, {}).ValueOrDie());
  for (const auto& worker : workers) ASSERT_EQ(kill(worker->pid(), SIGKILL), 0);
  for (const auto& worker : workers) {
    const Status ended = worker->socket().ReadInt({}).status();
    EXPECT_NE(ended.message().find("signal 9 (Killed)"), std::string::npos) << ended.message();
  }
}

// The daemon hears of its workers' ends; what a worker starts is the worker's own to wait for, and no line of ours.
TEST_F(PythonWorkersTest, ChildrenOfAWorkerAreItsOwn) {
  Mutex mutex;
  std::vector<std::string> lines;
  workers_ = PythonWorkers::Make([&](std::string_view line, bool) {
    const MutexLock lock(mutex);
    lines.emplace_back(line);
  });
  auto worker = workers_->Acquire(request_, {}).ValueOrDie();
  EXPECT_EQ(Ask(*worker, 17).ValueOrDie(), 14);
  EXPECT_EQ(Ask(*worker, 16).ValueOrDie(), 32);
  EXPECT_EQ(Ask(*worker, 14).status().condition(), "PYTHON_WORKER_CRASHED");
  worker.reset();
  workers_.reset();
  EXPECT_EQ(lines, (std::vector<std::string>{"sixteen", "fourteen is too much"}));
}

TEST_F(PythonWorkersTest, OwnersShareNeitherProcessesNorWhatIsPrinted) {
  request_.owner = "alice";
  WorkerRequest of_bob = request_;
  of_bob.owner = "bob";
  auto alice = workers_->Acquire(request_, {}).ValueOrDie();
  const int pid = alice->pid();
  auto bob = workers_->Acquire(of_bob, {}).ValueOrDie();
  EXPECT_EQ(Ask(*alice, 16).ValueOrDie(), 32);
  Status failed = Ask(*bob, 14).status();
  EXPECT_EQ(failed.condition(), "PYTHON_WORKER_CRASHED");
  EXPECT_EQ(failed.message().find("sixteen"), std::string::npos) << failed.message();
  workers_->Release(std::move(alice));
  bob = workers_->Acquire(of_bob, {}).ValueOrDie();
  EXPECT_NE(bob->pid(), pid);
  alice = workers_->Acquire(request_, {}).ValueOrDie();
  EXPECT_EQ(alice->pid(), pid);
  EXPECT_EQ(Ask(*alice, 16).ValueOrDie(), 32);
  failed = Ask(*alice, 14).status();
  EXPECT_NE(failed.message().find("sixteen"), std::string::npos) << failed.message();
}

TEST_F(PythonWorkersTest, WhatIsIdleEndsWithItsOwner) {
  request_.owner = "alice";
  WorkerRequest of_bob = request_;
  of_bob.owner = "bob";
  workers_->Release(workers_->Acquire(request_, {}).ValueOrDie());
  auto lent = workers_->Acquire(request_, {}).ValueOrDie();
  workers_->Release(workers_->Acquire(of_bob, {}).ValueOrDie());
  EXPECT_EQ(workers_->Count().daemons, 2);
  workers_->OwnerGone("alice");
  EXPECT_EQ(Ask(*lent, 21).ValueOrDie(), 42);
  EXPECT_EQ(workers_->Count().daemons, 1);
  workers_->Release(std::move(lent));  // its daemon keeps none any more
  EXPECT_EQ(workers_->Count().idle, 1);
  EXPECT_EQ(workers_->Count().lent, 0);
}

TEST_F(PythonWorkersTest, AWorkerThatDiesBeforeItIsKnownTellsHow) {
  request_.environment["DIES_EARLY"] = "1";
  const Status failed = workers_->Acquire(request_, {}).status();
  EXPECT_EQ(failed.condition(), "PYTHON_WORKER_CRASHED");
  EXPECT_NE(failed.message().find("exit status 7"), std::string::npos) << failed.message();
}

TEST_F(PythonWorkersTest, AStopBreaksTheWaiting) {
  auto worker = workers_->Acquire(request_, {}).ValueOrDie();
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(worker->socket().ReadInt(stop.get_token()).status().kind(), ErrorKind::kCancelled);
}

TEST_F(PythonWorkersTest, SilenceHasALimit) {
  auto worker = workers_->Acquire(request_, {}).ValueOrDie();
  worker->socket().set_silence_limit(std::chrono::milliseconds(10));
  EXPECT_EQ(worker->socket().ReadInt({}).status().condition(), "PYTHON_WORKER_TIMEOUT");
}

TEST_F(PythonWorkersTest, ADaemonThatDiedIsReplaced) {
  auto worker = workers_->Acquire(request_, {}).ValueOrDie();
  workers_->Release(std::move(worker));
  // The daemon's group: its workers and itself.
  worker = workers_->Acquire(request_, {}).ValueOrDie();
  ASSERT_EQ(kill(-getpgid(worker->pid()), SIGKILL), 0);
  EXPECT_EQ(worker->socket().ReadInt({}).status().condition(), "PYTHON_WORKER_CRASHED");
  worker.reset();
  auto again = workers_->Acquire(request_, {}).ValueOrDie();
  EXPECT_EQ(Ask(*again, 1).ValueOrDie(), 2);
}

TEST_F(PythonWorkersTest, AModuleIsGreetedAndEnds) {
  auto worker = workers_->Launch(request_, "pyspark.module", std::chrono::seconds(60), {}).ValueOrDie();
  EXPECT_EQ(worker->socket().ReadInt({}).ValueOrDie(), 42);
  const int pid = worker->process().pid();
  worker.reset();
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(PythonWorkersTest, AModuleThatCannotBeImportedTellsWhy) {
  const Status failed = workers_->Launch(request_, "pyspark.broken", std::chrono::seconds(60), {}).status();
  EXPECT_EQ(failed.condition(), "PYTHON_WORKER_CRASHED");
  EXPECT_NE(failed.message().find("no_such_module_here"), std::string::npos);
}

TEST_F(PythonWorkersTest, AfterCloseNothingIsLent) {
  auto worker = workers_->Acquire(request_, {}).ValueOrDie();
  workers_->Close();
  workers_->Release(std::move(worker));
  EXPECT_EQ(workers_->Count().daemons, 0);
  EXPECT_FALSE(workers_->Acquire(request_, {}).ok());
}

}  // namespace
}  // namespace thalweg::engine
