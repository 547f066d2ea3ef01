#pragma once

// One Arrow IPC stream piece by piece, for conversations in which both sides stream. WriteIpcStream and ReadIpcStream of
// arrow_bridge.h are for streams that are there as a whole.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/columnar/arrow_bridge.h"

namespace thalweg::data {

/// Bytes of a stream: schema, batches, end, in this order. Thread: confined.
class IpcEncoder {
 public:
  static Result<std::unique_ptr<IpcEncoder>> Make(const Schema& schema, const ExportOptions& options);
  ~IpcEncoder();
  /// Append to `*out` what has to be sent next; the schema goes before the first batch or the end.
  Status Batch(const Chunk& chunk, std::string* out);
  Status End(std::string* out);

 private:
  IpcEncoder();
  struct State;
  std::unique_ptr<State> state_;
};

/// Chunks of a stream whose columns have the given types, whatever equal ones Arrow's are. Every batch is checked. Thread: confined.
class IpcDecoder {
 public:
  explicit IpcDecoder(std::vector<DataType> types);
  ~IpcDecoder();
  /// Bytes that the next Take needs; 0: the stream has ended.
  int64_t wanted() const;
  /// Takes exactly wanted() bytes (copied); adds the chunk that they complete, if any.
  /// Errors: INTERNAL_ERROR for bytes that are no such stream.
  Status Take(std::string_view bytes, std::vector<Chunk>* out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::data
