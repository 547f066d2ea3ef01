#pragma once

#include <string>
#include <string_view>

namespace thalweg {

/// How many cores this process may keep busy: those that its affinity names, and no more than the CPU quotas of the control
/// groups around it allow (rounded up). At least 1. The first call
/// reads a few small files of the kernel, later ones its answer.
int AvailableCores();

/// The same quota for control groups below `root` (/sys/fs/cgroup) of a process whose groups `memberships` names
/// (the text of /proc/self/cgroup); 0 when none is set.
int CoresOfControlGroups(const std::string& root, std::string_view memberships);

}  // namespace thalweg
