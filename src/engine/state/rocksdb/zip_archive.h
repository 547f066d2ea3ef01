#pragma once

// ZIP files as java.util.zip writes and reads them: deflated entries, no encryption, no ZIP64. All of it in memory.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::engine {

struct ZipEntry {
  std::string name;
  std::string bytes;
};

/// An archive of these entries, in this order. Names are bare, sizes below 4 GiB.
std::string WriteZip(const std::vector<ZipEntry>& entries);
/// The entries of an archive; every length is checked against the bytes that are there, every entry against its CRC-32, and
/// all of them together against `limit_bytes`. `only`: that entry alone is unpacked, when not empty.
/// Errors: INTERNAL_ERROR that says what is wrong.
Result<std::vector<ZipEntry>> ReadZip(std::string_view archive, size_t limit_bytes, std::string_view only = {});

}  // namespace thalweg::engine
