// Order that gRPC makes, told to the thread sanitizer: gRPC was compiled without it, and hands a batch of operations from the thread
// that starts it to the one that takes its completion by means that the runtime does not see. Both ends go through the functions
// below, with one tag.
#include <dlfcn.h>
#include <grpc/grpc.h>

extern "C" {

void __tsan_acquire(void* address);
void __tsan_release(void* address);

#define TW_GRPC __attribute__((visibility("default")))
#define TW_NEXT(function) reinterpret_cast<decltype(&function)>(dlsym(RTLD_NEXT, #function))

TW_GRPC grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag, void* reserved) {
  static const auto next = TW_NEXT(grpc_call_start_batch);
  if (tag != nullptr) __tsan_release(tag);
  return next(call, ops, count, tag, reserved);
}

TW_GRPC grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline, void* reserved) {
  static const auto next = TW_NEXT(grpc_completion_queue_next);
  const grpc_event event = next(queue, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE && event.tag != nullptr) __tsan_acquire(event.tag);
  return event;
}

TW_GRPC grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag, gpr_timespec deadline, void* reserved) {
  static const auto next = TW_NEXT(grpc_completion_queue_pluck);
  const grpc_event event = next(queue, tag, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE && tag != nullptr) __tsan_acquire(tag);
  return event;
}

}  // extern "C"
