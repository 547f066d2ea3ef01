// Deduplication against a naive evaluator, over aborted and repeated epochs and a restart in between.

#include "engine/stateful/deduplicate.h"

#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "engine/state/state_test_support.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;
using data::ValueList;

const std::vector<DataType> kColumns = {DataType::String(), DataType::Long(), DataType::Timestamp()};
constexpr int64_t kSecond = 1'000'000;

struct Row {
  std::optional<std::string> name;
  std::optional<int64_t> number;
  std::optional<int64_t> time_us;
  auto operator<=>(const Row&) const = default;
};

data::Chunk ChunkOf(const std::vector<Row>& rows) {
  std::vector<ValueList> values;
  for (const Row& row : rows) {
    values.push_back({row.name ? Value(*row.name) : Value(), row.number ? Value(*row.number) : Value(),
                      row.time_us ? Value(*row.time_us) : Value()});
  }
  return data::ChunkFromRows(kColumns, values);
}

std::vector<Row> RowsOf(const data::Chunk& chunk) {
  const data::Chunk dense = chunk.Dense();
  std::vector<Row> rows;
  for (int64_t i = 0; i < dense.num_rows(); ++i) {
    Row row;
    const Value name = dense.column(0)->GetValue(i), number = dense.column(1)->GetValue(i), time = dense.column(2)->GetValue(i);
    if (!name.is_null()) row.name = name.get<std::string>();
    if (!number.is_null()) row.number = number.AsInt64();
    if (!time.is_null()) row.time_us = time.AsInt64();
    rows.push_back(std::move(row));
  }
  return rows;
}

/// What Spark's documentation says, row by row.
struct Naive {
  const DeduplicateSpec& spec;
  std::map<Row, int64_t> seen;  ///< key -> until when; INT64_MAX: for ever
  int64_t late = 0, duplicates = 0;

  Row KeyOf(const Row& row) const {
    Row key;
    for (const int column : spec.key_columns) {
      if (column == 0) key.name = row.name;
      if (column == 1) key.number = row.number;
      if (column == 2) key.time_us = row.time_us;
    }
    return key;
  }
  std::vector<Row> Epoch(const std::vector<Row>& rows, int64_t late_ms, int64_t eviction_ms) {
    std::vector<Row> out;
    late = duplicates = 0;
    for (const Row& row : rows) {
      if (spec.late_by && row.time_us && *row.time_us <= late_ms * 1000) {
        ++late;
        continue;
      }
      int64_t until = INT64_MAX;
      if (spec.within_us) until = row.time_us.value_or(0) + *spec.within_us;
      if (spec.event_time && row.time_us) until = *row.time_us;
      if (seen.emplace(KeyOf(row), until).second) {
        out.push_back(row);
      } else {
        ++duplicates;
      }
    }
    std::erase_if(seen, [&](const auto& one) { return one.second != INT64_MAX && one.second <= eviction_ms * 1000; });
    return out;
  }
};

class DeduplicateTest : public ::testing::Test {
 protected:
  void Open(const DeduplicateSpec& spec) {
    operator_.reset();
    query_.reset();
    query_ = harness_.OpenQuery();
    DeduplicateSpec opened = spec;
    opened.state = query_;
    operator_ = MakeDeduplicate(std::move(opened))(PartitionId(0)).ValueOrDie();
    ASSERT_TRUE(operator_->Open({}).ok());
  }
  std::vector<Row> Run(const sql::EpochContext& epoch, const std::vector<Row>& rows, size_t chunk_rows) {
    std::vector<Row> out;
    if (rows.empty() && !operator_->NeedsEpoch(epoch)) return out;
    EXPECT_TRUE(operator_->BeginEpoch(epoch).ok());
    for (size_t begin = 0; begin < rows.size(); begin += chunk_rows) {
      const size_t end = std::min(begin + chunk_rows, rows.size());
      OperatorState state = operator_->Push(0, ChunkOf({rows.begin() + begin, rows.begin() + end})).ValueOrDie();
      while (state == OperatorState::kHaveOutput) {
        const auto chunk = operator_->Pull(&state).ValueOrDie();
        if (!chunk) continue;
        for (Row& row : RowsOf(*chunk)) out.push_back(std::move(row));
      }
    }
    EXPECT_EQ(operator_->EndInput(0).ValueOrDie(), OperatorState::kFinished);
    EXPECT_EQ(operator_->Seal().ValueOrDie(), OperatorState::kFinished);
    return out;
  }
  void Commit(const sql::EpochContext& epoch) {
    while (!operator_->Prepare(epoch).ValueOrDie()) operator_->blocked_on()->Wait({});
  }
  void Compare(const DeduplicateSpec& spec, uint64_t seed);

