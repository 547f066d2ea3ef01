// State files of every codec, and rows: no crash, and what was understood survives being written again.

#include <cstdint>
#include <cstdlib>

#include "engine/state/hdfs/state_file_format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg;          // NOLINT
  using namespace thalweg::engine;  // NOLINT
  if (size == 0) return 0;
  const std::string_view file(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const StateFileSource source{.path = "input",
                               .store = "store",
                               .snapshot = (bytes[0] & 4) != 0,
                               .row_checksum = (bytes[0] & 8) != 0,
                               .codec = static_cast<StateCodecKind>(bytes[0] & 3)};
  StateFileEncoder encoder(source.codec, source.row_checksum);
  std::string seen;
  const auto note = [](std::span<const StateChange> changes, std::string* text) {
    for (const StateChange& change : changes) {
      text->append(change.key).append(change.removed ? "-" : "+").append(change.value);
    }
  };
  const Status read = DecodeStateFile(source, file, [&](std::span<const StateChange> changes) {
    note(changes, &seen);
    return encoder.Append(changes);
  });
  if (!read.ok()) return 0;
  if (!encoder.Finish().ok()) std::abort();
  std::string again;
  const Status read_again = DecodeStateFile(source, encoder.bytes(), [&](std::span<const StateChange> changes) {
    note(changes, &again);
    return Status::OK();
  });
  if (!read_again.ok() || again != seen) std::abort();
  return 0;
}
