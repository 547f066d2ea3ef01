#include "test_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace thalweg {

namespace {

std::optional<Session>& Current() {
  static std::optional<Session> session;
  return session;
}

std::filesystem::path Root() {
  static const std::filesystem::path root = std::filesystem::path(testing::TempDir() + "/cpp-api-" + std::to_string(getpid())).lexically_normal();
  return root;
}

}  // namespace

bool IsRemote() {
  const char* remote = std::getenv("SPARK_REMOTE");
  return remote != nullptr && *remote != '\0';
}

std::chrono::milliseconds Patience(std::chrono::milliseconds time) {
  const char* factor = std::getenv("TW_TIMEOUT_FACTOR");
  return time * (factor == nullptr ? 1 : std::max(1L, std::strtol(factor, nullptr, 10)));
}

void SessionTest::SetUpTestSuite() {
  SessionBuilder builder = Session::Builder();
  if (!IsRemote()) builder.Config("spark.sql.warehouse.dir", (Root() / "warehouse").string()).Config("spark.sql.session.timeZone", "UTC");
  Result<Session> made = builder.Create();
  ASSERT_TRUE(made.ok()) << made.status().message();
  Current() = *made;
}

void SessionTest::TearDownTestSuite() {
  Current().reset();
  std::filesystem::remove_all(Root());
}

const Session& SessionTest::spark() { return *Current(); }

std::vector<Row> SessionTest::Rows(const DataFrame& frame) {
  Result<std::vector<Row>> rows = frame.Collect();
  if (rows.ok()) return *std::move(rows);
  ADD_FAILURE() << rows.status().message();
  return {};
}

std::vector<Row> SessionTest::Rows(const Result<DataFrame>& frame) {
  if (frame.ok()) return Rows(*frame);
  ADD_FAILURE() << frame.status().message();
  return {};
}

std::string SessionTest::Folder(const std::string& name) {
  const std::filesystem::path folder = Root() / testing::UnitTest::GetInstance()->current_test_info()->name() / name;
  std::filesystem::create_directories(folder);
  return folder;
}

void SessionTest::WriteFile(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace thalweg
