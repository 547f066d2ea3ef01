#include "engine/pyworker/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace thalweg::engine {
namespace {

struct Lines {
  Mutex mutex;
  std::vector<std::string> out, err;
  std::function<void(std::string_view, bool)> Taker() {
    return [this](std::string_view line, bool is_stderr) {
      const MutexLock lock(mutex);
      (is_stderr ? err : out).emplace_back(line);
    };
  }
};

ChildSpec Shell(const std::string& script) {
  ChildSpec spec;
  spec.arguments = {"sh", "-c", script};
  spec.environment = OwnEnvironment();
  return spec;
}

// Field 3 of /proc/<pid>/stat; nothing when it is gone.
std::optional<char> StateOf(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t at = text.rfind(')');
  if (at == std::string::npos || at + 2 >= text.size()) return std::nullopt;
  return text[at + 2];
}

TEST(ChildProcess, HandsOutLinesAndTellsItsEnd) {
  Lines lines;
  ChildSpec spec = Shell("echo one; printf 'two'; echo oops >&2; exit 3");
  spec.on_line = lines.Taker();
  auto child = ChildProcess::Launch(std::move(spec)).ValueOrDie();
  child->ended()->Wait({});
  EXPECT_EQ(lines.out, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(lines.err, std::vector<std::string>{"oops"});
  EXPECT_EQ(child->StderrTail(), "oops\n");
  EXPECT_EQ(child->exit_status(), 3);
  EXPECT_EQ(child->HowItEnded(), "exit status 3");
}

TEST(ChildProcess, KeepsTheFirstBytesApart) {
  Lines lines;
  ChildSpec spec = Shell("printf 'abcdrest\\n'; read line; echo got $line");
  spec.stdout_prefix_bytes = 4;
  spec.has_stdin = true;
  spec.on_line = lines.Taker();
  auto child = ChildProcess::Launch(std::move(spec)).ValueOrDie();
  EXPECT_EQ(child->StdoutPrefix(std::chrono::seconds(20), {}).ValueOrDie(), "abcd");
  EXPECT_TRUE(child->WriteStdin("x\n"));
  child->ended()->Wait({});
  EXPECT_EQ(lines.out, (std::vector<std::string>{"rest", "got x"}));
}

TEST(ChildProcess, EndsAMuleWithItsWholeGroup) {
  ChildSpec spec = Shell("trap '' TERM; sleep 1000 & echo $!; wait; wait");
  Lines lines;
  Signal told;
  spec.on_line = [&](std::string_view line, bool is_stderr) {
    lines.Taker()(line, is_stderr);
    told.Set();
  };
  auto child = ChildProcess::Launch(std::move(spec)).ValueOrDie();
  told.Wait({});
  const int grandchild = std::stoi(lines.out[0]);
  child->End(std::chrono::milliseconds(20));
  EXPECT_EQ(child->HowItEnded(), "signal 9 (Killed)");
  // Its parent is gone: somebody else reaps it, as soon as that one likes.
  const auto runs = [&] {
    const std::optional<char> state = StateOf(grandchild);
    return state && *state != 'Z' && *state != 'X';
  };
  while (runs()) std::this_thread::yield();
}

TEST(ChildProcess, NamesAProgramThatIsNotThere) {
  ChildSpec spec;
  spec.arguments = {"no-such-program-here"};
  EXPECT_EQ(ChildProcess::Launch(std::move(spec)).status().condition(), "IO_ERROR");
}

TEST(ChildProcess, AMemoryLimitHoldsInTheChild) {
  Lines lines;
  ChildSpec spec = Shell("ulimit -v");
  spec.memory_limit_bytes = int64_t{512} << 20;
  spec.on_line = lines.Taker();
  auto child = ChildProcess::Launch(std::move(spec)).ValueOrDie();
  child->ended()->Wait({});
  EXPECT_EQ(lines.out, std::vector<std::string>{"524288"});
}

}  // namespace
}  // namespace thalweg::engine
