#pragma once

// From values found in a text to rows of a sink. Private to the folder.

#include "data/formats/json/json_document.h"
#include "data/formats/json/json_scanner.h"
#include "data/formats/json/json_sink.h"

namespace thalweg::data {

/// What became of a value. kPartial: it stands, but a field somewhere below could not be read and is null. kFailed: it
/// could not be read; its own row is null.
enum class JsonOutcome : uint8_t { kGood, kPartial, kFailed };

/// One element that cannot be read makes the whole list null; structs in it may be partial.
JsonOutcome CloseJsonList(JsonSink& sink, JsonOutcome worst);

/// Appends one row to a sink, from the lenient reader's value.
JsonOutcome AppendJsonNode(JsonSink& sink, const JsonNode& node);

/// Appends rows from what the scanner finds. Thread: confined.
class JsonTokenAppender {
 public:
  explicit JsonTokenAppender(const JsonOptions& options) : document_(options) {}
  /// What holds the text, so that strings may stay there; null: they are copied.
  void set_block(const std::shared_ptr<Buffer>* block) { block_ = block; }

  /// Finds the members of the object at the scanner's position that are fields of `sink`, into its tokens; `skip` is a
  /// field that no member may fill (-1: none). False: not strict JSON, or not UTF-8 where it matters.
  bool ScanObject(JsonScanner* scanner, JsonSink& sink, int skip);
  /// One row of what ScanObject found.
  JsonOutcome AppendObject(JsonSink& sink);
  /// One row of any value that a scanner has walked over.
  JsonOutcome AppendToken(JsonSink& sink, const JsonToken& token);

 private:
  JsonOutcome AppendNested(JsonSink& sink, const JsonToken& token);
  JsonOutcome AppendText(JsonSink& sink, const JsonToken& token);

  const std::shared_ptr<Buffer>* block_ = nullptr;
  std::string unescaped_;
  JsonDocument document_;
};

}  // namespace thalweg::data
