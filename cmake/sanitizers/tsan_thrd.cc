// C11 threads over pthreads, for thread-sanitizer builds only: GCC 12's runtime intercepts pthread_create but not
// thrd_create, and crashes in a thread that it has not seen begin. librdkafka starts its threads with thrd_create.
#include <pthread.h>
#include <threads.h>

#include <cstdint>

namespace {

struct Start {
  thrd_start_t run;
  void* argument;
};

void* Run(void* raw) {
  const Start start = *static_cast<Start*>(raw);
  delete static_cast<Start*>(raw);
  return reinterpret_cast<void*>(static_cast<intptr_t>(start.run(start.argument)));
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
  auto* start = new Start{run, argument};
  if (pthread_create(thread, nullptr, &Run, start) == 0) return thrd_success;
  delete start;
  return thrd_error;
}

__attribute__((visibility("default"))) int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  if (pthread_join(thread, &value) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(value));
  return thrd_success;
}

}  // extern "C"
