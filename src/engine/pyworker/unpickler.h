#pragma once

// Python's pickles to plain values: what CPython's pickler makes of results of functions, protocols 2 to 5.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace thalweg::engine {

/// One value. Texts and bytes lie in the pickle; items of a container come from Unpickler::items().
struct PyValue {
  enum class Kind : uint8_t {
    kNone, kBool, kInt,
    kBigInt,   ///< beyond 64 bits: little-endian two's complement in `text`
    kFloat, kText, kBytes,
    kDecimal,  ///< decimal.Decimal, as its text
    kTuple, kList, kSet,
    kDict,     ///< key, value, key, value, ...
    kObject,   ///< anything else; items: what it is made of, a class first
    kClass,    ///< `text`: module and name with a blank between them
    kMark,
  };
  Kind kind = Kind::kNone;
  uint32_t size = 0;   ///< of text
  union {
    int64_t integer = 0;
    double real;
    const char* bytes;
    uint32_t container;
  };
  std::string_view text() const { return {bytes, size}; }
};

/// Thread: confined. Reused for pickle after pickle: memory stays.
class Unpickler {
 public:
  Unpickler();
  ~Unpickler();
  Unpickler(Unpickler&&) noexcept;
  /// The pickle's value; valid, with all below it, until the next call and while `bytes` are.
  /// Errors: INTERNAL_ERROR for bytes that are no pickle or use what no pickler of results uses.
  Result<PyValue> Load(std::string_view bytes);
  std::span<const PyValue> items(const PyValue& container) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::engine
