// Order that gRPC makes, told to the thread sanitizer: gRPC and Abseil were compiled without it, lock by futexes, and hand a batch of
// operations from the thread that starts it to the one that takes its completion through queues without locks. All of it goes through
// the functions below.
#include <absl/synchronization/mutex.h>
#include <dlfcn.h>
#include <grpc/grpc.h>

#define TW_SEEN __attribute__((visibility("default")))

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}

namespace {

/// The library's own function behind one of the same name here.
template <typename Function>
Function Next(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

}  // namespace

extern "C" {

TW_SEEN grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag, void* reserved) {
  static const auto next = Next<decltype(&grpc_call_start_batch)>("grpc_call_start_batch");
  if (tag != nullptr) __tsan_release(tag);
  return next(call, ops, count, tag, reserved);
}

TW_SEEN grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline, void* reserved) {
  static const auto next = Next<decltype(&grpc_completion_queue_next)>("grpc_completion_queue_next");
  const grpc_event event = next(queue, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE && event.tag != nullptr) __tsan_acquire(event.tag);
  return event;
}

TW_SEEN grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag, gpr_timespec deadline, void* reserved) {
  static const auto next = Next<decltype(&grpc_completion_queue_pluck)>("grpc_completion_queue_pluck");
  const grpc_event event = next(queue, tag, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE && tag != nullptr) __tsan_acquire(tag);
  return event;
}

}  // extern "C"

// Members of Abseil's classes take their object as first argument.
namespace absl {
ABSL_NAMESPACE_BEGIN

#define TW_MANGLED(rest) "_ZN4absl7debian3" rest

TW_SEEN void Mutex::Lock() {
  static const auto next = Next<void (*)(Mutex*)>(TW_MANGLED("5Mutex4LockEv"));
  next(this);
  __tsan_acquire(this);
}
TW_SEEN bool Mutex::TryLock() {
  static const auto next = Next<bool (*)(Mutex*)>(TW_MANGLED("5Mutex7TryLockEv"));
  const bool locked = next(this);
  if (locked) __tsan_acquire(this);
  return locked;
}
TW_SEEN void Mutex::Unlock() {
  static const auto next = Next<void (*)(Mutex*)>(TW_MANGLED("5Mutex6UnlockEv"));
  __tsan_release(this);
  next(this);
}
TW_SEEN void CondVar::Wait(Mutex* mutex) {
  static const auto next = Next<void (*)(CondVar*, Mutex*)>(TW_MANGLED("7CondVar4WaitEPNS0_5MutexE"));
  __tsan_release(mutex);
  next(this, mutex);
  __tsan_acquire(mutex);
}
TW_SEEN bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static const auto next = Next<bool (*)(CondVar*, Mutex*, Duration)>(TW_MANGLED("7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE"));
  __tsan_release(mutex);
  const bool timed_out = next(this, mutex, timeout);
  __tsan_acquire(mutex);
  return timed_out;
}
TW_SEEN bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static const auto next = Next<bool (*)(CondVar*, Mutex*, Time)>(TW_MANGLED("7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE"));
  __tsan_release(mutex);
  const bool timed_out = next(this, mutex, deadline);
  __tsan_acquire(mutex);
  return timed_out;
}

ABSL_NAMESPACE_END
}  // namespace absl
