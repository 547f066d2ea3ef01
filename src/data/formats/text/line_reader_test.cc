#include "data/formats/text/line_reader.h"

#include <gtest/gtest.h>

#include "data/io/memory_file_system.h"

namespace thalweg::data {
namespace {

TEST(LineReaderTest, ALineWithoutEndIsAnErrorAndNotAllMemory) {
  MemoryFileSystem disk;
  const auto file = disk.Create("/f", CreateMode::kReplace).ValueOrDie();
  ASSERT_TRUE(file->Append("short\n" + std::string(1 << 20, 'x')).ok() && file->Close().ok());
  const auto reader = LineReader::Open(disk, "/f", {}, "", "", 0, 100'000).ValueOrDie();
  std::string_view line;
  ASSERT_TRUE(*reader->Next(&line));
  EXPECT_EQ(line, "short");
  EXPECT_EQ(reader->Next(&line).status().condition(), "IO_ERROR");
}

}  // namespace
}  // namespace thalweg::data
