#include "data/columnar/ipc_stream.h"

#include <gtest/gtest.h>

#include "data/columnar/builder.h"

namespace thalweg::data {
namespace {

const Schema& TestSchema() {
  static const Schema schema{{.name = "_0", .type = DataType::Long()}, {.name = "_1", .type = DataType::String()}};
  return schema;
}

Chunk Rows(int64_t from, int64_t count) {
  std::vector<ValueList> rows;
  for (int64_t i = from; i < from + count; ++i) {
    rows.push_back({i % 3 == 0 ? Value() : Value(i), Value("text " + std::to_string(i))});
  }
  return ChunkFromRows({DataType::Long(), DataType::String()}, rows);
}

/// Feeds a decoder exactly what it wants.
Status Decode(IpcDecoder* decoder, std::string_view bytes, std::vector<Chunk>* out, size_t* taken) {
  while (decoder->wanted() > 0) {
    const auto wanted = static_cast<size_t>(decoder->wanted());
    if (wanted > bytes.size() - *taken) return InternalError("it wants more than there is");
    TW_RETURN_NOT_OK(decoder->Take(bytes.substr(*taken, wanted), out));
    *taken += wanted;
  }
  return Status::OK();
}

TEST(IpcStream, BatchesComeOutAsTheyWentInAndNothingBehindTheEndIsTaken) {
  auto encoder = IpcEncoder::Make(TestSchema(), {}).ValueOrDie();
  std::string bytes;
  ASSERT_TRUE(encoder->Batch(Rows(0, 5), &bytes).ok());
  ASSERT_TRUE(encoder->Batch(Rows(5, 1), &bytes).ok());
  ASSERT_TRUE(encoder->End(&bytes).ok());
  const size_t length = bytes.size();
  bytes += "what follows";
  IpcDecoder decoder({DataType::Long(), DataType::String()});
  std::vector<Chunk> chunks;
  size_t taken = 0;
  ASSERT_TRUE(Decode(&decoder, bytes, &chunks, &taken).ok());
  EXPECT_EQ(taken, length);
  ASSERT_EQ(chunks.size(), 2U);
  ASSERT_EQ(chunks[0].num_rows(), 5);
  EXPECT_TRUE(chunks[0].column(0)->IsNull(3));
  EXPECT_EQ(chunks[0].column(0)->GetValue(4), Value(int64_t{4}));
  EXPECT_EQ(chunks[1].column(1)->GetValue(0), Value(std::string("text 5")));
}

TEST(IpcStream, AStreamWithoutRowsHasASchemaAndAnEnd) {
  auto encoder = IpcEncoder::Make(TestSchema(), {}).ValueOrDie();
  std::string bytes;
  ASSERT_TRUE(encoder->End(&bytes).ok());
  IpcDecoder decoder({DataType::Long(), DataType::String()});
  std::vector<Chunk> chunks;
  size_t taken = 0;
  ASSERT_TRUE(Decode(&decoder, bytes, &chunks, &taken).ok());
  EXPECT_EQ(taken, bytes.size());
  EXPECT_TRUE(chunks.empty());
}

TEST(IpcStream, OtherBytesAndOtherColumnsAreErrors) {
  auto encoder = IpcEncoder::Make(TestSchema(), {}).ValueOrDie();
  std::string bytes;
  ASSERT_TRUE(encoder->Batch(Rows(0, 5), &bytes).ok());
  ASSERT_TRUE(encoder->End(&bytes).ok());
  std::vector<Chunk> chunks;
  size_t taken = 0;
  IpcDecoder narrow({DataType::Long()});
  EXPECT_FALSE(Decode(&narrow, bytes, &chunks, &taken).ok());
  IpcDecoder garbage({DataType::Long(), DataType::String()});
  taken = 0;
  EXPECT_FALSE(Decode(&garbage, std::string(64, 'x'), &chunks, &taken).ok());
}

}  // namespace
}  // namespace thalweg::data
