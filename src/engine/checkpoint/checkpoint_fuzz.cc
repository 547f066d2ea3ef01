// Every parser of a checkpoint's files on the same bytes: no crash, and what was understood survives being written again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/logs/file_logs.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/operator_metadata.h"
#include "engine/checkpoint/state_schema_file.h"

namespace {

using namespace thalweg;          // NOLINT
using namespace thalweg::engine;  // NOLINT

void Require(bool holds) {
  if (!holds) std::abort();
}

template <typename T, typename Format, typename Parse>
void RequireRoundTrip(const Result<T>& parsed, const Format& format, const Parse& parse) {
  if (!parsed.ok()) return;
  const auto again = parse(format(*parsed));
  Require(again.ok() && *again == *parsed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const Result<OffsetLogEntry> entry = ParseOffsetLogEntry(text); entry.ok()) {
    // A lone carriage return inside an offset is read, and refused when written.
    const Result<std::string> written = FormatOffsetLogEntry(*entry);
    if (written.ok()) {
      const Result<OffsetLogEntry> again = ParseOffsetLogEntry(*written);
      Require(again.ok() && again->offsets == entry->offsets);
    }
  }
  RequireRoundTrip(ParseCommitLogEntry(text), FormatCommitLogEntry, ParseCommitLogEntry);
  RequireRoundTrip(ParseOperatorMetadata(text), FormatOperatorMetadata, ParseOperatorMetadata);
  RequireRoundTrip(data::ParseFileSourceEntry(text), data::FormatFileSourceEntry, data::ParseFileSourceEntry);
  RequireRoundTrip(data::ParseFileSinkEntry(text), data::FormatFileSinkEntry, data::ParseFileSinkEntry);
  Require(!ParseQueryMetadata(text).ok() || size >= 45);
  if (const Result<StateSchemaFile> file = ParseStateSchemaFile(text); file.ok() && file->version > 1) {
    const Result<std::string> written = FormatStateSchemaFile(*file);
    Require(written.ok() && ParseStateSchemaFile(*written).ok());
  }
  return 0;
}
