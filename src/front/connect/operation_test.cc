#include "front/connect/operation.h"

#include <gtest/gtest.h>
#include <spark/connect/base.pb.h>

namespace thalweg::front {
namespace {

std::string IdOf(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
  ::spark::connect::ExecutePlanResponse response;
  EXPECT_TRUE(response.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  return response.response_id();
}

TEST(OperationTest, AnEndlessOperationForgetsOldIdsWithTheirResponses) {
  for (const bool release : {true, false}) {
    Operation operation({"s", "t", "o"}, /*reattachable=*/release, "", {}, /*retry_buffer_bytes=*/0);
    const int64_t stream = operation.Attach([] {});
    int64_t cursor = 0;
    std::vector<std::string> ids;
    for (int i = 0; i < 3000; ++i) {
      ::spark::connect::ExecutePlanResponse response;
      operation.Send(&response);
      const StreamStep step = operation.Next(stream, &cursor);
      ASSERT_EQ(step.kind, StreamStep::Kind::kResponse);
      ids.push_back(IdOf(*step.response));
      if (release) operation.ReleaseUntil(ids.back());
    }
    EXPECT_EQ(*operation.IndexOf(ids.back()), 3000);
    EXPECT_EQ(operation.IndexOf(ids[2500]).status().condition(), "INVALID_CURSOR.POSITION_NOT_AVAILABLE");
    EXPECT_EQ(operation.IndexOf(ids[0]).status().condition(), "INVALID_CURSOR.POSITION_NOT_FOUND");
  }
}

}  // namespace
}  // namespace thalweg::front
