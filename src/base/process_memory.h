#pragma once

#include <cstdint>
#include <new>

#include "base/settings.h"
#include "base/status.h"

namespace thalweg {

inline const Setting<int64_t> kMemoryLimit{
    .key = "thalweg.memory.limit",
    .default_value = 0,
    .unit = SettingUnit::kBytes,
    .scope = SettingScope::kServer,
    .doc = "The most memory of the process; 0 or less: four fifths of what the machine or its control group has."};

/// The most bytes this process may hold: the setting, else a share of the machine's or of the control group's memory,
/// so that a query that wants too much fails before the system kills everybody. Thread: any.
int64_t ProcessMemoryLimit();
/// 0 or less: by the machine. For the start of a server and tests.
void SetProcessMemoryLimit(int64_t bytes);
/// What the process holds now, by the system's count.
int64_t ProcessMemoryUsed();

/// Requests below are not worth the question.
inline constexpr int64_t kLargeAllocation = int64_t{16} << 20;
/// Whether `bytes` more may be taken: always when they are few. Costs a microsecond or two when they are not.
bool ProcessMemoryPermits(int64_t bytes);

/// The most bytes of one value: Spark's arrays hold no more, and views have sizes of 32 bits.
inline constexpr int64_t kMostValueBytes = INT32_MAX - 15;

/// bad_alloc that knows what was wanted. Owner of the bytes: a noun with static storage.
class OutOfMemory final : public std::bad_alloc {
 public:
  OutOfMemory(int64_t bytes, const char* owner) : bytes_(bytes), owner_(owner) {}
  const char* what() const noexcept override { return "out of memory"; }
  int64_t bytes() const { return bytes_; }
  const char* owner() const { return owner_; }

 private:
  int64_t bytes_;
  const char* owner_;
};

/// Ends the work of this thread up to its NoThrow, which answers OUT_OF_MEMORY: for places deep in loops over rows that
/// cannot answer a Status, as operator new does.
[[noreturn]] void ThrowOutOfMemory(int64_t bytes, const char* owner);
/// For what is about to make a value of `bytes`.
inline void CheckValueBytes(int64_t bytes) {
  if (bytes > kMostValueBytes) ThrowOutOfMemory(bytes, "one value");
}
/// OUT_OF_MEMORY (kind kEnvironment) of what was thrown.
Status OutOfMemoryStatus(const std::bad_alloc& thrown);

}  // namespace thalweg
