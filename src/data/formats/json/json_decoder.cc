#include "data/formats/json/json_decoder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "data/formats/json/json_document.h"
#include "data/formats/json/json_sink.h"
#include "data/formats/json/json_values.h"
#include "data/text/utf8.h"

namespace thalweg::data {

struct JsonDecoder::Impl {
  explicit Impl(JsonOptions o)
      : options(std::move(o)), document(options), appender(options), corrupt_texts(DataType::String()) {}

  JsonOptions options;
  Shape shape;
  std::unique_ptr<JsonSink> root;
  int corrupt_field = -1;  ///< of the root struct
  JsonDocument document;
  JsonTokenAppender appender;
  TextBuilder corrupt_texts;          ///< of every row, when there is a corrupt-record field
  std::vector<int32_t> dropped_rows;  ///< kDropMalformed: rows that are taken out at the end

  Status AppendOne(std::string_view text, const std::shared_ptr<Buffer>* block) {
    appender.set_block(block);
    JsonScanner scanner(text);
    scanner.SkipBlank();
    if (scanner.at_end()) {
      if (shape.keep_blank) AppendNullRow();
      return Status::OK();
    }
    if (scanner.Peek() == '{' && root->type().Is(TypeKind::kStruct)) {
      if (appender.ScanObject(&scanner, *root, corrupt_field)) return Settle(appender.AppendObject(*root), text);
    } else if (const std::optional<Status> done = AppendOther(&scanner, text)) {
      return *done;
    }
    return AppendLenient(text);
  }

  /// Roots that are not one object for one struct; nothing when the scanner refuses.
  std::optional<Status> AppendOther(JsonScanner* scanner, std::string_view text) {
    JsonToken token;
    bool high = false;
    if (!scanner->Value(&token, &high)) return std::nullopt;
    if (high && !IsValidUtf8(text)) return std::nullopt;
    const bool object = token.kind == JsonToken::Kind::kObject;
    const bool array = token.kind == JsonToken::Kind::kArray;
    if (root->type().Is(TypeKind::kArray) && object && root->element().type().Is(TypeKind::kStruct)) {
      const JsonOutcome outcome = appender.AppendToken(root->element(), token);  // one object stands for an array of it
      return Settle(CloseJsonList(*root, outcome), text);
    }
    if (root->type().Is(TypeKind::kStruct)) {
      if (array && shape.array_as_rows) return std::nullopt;
      return AppendMalformed(text);
    }
    if (root->type().Is(TypeKind::kArray) ? !array : !object) return AppendMalformed(text);
    return Settle(appender.AppendToken(*root, token), text);
  }

  Status AppendLenient(std::string_view text) {
    bool malformed = false;
    const JsonNode* node = document.Parse(text, &malformed);
    if (malformed) return AppendMalformed(text);
    if (node == nullptr) {
      if (shape.keep_blank) AppendNullRow();
      return Status::OK();
    }
    const bool object = node->kind == JsonNode::Kind::kObject;
    const bool array = node->kind == JsonNode::Kind::kArray;
    if (root->type().Is(TypeKind::kArray) && object && root->element().type().Is(TypeKind::kStruct))
      return Settle(CloseJsonList(*root, AppendJsonNode(root->element(), *node)), text);
    if (root->type().Is(TypeKind::kStruct) && array && shape.array_as_rows) {
      return AppendRows(*node, text);
    }
    if (root->type().Is(TypeKind::kArray) ? !array : !object) return AppendMalformed(text);
    return Settle(AppendJsonNode(*root, *node), text);
  }

  /// An array of objects, a row each. One that is none spoils them all; a field that cannot be read marks all of them.
  Status AppendRows(const JsonNode& array, std::string_view text) {
    JsonOutcome worst = JsonOutcome::kGood;
    for (const JsonNode* item : array.items) {
      if (item->kind != JsonNode::Kind::kObject) return AppendMalformed(text);
    }
    for (const JsonNode* item : array.items) worst = std::max(worst, AppendJsonNode(*root, *item));
    for (size_t row = array.items.size(); row > 0; --row)
      TW_RETURN_NOT_OK(Settle(worst, text, static_cast<int64_t>(row)));
    return Status::OK();
  }

  void AppendNullRow() {
    root->AppendNull();
    if (corrupt_field >= 0) corrupt_texts.AppendNull();
  }

  /// After a row was appended, the last one or one before it.
  Status Settle(JsonOutcome outcome, std::string_view text, int64_t from_end = 1) {
    const bool good = outcome == JsonOutcome::kGood;
    if (corrupt_field >= 0) {
      if (good)
        corrupt_texts.AppendNull();
      else
        corrupt_texts.Append(text);
    }
    if (good) return Status::OK();
    if (options.mode == ParseMode::kFailFast) return Malformed(text);
    if (options.mode == ParseMode::kDropMalformed) dropped_rows.push_back(static_cast<int32_t>(root->length() - from_end));
    return Status::OK();
  }

  Status AppendMalformed(std::string_view text) {
    if (options.mode == ParseMode::kFailFast) return Malformed(text);
    if (options.mode == ParseMode::kDropMalformed) return Status::OK();
    if (!root->type().Is(TypeKind::kStruct)) {
      root->AppendNull();
      return Status::OK();
    }
    for (JsonField& field : root->fields()) field.sink->AppendNull();
    root->CloseStruct();
    return Settle(JsonOutcome::kFailed, text);
  }

  static Status Malformed(std::string_view text) {
    return Error("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
        .With("badRecord", text)
        .With("failFastMode", "FAILFAST");
  }

  ColumnPtr Finish() {
    ColumnPtr column = root->Finish();
    if (corrupt_field >= 0) {
      Column::Parts parts = column->parts();
      parts.children[static_cast<size_t>(corrupt_field)] = corrupt_texts.Finish();
      column = Column::Make(std::move(parts));
    }
    if (dropped_rows.empty()) return column;
    std::vector<int32_t> kept;
    size_t dropped = 0;
    for (int32_t row = 0; row < column->length(); ++row) {
      if (dropped < dropped_rows.size() && dropped_rows[dropped] == row)
        ++dropped;
      else
        kept.push_back(row);
    }
    dropped_rows.clear();
    return Take(column, kept);
  }
};

JsonDecoder::JsonDecoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonDecoder::~JsonDecoder() = default;

Result<std::unique_ptr<JsonDecoder>> JsonDecoder::Make(const DataType& type, JsonOptions options,
                                                       Shape shape) {
  auto impl = std::make_unique<Impl>(std::move(options));
  impl->shape = shape;
  TW_ASSIGN_OR_RETURN(impl->root, JsonSink::Make(type, impl->options));
  if (type.Is(TypeKind::kStruct)) {
    for (size_t i = 0; i < type.fields().size(); ++i) {
      if (type.fields()[i].name == impl->options.corrupt_record_column &&
          type.fields()[i].type.Is(TypeKind::kString))
        impl->corrupt_field = static_cast<int>(i);
    }
  }
  return std::unique_ptr<JsonDecoder>(new JsonDecoder(std::move(impl)));
}

Status JsonDecoder::Append(std::string_view text, const std::shared_ptr<Buffer>* block) {
  return impl_->AppendOne(text, block);
}

void JsonDecoder::AppendNull() { impl_->AppendNullRow(); }

int64_t JsonDecoder::length() const {
  return impl_->root->length() - static_cast<int64_t>(impl_->dropped_rows.size());
}

ColumnPtr JsonDecoder::Finish() { return impl_->Finish(); }

}  // namespace thalweg::data
