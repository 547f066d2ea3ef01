// C11 threads, mutexes and conditions over pthreads, for thread-sanitizer builds only: GCC 12's runtime intercepts the latter alone. It
// crashes in a thread that it has not seen begin, and takes what C11's mutexes order for races. librdkafka uses C11's. glibc's types of
// both kinds have one layout (its own C11 functions cast them).
#include <pthread.h>
#include <threads.h>

#include <cerrno>
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

int Result(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    case ENOMEM: return thrd_nomem;
    default: return thrd_error;
  }
}

pthread_mutex_t* Mutex(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* Condition(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));

}  // namespace

#define TW_C11 __attribute__((visibility("default")))

extern "C" {

TW_C11 int mtx_init(mtx_t* mutex, int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, (kind & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  const int error = pthread_mutex_init(Mutex(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return Result(error);
}
TW_C11 void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(Mutex(mutex)); }
TW_C11 int mtx_lock(mtx_t* mutex) { return Result(pthread_mutex_lock(Mutex(mutex))); }
TW_C11 int mtx_unlock(mtx_t* mutex) { return Result(pthread_mutex_unlock(Mutex(mutex))); }

TW_C11 int cnd_init(cnd_t* condition) { return Result(pthread_cond_init(Condition(condition), nullptr)); }
TW_C11 void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(Condition(condition)); }
TW_C11 int cnd_signal(cnd_t* condition) { return Result(pthread_cond_signal(Condition(condition))); }
TW_C11 int cnd_broadcast(cnd_t* condition) { return Result(pthread_cond_broadcast(Condition(condition))); }
TW_C11 int cnd_wait(cnd_t* condition, mtx_t* mutex) { return Result(pthread_cond_wait(Condition(condition), Mutex(mutex))); }
TW_C11 int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return Result(pthread_cond_timedwait(Condition(condition), Mutex(mutex), until));
}

TW_C11 int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
  auto* start = new Start{run, argument};
  if (pthread_create(thread, nullptr, &Run, start) == 0) return thrd_success;
  delete start;
  return thrd_error;
}

TW_C11 int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  if (pthread_join(thread, &value) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(value));
  return thrd_success;
}

}  // extern "C"
