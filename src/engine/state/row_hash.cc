#include "engine/state/row_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace thalweg::engine {

uint64_t HashRow(std::string_view row) { return XXH3_64bits(row.data(), row.size()); }

}  // namespace thalweg::engine
