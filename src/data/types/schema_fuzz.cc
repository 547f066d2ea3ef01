// Types from JSON and DDL: no crash, and what was understood is the same after it was written and read again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/types/data_type.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg::data;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto type = ParseTypeJson(text); type.ok()) {
    const auto again = ParseTypeJson(type->Json());
    if (!again.ok() || again->Json() != type->Json()) std::abort();
  }
  if (const auto schema = ParseSchemaDdl(text); schema.ok()) {
    // Comments are written with quotes escaped but not backslashes, as in Spark: only those without come back.
    const auto again = ParseSchemaDdl(SchemaDdl(*schema));
    if (text.find('\\') == std::string_view::npos && text.find('\'') == std::string_view::npos &&
        text.find('"') == std::string_view::npos && (!again.ok() || !(*again == *schema))) {
      std::abort();
    }
    if (SchemaTree(*schema).empty()) std::abort();
  }
  return 0;
}
