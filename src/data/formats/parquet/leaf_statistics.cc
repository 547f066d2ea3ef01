#include "data/formats/parquet/leaf_statistics.h"

#include <cmath>
#include <string>

namespace thalweg::data {

namespace {

class NullCounter final : public LeafAccumulator {
 public:
  void Add(const Column&, const int32_t*, int64_t) override {}
};

template <typename T>
class NumberAccumulator final : public LeafAccumulator {
 public:
  void Add(const Column& column, const int32_t* rows, int64_t count) override {
    const T* values = column.values<T>().data();
    if (rows == nullptr) {
      Loop(count, [values](int64_t i) { return values[i]; });
    } else {
      Loop(count, [values, rows](int64_t i) { return values[rows[i]]; });
    }
  }
  void Finish(LeafStatistics* out) const override {
    LeafAccumulator::Finish(out);
    if (has_value_) {
      out->min = Value(min_);
      out->max = Value(max_);
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (!has_nan_) return;
      const T nan = std::numeric_limits<T>::quiet_NaN();  // above every number
      if (!has_value_) out->min = Value(nan);
      out->max = Value(nan);
    }
  }

 private:
  template <typename Get>
  void Loop(int64_t count, Get get) {
    int64_t i = 0;
    if constexpr (std::is_floating_point_v<T>) {
      for (; i < count; ++i) {
        const T value = get(i);
        if (std::isnan(value)) {
          has_nan_ = true;
        } else if (!has_value_) {
          has_value_ = true;
          min_ = max_ = value;
        } else {
          if (value < min_) min_ = value;
          if (value > max_) max_ = value;
        }
      }
      return;
    }
    if (count == 0) return;
    if (!has_value_) {
      has_value_ = true;
      min_ = max_ = get(0);
    }
    T low = min_;
    T high = max_;
    for (; i < count; ++i) {
      const T value = get(i);
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    min_ = low;
    max_ = high;
  }

  T min_{};
  T max_{};
  bool has_value_ = false;
  bool has_nan_ = false;
};

class TextAccumulator final : public LeafAccumulator {
 public:
  void Add(const Column& column, const int32_t* rows, int64_t count) override {
    if (count == 0) return;
    const TextView* values = column.values<TextView>().data();
    const auto at = [&](int64_t i) -> const TextView& { return values[rows == nullptr ? i : rows[i]]; };
    int64_t low = 0;
    int64_t high = 0;
    uint32_t low_prefix = Prefix(at(0));
    uint32_t high_prefix = low_prefix;
    for (int64_t i = 1; i < count; ++i) {
      const TextView& value = at(i);
      const uint32_t prefix = Prefix(value);
      if (prefix < low_prefix || (prefix == low_prefix && value.view() < at(low).view())) {
        low = i;
        low_prefix = prefix;
      }
      if (prefix > high_prefix || (prefix == high_prefix && value.view() > at(high).view())) {
        high = i;
        high_prefix = prefix;
      }
    }
    if (!has_value_ || at(low).view() < min_) min_ = at(low).view();
    if (!has_value_ || at(high).view() > max_) max_ = at(high).view();
    has_value_ = true;
  }
  void Finish(LeafStatistics* out) const override {
    LeafAccumulator::Finish(out);
    if (!has_value_) return;
    out->min = Value(min_);
    out->max = Value(max_);
  }

 private:
  // The first four bytes as a number in byte order; shorter texts are padded with zeros (ties are compared in full).
  static uint32_t Prefix(const TextView& value) {
    uint32_t raw;
    __builtin_memcpy(&raw, reinterpret_cast<const char*>(&value) + 4, 4);
    return __builtin_bswap32(raw);
  }

  std::string min_;
  std::string max_;
  bool has_value_ = false;
};

}  // namespace

std::unique_ptr<LeafAccumulator> LeafAccumulator::Make(const DataType& type) {
  if (type.Is(TypeKind::kString)) return std::make_unique<TextAccumulator>();
  switch (type.physical()) {
    case PhysicalType::kInt8: return std::make_unique<NumberAccumulator<int8_t>>();
    case PhysicalType::kInt16: return std::make_unique<NumberAccumulator<int16_t>>();
    case PhysicalType::kInt32: return std::make_unique<NumberAccumulator<int32_t>>();
    case PhysicalType::kInt64: return std::make_unique<NumberAccumulator<int64_t>>();
    case PhysicalType::kFloat: return std::make_unique<NumberAccumulator<float>>();
    case PhysicalType::kDouble: return std::make_unique<NumberAccumulator<double>>();
    case PhysicalType::kInt128: return std::make_unique<NumberAccumulator<Int128>>();
    default: return std::make_unique<NullCounter>();
  }
}

}  // namespace thalweg::data
