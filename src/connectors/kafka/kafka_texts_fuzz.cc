// Texts that options and checkpoints hold: no crash, and what was understood is written in a form
// that reads the same.

#include <cstdint>
#include <cstdlib>

#include "connectors/kafka/kafka_jaas.h"
#include "connectors/kafka/kafka_offsets.h"
#include "connectors/kafka/kafka_scram.h"
#include "connectors/kafka/kafka_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg;              // NOLINT
  using namespace thalweg::connectors;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const Result<PartitionOffsets> offsets = ParseOffsets(text); offsets.ok()) {
    const Result<PartitionOffsets> again = ParseOffsets(FormatOffsets(*offsets));
    if (!again.ok() || *again != *offsets) std::abort();
  }
  if (const Result<PartitionOffsets> initial = ParseInitialOffsets(text); initial.ok()) {
    const Result<PartitionOffsets> again = ParseInitialOffsets(FormatInitialOffsets(*initial));
    if (!again.ok() || *again != *initial) std::abort();
  }
  Ignore(ParsePartitions(text).status(), "only that it ends");
  Ignore(ParseJaasConfig(text).status(), "only that it ends");
  if (text.find(",i=") != std::string_view::npos && text.find(",i=1,") == std::string_view::npos)
    return 0;  // slow on purpose
  ScramClient scram("SCRAM-SHA-256", "user", "pencil", "abc");
  Ignore(scram.FinalMessage(text).status(), "only that it ends");
  Ignore(scram.CheckServer(text), "only that it ends");
  return 0;
}
