// equal_null, input_file_name, width_bucket, bitmap_bit_position, bitmap_bucket_number, bitmap_count.

#include <bit>
#include <cmath>

#include "sql/expr/binding.h"
#include "sql/functions/meaning.h"
#include "sql/functions/misc/register.h"

namespace thalweg::sql {
namespace {

Result<ExprPtr> MeanEqualNull(const ExprList& a, const BindContext& c) {
  TW_RETURN_NOT_OK(CheckArity("equal_null", a.size(), 2, 2));
  return BindBuiltin("<=>", a, c);
}

/// Files are known to their scans, not here: empty, as Spark answers where no file is read.
Result<ColumnPtr> NoFile(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return Column::Constant(call.type, Value(std::string()), input.rows.length);
}

Result<ColumnPtr> WidthBucket(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Reader<double> values(*input.arguments[0]);
  const Reader<double> mins(*input.arguments[1]);
  const Reader<double> maxes(*input.arguments[2]);
  const Reader<int64_t> counts(*input.arguments[3]);
  FixedOutput<int64_t> out(call.type, input.rows.length);
  ForEachValid(input, [&](int64_t row) {
    const double value = values[row];
    const double low = mins[row];
    const double high = maxes[row];
    const int64_t buckets = counts[row];
    if (buckets <= 0 || buckets == std::numeric_limits<int64_t>::max() || std::isnan(value) || low == high ||
        !std::isfinite(low) || !std::isfinite(high)) {
      return out.SetNull(row);
    }
    const double least = std::min(low, high);
    const double greatest = std::max(low, high);
    int64_t bucket;
    if (low < high ? value < low : value > low) {
      bucket = 0;
    } else if (low < high ? value >= high : value <= high) {
      bucket = buckets + 1;
    } else {
      const double offset = low < high ? value - least : greatest - value;
      bucket = static_cast<int64_t>(static_cast<double>(buckets) * offset / (greatest - least)) + 1;
    }
    out.Set(row, bucket);
  });
  return out.Finish();
}

constexpr int64_t kBitmapBits = 8 * 4096;

Result<ColumnPtr> BitPosition(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<int64_t, int64_t>(call, input,
                                     [](int64_t v) { return v > 0 ? (v - 1) % kBitmapBits : (-v) % kBitmapBits; });
}
Result<ColumnPtr> BucketNumber(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<int64_t, int64_t>(call, input, [](int64_t v) { return v > 0 ? 1 + (v - 1) / kBitmapBits : v / kBitmapBits; });
}
Result<ColumnPtr> BitmapCount(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<int64_t, std::string_view>(call, input, [](std::string_view bytes) {
    int64_t count = 0;
    for (const char c : bytes) count += std::popcount(static_cast<unsigned char>(c));
    return count;
  });
}

}  // namespace

void RegisterMore(FunctionLists& lists) {
  static const ScalarFunction kAll[] = {
      {.name = "equal_null", .since = "3.4.0", .doc = "Whether both are equal; two NULLs are.", .bind = &BindAs<MeanEqualNull>},
      {.name = "input_file_name", .signature = "() -> STRING", .since = "1.5.0", .doc = "The file being read, empty when none is.", .nulls = NullPolicy::kCustom, .evaluate = &NoFile, .deterministic = false},
      {.name = "width_bucket", .signature = "(value DOUBLE, low DOUBLE, high DOUBLE, buckets BIGINT) -> BIGINT?", .since = "3.1.0", .doc = "The bucket of an equi-width histogram.", .evaluate = &WidthBucket},
      {.name = "bitmap_bit_position", .signature = "(value BIGINT) -> BIGINT", .since = "3.5.0", .doc = "The bit of a number in its bitmap.", .evaluate = &BitPosition},
      {.name = "bitmap_bucket_number", .signature = "(value BIGINT) -> BIGINT", .since = "3.5.0", .doc = "The bitmap of a number.", .evaluate = &BucketNumber},
      {.name = "bitmap_count", .signature = "(bitmap BINARY) -> BIGINT", .since = "3.5.0", .doc = "Bits that are set.", .evaluate = &BitmapCount},
  };
  for (const auto& function : kAll) lists.Add(function);
}

}  // namespace thalweg::sql
