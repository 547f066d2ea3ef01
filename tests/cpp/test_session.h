#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "thalweg/thalweg.h"

namespace thalweg {

/// Tests on one session for all tests of a suite: on the engine inside this program, or where SPARK_REMOTE says.
class SessionTest : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  static const Session& spark();
  /// A folder of this test alone, on a disk that the server sees too.
  static std::string Folder(const std::string& name);
  /// Writes a file into a folder of a test.
  static void WriteFile(const std::string& path, const std::string& text);

  /// The rows, or a failure of the test.
  static std::vector<Row> Rows(const DataFrame& frame);
  static std::vector<Row> Rows(const Result<DataFrame>& frame);
  static DataFrame Frame(const std::string& schema, const std::vector<Row>& rows) {
    return spark().CreateDataFrame(schema, rows).ValueOrDie();
  }
};

/// Whether the engine is another program.
bool IsRemote();

/// `time`, and longer where the build is slow, under a sanitizer say: TW_TIMEOUT_FACTOR times.
std::chrono::milliseconds Patience(std::chrono::milliseconds time);

}  // namespace thalweg
