// Promise: the number of workers follows the CPU quota of every control group around the process, in both versions.
#include "base/cores.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace thalweg {
namespace {

class ControlGroups : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  const std::string root_ = testing::TempDir() + "cores_test_" + std::to_string(reinterpret_cast<uintptr_t>(this));
};

TEST_F(ControlGroups, WithoutAQuotaThereIsNone) {
  EXPECT_EQ(CoresOfControlGroups(root_, "0::/\n"), 0);
  Write("/a/cpu.max", "max 100000\n");
  EXPECT_EQ(CoresOfControlGroups(root_, "0::/a\n"), 0);
  EXPECT_EQ(CoresOfControlGroups(root_, "nonsense\n1:2\n"), 0);
}

TEST_F(ControlGroups, Version2TakesTheLeastOfAllGroupsAround) {
  Write("/a/cpu.max", "250000 100000\n");
  Write("/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(CoresOfControlGroups(root_, "0::/a/b\n"), 3) << "two and a half are rounded up";
  Write("/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(CoresOfControlGroups(root_, "0::/a/b\n"), 1);
  EXPECT_EQ(CoresOfControlGroups(root_, "0::/a\n"), 3);
}

TEST_F(ControlGroups, Version1) {
  Write("/cpu/box/cpu.cfs_quota_us", "400000\n");
  Write("/cpu/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CoresOfControlGroups(root_, "4:memory:/box\n3:cpu,cpuacct:/box/inner\n0::/\n"), 4);
  Write("/cpu/box/inner/cpu.cfs_quota_us", "-1\n");
  Write("/cpu/box/inner/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CoresOfControlGroups(root_, "3:cpu,cpuacct:/box/inner\n"), 4);
  EXPECT_EQ(CoresOfControlGroups(root_, "3:cpuset:/box\n"), 0);
}

TEST(AvailableCores, AtLeastOne) { EXPECT_GE(AvailableCores(), 1); }

}  // namespace
}  // namespace thalweg
