#include "data/io/path.h"

#include <gtest/gtest.h>

namespace thalweg::data {
namespace {

TEST(PathTest, Components) {
  EXPECT_EQ(JoinPath("/a", "b"), "/a/b");
  EXPECT_EQ(JoinPath("/a/", "b"), "/a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(ParentPath("/a/b/"), "/a");
  EXPECT_EQ(ParentPath("/a"), "/");
  EXPECT_EQ(ParentPath("a"), ".");
  EXPECT_EQ(PathName("/a/b/"), "b");
  EXPECT_EQ(PathName("/"), "/");
  EXPECT_EQ(NormalizePath("//a/./b/../c//"), "/a/c");
  EXPECT_EQ(NormalizePath("/../a"), "/a");
  EXPECT_EQ(NormalizePath("../a/.."), "..");
  EXPECT_EQ(NormalizePath("./"), ".");
  EXPECT_TRUE(AbsolutePath("x").starts_with("/"));
}

// Names as in the folder "in %20#x" of a user.
TEST(PathTest, TextIsNeitherDecodedNorEncoded) {
  EXPECT_EQ(*PathFromText("/in %20#x/50%25.json"), "/in %20#x/50%25.json");
  EXPECT_EQ(*PathFromText("file:/in %20#x"), "/in %20#x");
  EXPECT_EQ(*PathFromText("file:///in %20#x"), "/in %20#x");
  EXPECT_EQ(*PathFromText("file://localhost/a"), "/a");
  EXPECT_EQ(*PathFromText("relative/a:b"), "relative/a:b");
  EXPECT_EQ(*PathFromText("FILE:///a"), "/a");
  EXPECT_EQ(PathFromText("s3a://bucket/a").status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

TEST(PathTest, UrisRoundTrip) {
  for (const char* path : {"/a b.json", "/part[1-3].json", "/50%25.json", "/ü.json", "/chk %2F#1/x?y=1&z", "/{a}|b\\c^`\"<>",
                           "/nbsp\u00A0wide\u3000", "/a+b,c;d:e@f=g$h!i~j*k'(l)"}) {
    EXPECT_EQ(*PathFromUri(UriFromPath(path)), path);
  }
  EXPECT_EQ(UriFromPath("/data/in/part a.json"), "file:///data/in/part%20a.json");
  EXPECT_EQ(UriFromPath("/in %20#x/ü.json"), "file:///in%20%2520%23x/ü.json");
  EXPECT_EQ(UriFromPath("/part[1-3].json"), "file:///part%5B1-3%5D.json");
  EXPECT_EQ(QualifiedPathText("/a b"), "file:/a b");
  EXPECT_EQ(*PathFromUri("file:/a%20b"), "/a b");
  EXPECT_EQ(*PathFromUri("/a%20b"), "/a b");
  EXPECT_FALSE(PathFromUri("file:///a%2").ok());
  EXPECT_FALSE(PathFromUri("file:///a%zz").ok());
}

TEST(PathTest, Schemes) {
  EXPECT_EQ(UriScheme("S3A://b"), "s3a");
  EXPECT_EQ(UriScheme("/a:b"), "");
  EXPECT_EQ(UriScheme("a/b:c"), "");
}

TEST(PathTest, PartitionValues) {
  EXPECT_EQ(EscapePartitionValue("2026-01-31 10:00"), "2026-01-31 10%3A00");
  EXPECT_EQ(EscapePartitionValue("a/b=c%"), "a%2Fb%3Dc%25");
  EXPECT_EQ(EscapePartitionValue(""), "__HIVE_DEFAULT_PARTITION__");
  EXPECT_EQ(UnescapePartitionValue("a%2Fb%3Dc%25"), "a/b=c%");
  EXPECT_EQ(UnescapePartitionValue("100%"), "100%");
}

}  // namespace
}  // namespace thalweg::data
