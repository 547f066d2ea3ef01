#pragma once

#include <cstdint>
#include <string_view>

namespace thalweg::engine {

/// CRC-32C (Castagnoli) of `bytes`, continuing from `crc` (0 to begin).
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace thalweg::engine
