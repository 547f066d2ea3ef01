#include <thalweg/thalweg.h>

#include <cstdio>

int main() {
  using namespace thalweg::functions;
  const thalweg::Result<thalweg::Session> spark = thalweg::Session::Builder().GetOrCreate();
  if (!spark.ok()) return 1;
  const auto rows = spark->Range(0, 10).GroupBy({(col("id") % 3).Alias("k")}).Agg({sum("id")}).OrderBy({"k"}).Collect();
  if (!rows.ok()) return std::fprintf(stderr, "%s\n", rows.status().message().c_str()), 1;
  for (const thalweg::Row& row : *rows) std::printf("%ld %ld\n", *row[0].Get<int64_t>(), *row[1].Get<int64_t>());
}
