#include "engine/state/state_codec.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/io/local_file_system.h"
#include "engine/state/crc32c.h"

namespace thalweg::engine {
namespace {

constexpr StateCodecKind kAll[] = {StateCodecKind::kLz4, StateCodecKind::kZstd, StateCodecKind::kSnappy,
                                   StateCodecKind::kLzf};

std::string FromHex(std::string_view hex) {
  std::string bytes;
  int half = -1;
  for (const char c : hex) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (half < 0) {
      half = digit;
    } else {
      bytes.push_back(static_cast<char>(half << 4 | digit));
      half = -1;
    }
  }
  return bytes;
}

Result<std::string> Decompress(StateCodecKind kind, std::string_view file) {
  std::string out;
  const auto decompressor = StateDecompressor::Make(kind, file);
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, decompressor->Next(&out));
    if (!more) return out;
  }
}

std::string Compress(StateCodecKind kind, std::string_view plain, size_t step) {
  std::string out;
  const auto compressor = StateCompressor::Make(kind);
  for (size_t at = 0; at < plain.size(); at += step) {
    EXPECT_TRUE(compressor->Append(plain.substr(at, step), &out).ok());
  }
  EXPECT_TRUE(compressor->Finish(&out).ok());
  return out;
}

const std::string kExample = FromHex(
    "00000018 0000000000000000 0500000010000000 6170706c65000000 00000010 0000000000000000 0300000000000000"
    "00000018 0000000000000000 0400000010000000 7065617200000000 ffffffff ffffffff");

// The worked example of the format, as lz4-java wrote it.
TEST(StateCodec, ReadsWhatLz4JavaWrote) {
  const std::string file = FromHex(
      "4c5a34426c6f636b 25 3c000000 54000000 9e75a009"
      "5300000018000100d205000000100000006170706c651400000f00010200110306000102000530001304300040706561721a0080ffffffffffffffff"
      "4c5a34426c6f636b 15 00000000 00000000 00000000");
  EXPECT_EQ(Decompress(StateCodecKind::kLz4, file).ValueOrDie(), kExample);
}

TEST(StateCodec, AnEmptyDeltaIsByteForByteSparks) {
  EXPECT_EQ(Compress(StateCodecKind::kLz4, FromHex("ffffffff"), 4),
            FromHex("4c5a34426c6f636b 15 04000000 04000000 db804d08 ffffffff 4c5a34426c6f636b 15 00000000 00000000 00000000"));
}

TEST(StateCodec, ReadsFilesOfEveryCodecThatSparkWrote) {
  // groupBy(k).count(), one put: "apple" to a count.
  const std::string folder = "tests/checkpoints/spark-4.2.0/vectors/codecs/";
  const std::pair<const char*, StateCodecKind> files[] = {{"zstd.1.delta", StateCodecKind::kZstd},
                                                          {"snappy.1.delta", StateCodecKind::kSnappy},
                                                          {"lzf.1.delta", StateCodecKind::kLzf}};
  for (const auto& [name, kind] : files) {
    const std::string file = data::LocalFileSystem::Get().ReadWhole(folder + name).ValueOrDie();
    const std::string plain = Decompress(kind, file).ValueOrDie();
    ASSERT_EQ(plain.size(), 52U) << name;
    EXPECT_EQ(plain.substr(0, 28), FromHex("00000018 0000000000000000 0500000010000000 6170706c65000000")) << name;
    EXPECT_EQ(plain.substr(48), FromHex("ffffffff")) << name;
  }
}

TEST(StateCodec, EveryStreamComesBack) {
  Random random(11);
  for (const StateCodecKind kind : kAll) {
    for (const size_t size : {0, 1, 100, 32'767, 32'768, 32'769, 65'536, 300'000}) {
      std::string plain(size, '\0');
      for (char& byte : plain) byte = static_cast<char>(random.NextBelow(random.NextBool() ? 256 : 3));
      for (const size_t step : {size_t{7'919}, size_t{40'000}, size_t{1'000'000}}) {
        const std::string file = Compress(kind, plain, step);
        ASSERT_TRUE(Decompress(kind, file).ValueOrDie() == plain) << size;
      }
    }
  }
}

TEST(StateCodec, CompressibleStateShrinks) {
  std::string plain;
  for (int i = 0; i < 20'000; ++i) plain += kExample;
  EXPECT_LT(Compress(StateCodecKind::kLz4, plain, 10'000).size(), plain.size() / 10);
  EXPECT_LT(Compress(StateCodecKind::kZstd, plain, 10'000).size(), plain.size() / 10);
}

TEST(StateCodec, DamageIsAnErrorOrAShorterStream) {
  Random random(12);
  std::string plain;
  for (int i = 0; i < 1'000; ++i) plain += kExample;
  for (const StateCodecKind kind : kAll) {
    const std::string file = Compress(kind, plain, 5'000);
    for (int i = 0; i < 500; ++i) {
      std::string damaged = file;
      damaged[random.NextBelow(damaged.size())] ^= static_cast<char>(1 + random.NextBelow(255));
      if (random.NextBelow(4) == 0) damaged.resize(random.NextBelow(damaged.size()));
      const auto read = Decompress(kind, damaged);
      if (kind == StateCodecKind::kLz4 && read.ok()) {
        // Blocks carry checksums: what is read is what was written, from the front.
        ASSERT_TRUE(plain.starts_with(*read));
      }
    }
  }
}

// What Spark accepts and refuses of a foreign writer (recorded in damage.jsonl).
TEST(StateCodec, Lz4TakesWhatSparkTakes) {
  const std::string file = Compress(StateCodecKind::kLz4, kExample, 100);
  const std::string end_mark = file.substr(file.size() - 21);
  const std::string block = file.substr(0, file.size() - 21);
  EXPECT_EQ(Decompress(StateCodecKind::kLz4, block).ValueOrDie(), kExample) << "no end block";
  EXPECT_EQ(Decompress(StateCodecKind::kLz4, block + end_mark + file).ValueOrDie(), kExample + kExample)
      << "an end block in the middle";
  std::string larger = block;
  larger[8] = static_cast<char>((larger[8] & 0xf0) | 6);
  EXPECT_EQ(Decompress(StateCodecKind::kLz4, larger).ValueOrDie(), kExample) << "low nibble 6";
  std::string full_checksum = block;
  full_checksum[20] = static_cast<char>(full_checksum[20] | 0xf0);
  EXPECT_FALSE(Decompress(StateCodecKind::kLz4, full_checksum).ok()) << "all 32 bits of the checksum";
}

TEST(StateCodec, NamesAreSparks) {
  EXPECT_EQ(FindStateCodec("LZ4").ValueOrDie(), StateCodecKind::kLz4);
  EXPECT_EQ(FindStateCodec("org.apache.spark.io.ZStdCompressionCodec").ValueOrDie(), StateCodecKind::kZstd);
  EXPECT_EQ(FindStateCodec("brotli").status().condition(), "CODEC_NOT_AVAILABLE.WITH_CONF_SUGGESTION");
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
}

}  // namespace
}  // namespace thalweg::engine
