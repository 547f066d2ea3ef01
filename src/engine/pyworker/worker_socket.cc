#include "engine/pyworker/worker_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace thalweg::engine {

namespace {

constexpr int32_t kMaxLength = 1 << 30;
constexpr size_t kReadBytes = 256 * 1024;
constexpr std::chrono::milliseconds kTracebackLimit{10'000};

}  // namespace

WorkerSocket::WorkerSocket(int descriptor, std::function<std::string(const std::stop_token&)> how_it_ended)
    : descriptor_(descriptor), how_it_ended_(std::move(how_it_ended)) {
  fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
}

WorkerSocket::~WorkerSocket() { close(descriptor_); }

Status WorkerSocket::Crashed(const std::stop_token& stop) const {
  const std::string how = how_it_ended_ ? how_it_ended_(stop) : std::string();
  return Error("PYTHON_WORKER_CRASHED").With("detail", how.empty() ? "its end of the connection is closed" : how).Kind(ErrorKind::kEnvironment);
}

Status WorkerSocket::Step(std::string_view* unsent, std::stop_token stop) {
  // A stop breaks the connection, which wakes the poll below.
  const std::stop_callback on_stop(stop, [this] { shutdown(descriptor_, SHUT_RDWR); });
  if (stop.stop_requested()) return Cancelled();
  pollfd wait{descriptor_, static_cast<short>(POLLIN | (unsent->empty() ? 0 : POLLOUT)), 0};
  std::chrono::milliseconds limit = silence_limit_;
  if (awaits_traceback_) limit = limit.count() > 0 ? std::min(limit, kTracebackLimit) : kTracebackLimit;
  const int limit_ms = limit.count() > 0 ? static_cast<int>(std::min<int64_t>(limit.count(), INT32_MAX)) : -1;
  int ready = 0;
  while ((ready = poll(&wait, 1, limit_ms)) < 0 && errno == EINTR) {
  }
  if (stop.stop_requested()) return Cancelled();
  if (ready == 0 && awaits_traceback_) {
    return Error("PYTHON_WORKER_CRASHED")
        .With("detail", "it raised an exception and could not send its text; the worker's standard error has more")
        .Kind(ErrorKind::kEnvironment);
  }
  if (ready == 0) {
    return Error("PYTHON_WORKER_TIMEOUT").With("what", std::to_string(limit_ms) + " ms of silence").With("detail", "").Kind(ErrorKind::kEnvironment);
  }
  bool moved = false;
  if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
    if (consumed_ == input_.size()) {
      input_.clear();
      consumed_ = 0;
    }
    const size_t had = input_.size();
    input_.resize(had + kReadBytes);
    const ssize_t got = recv(descriptor_, input_.data() + had, kReadBytes, 0);
    const int error = errno;
    input_.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0) moved = true;
    if (stop.stop_requested()) return Cancelled();
    if (got == 0 || (got < 0 && error != EAGAIN && error != EINTR)) return Crashed(stop);
  }
  if (!unsent->empty() && (wait.revents & POLLOUT) != 0) {
    const ssize_t sent = send(descriptor_, unsent->data(), unsent->size(), MSG_NOSIGNAL);
    if (sent > 0) unsent->remove_prefix(static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR && !moved) return Crashed(stop);
  }
  return Status::OK();
}

void WorkerSocket::Consume(size_t bytes) {
  consumed_ += bytes;
  if (consumed_ > kReadBytes && consumed_ * 2 > input_.size()) {
    input_.erase(0, consumed_);
    consumed_ = 0;
  }
}

Status WorkerSocket::Write(std::string_view bytes, std::stop_token stop) {
  while (!bytes.empty()) {
    const Status step = Step(&bytes, stop);
    const bool failed = input().size() >= 4 && ReadJavaInt(input().data()) == kPythonExceptionThrown;
    if (failed) return ReadTag(stop).status();  // it no longer reads
    TW_RETURN_NOT_OK(step);
  }
  return Status::OK();
}

Status WorkerSocket::Fill(size_t bytes, std::stop_token stop) {
  std::string_view nothing;
  while (input().size() < bytes) TW_RETURN_NOT_OK(Step(&nothing, stop));
  return Status::OK();
}

Result<int32_t> WorkerSocket::ReadInt(std::stop_token stop) {
  TW_RETURN_NOT_OK(Fill(4, stop));
  const int32_t value = ReadJavaInt(input().data());
  Consume(4);
  return value;
}

Result<int64_t> WorkerSocket::ReadLong(std::stop_token stop) {
  TW_RETURN_NOT_OK(Fill(8, stop));
  const int64_t value = ReadJavaLong(input().data());
  Consume(8);
  return value;
}

Result<std::string> WorkerSocket::ReadBytes(std::stop_token stop) {
  TW_ASSIGN_OR_RETURN(const int32_t length, ReadInt(stop));
  if (length < 0 || length > kMaxLength) return InternalError("a Python worker sent the length " + std::to_string(length));
  TW_RETURN_NOT_OK(Fill(static_cast<size_t>(length), stop));
  std::string bytes(input().substr(0, static_cast<size_t>(length)));
  Consume(bytes.size());
  return bytes;
}

Result<int32_t> WorkerSocket::ReadTag(std::stop_token stop) {
  TW_ASSIGN_OR_RETURN(const int32_t tag, ReadInt(stop));
  if (tag != kPythonExceptionThrown) return tag;
  AwaitTraceback();
  TW_ASSIGN_OR_RETURN(const std::string traceback, ReadBytes(stop));
  return PythonException(traceback);
}

bool WorkerSocket::IsQuiet() const {
  if (!input().empty()) return false;
  char byte = 0;
  const ssize_t got = recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EINTR);
}

Status PythonException(std::string_view traceback) {
  return Error("PYTHON_EXCEPTION").With("msg", "An exception was thrown from the Python worker").With("traceback", traceback);
}

}  // namespace thalweg::engine