  StateHarness harness_;
  std::shared_ptr<QueryState> query_;
  std::unique_ptr<Operator> operator_;
};

void DeduplicateTest::Compare(const DeduplicateSpec& spec, uint64_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  Naive naive{spec, {}, 0, 0};
  Open(spec);
  int64_t late_ms = 0, eviction_ms = 0;
  for (int64_t batch = 0; batch < 40; ++batch) {
    std::vector<Row> rows;
    for (uint64_t i = random.NextBelow(5) == 0 ? 0 : random.NextBelow(60); i > 0; --i) {
      Row row;
      if (random.NextBelow(8) > 0) row.name = "name-" + std::to_string(random.NextBelow(6));
      if (random.NextBelow(8) > 0) row.number = static_cast<int64_t>(random.NextBelow(5));
      if (random.NextBelow(8) > 0) row.time_us = (batch * 3 - 10 + static_cast<int64_t>(random.NextBelow(20))) * kSecond;
      rows.push_back(std::move(row));
    }
    sql::EpochContext epoch;
    epoch.batch_id = BatchId(batch);
    epoch.late_watermark_ms = late_ms;
    epoch.eviction_watermark_ms = eviction_ms;
    const size_t chunk_rows = 1 + random.NextBelow(20);
    const std::vector<Row> expected = naive.Epoch(rows, late_ms, eviction_ms);
    if (random.NextBelow(6) == 0) {  // fails after its rows and is run again
      Run(epoch, rows, chunk_rows);
      operator_->Abort(epoch);
      if (random.NextBelow(2) == 0) Open(spec);
    }
    ASSERT_EQ(Run(epoch, rows, chunk_rows), expected) << "micro-batch " << batch;
    Commit(epoch);
    const auto& metrics = operator_->metrics().custom;
    EXPECT_EQ(metrics.at("numRowsTotal"), static_cast<int64_t>(naive.seen.size()));
    EXPECT_EQ(metrics.at("numRowsUpdated"), static_cast<int64_t>(expected.size()));
    EXPECT_EQ(metrics.at("numRowsDroppedByWatermark"), naive.late);
    EXPECT_EQ(metrics.at("numDroppedDuplicateRows"), naive.duplicates);
    late_ms = eviction_ms;
    if (random.NextBelow(3) > 0) eviction_ms = std::max(eviction_ms, (batch * 3 - 8) * 1000);
  }
}

DeduplicateSpec Spec(std::vector<int> keys) {
  DeduplicateSpec spec;
  for (const int key : keys) spec.key_types.push_back(kColumns[static_cast<size_t>(key)]);
  spec.key_columns = std::move(keys);
  return spec;
}

TEST_F(DeduplicateTest, KeysStayForEverWithoutEventTime) {
  Compare(Spec({0}), 1);
  ASSERT_TRUE(harness_.files.RemoveTree("/ckpt").ok());
  Compare(Spec({1, 0}), 2);
}

TEST_F(DeduplicateTest, KeysGoWithTheirEventTime) {
  DeduplicateSpec spec = Spec({0, 2});
  spec.late_by = KeyEventTime{2, false};
  spec.event_time = KeyEventTime{1, false};
  for (uint64_t seed = 10; seed < 15; ++seed) {
    Ignore(harness_.files.RemoveTree("/ckpt"), "not there yet");
    Compare(spec, seed);
  }
}

TEST_F(DeduplicateTest, LateRowsAreDroppedWhereTheEventTimeIsNoKey) {
  DeduplicateSpec spec = Spec({0, 1});
  spec.late_by = KeyEventTime{2, false};
  Compare(spec, 20);
}

TEST_F(DeduplicateTest, WithinTheWatermark) {
  DeduplicateSpec spec = Spec({0, 1});
  spec.late_by = KeyEventTime{2, false};
  spec.within_us = 7 * kSecond;
  for (uint64_t seed = 30; seed < 35; ++seed) {
    Ignore(harness_.files.RemoveTree("/ckpt"), "not there yet");
    Compare(spec, seed);
  }
}

}  // namespace
}  // namespace thalweg::engine
