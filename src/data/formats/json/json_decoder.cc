#include "data/formats/json/json_decoder.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "data/formats/json/json_document.h"
#include "data/formats/json/json_sink.h"
#include "data/formats/json/json_writer.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

namespace dom = simdjson::dom;

/// A value of the fast reader, for the shared conversion below.
struct FastValue {
  dom::element element;
};

/// Whether everything that lands in `sink` can be taken from the fast reader's value: it forgets
/// the digits of fractions and does not know integers beyond 64 bits.
bool FastSuffices(JsonSink& sink, dom::element element) {
  if (!sink.wants_digits()) return true;
  switch (element.type()) {
    case dom::element_type::OBJECT: {
      if (sink.type().Is(TypeKind::kMap)) {
        for (const auto member : dom::object(element)) {
          if (!FastSuffices(sink.map_value(), member.value)) return false;
        }
      } else if (sink.type().Is(TypeKind::kStruct)) {
        int hint = 0;
        for (const auto member : dom::object(element)) {
          const int at = sink.FindField(member.key, hint);
          hint = at + 1;
          if (at >= 0 && !FastSuffices(*sink.fields()[at].sink, member.value)) return false;
        }
      }
      return true;
    }
    case dom::element_type::ARRAY:
      if (!sink.type().Is(TypeKind::kArray)) return true;
      for (const dom::element item : dom::array(element)) {
        if (!FastSuffices(sink.element(), item)) return false;
      }
      return true;
    case dom::element_type::DOUBLE:
    case dom::element_type::UINT64:
      return !sink.type().Is(TypeKind::kDecimal);
    default:
      return true;
  }
}

enum class Token : uint8_t { kNull, kBoolean, kInteger, kNumber, kString, kArray, kObject };

Token TokenOf(const FastValue& value) {
  switch (value.element.type()) {
    case dom::element_type::OBJECT:
      return Token::kObject;
    case dom::element_type::ARRAY:
      return Token::kArray;
    case dom::element_type::STRING:
      return Token::kString;
    case dom::element_type::BOOL:
      return Token::kBoolean;
    case dom::element_type::INT64:
      return Token::kInteger;
    case dom::element_type::NULL_VALUE:
      return Token::kNull;
    default:
      return Token::kNumber;
  }
}

Token TokenOf(const JsonNode* node) {
  switch (node->kind) {
    case JsonNode::Kind::kNull:
      return Token::kNull;
    case JsonNode::Kind::kTrue:
    case JsonNode::Kind::kFalse:
      return Token::kBoolean;
    case JsonNode::Kind::kString:
      return Token::kString;
    case JsonNode::Kind::kArray:
      return Token::kArray;
    case JsonNode::Kind::kObject:
      return Token::kObject;
    default:
      return Token::kNumber;
  }
}

bool Boolean(const FastValue& value) { return bool(value.element); }
bool Boolean(const JsonNode* node) { return node->kind == JsonNode::Kind::kTrue; }
std::string_view Text(const FastValue& value) { return std::string_view(value.element); }
std::string_view Text(const JsonNode* node) { return node->text; }
bool AppendNumber(JsonSink& sink, const FastValue& value) {
  if (value.element.type() == dom::element_type::UINT64)
    return sink.AppendNumber(std::to_string(uint64_t(value.element)), false);
  return sink.AppendFraction(double(value.element));
}
bool AppendNumber(JsonSink& sink, const JsonNode* node) {
  return sink.AppendNumber(node->text, node->kind != JsonNode::Kind::kInteger);
}
bool AppendInteger(JsonSink& sink, const FastValue& value) {
  return sink.AppendInteger(int64_t(value.element));
}
bool AppendInteger(JsonSink& sink, const JsonNode* node) { return AppendNumber(sink, node); }
std::string NumberText(const FastValue& value) {
  std::string text;
  if (value.element.type() == dom::element_type::INT64)
    text = std::to_string(int64_t(value.element));
  else if (value.element.type() == dom::element_type::UINT64)
    text = std::to_string(uint64_t(value.element));
  else
    AppendDouble(double(value.element), &text);
  return text;
}
std::string NumberText(const JsonNode* node) {
  double value = 0;
  std::string text;
  if (node->kind == JsonNode::Kind::kFraction && ParseDouble(node->text, &value))
    AppendDouble(value, &text);
  else
    text = node->text == "-0" ? "0" : node->text;
  return text;
}

template <typename F>
void ForEachMember(const FastValue& value, F&& f) {
  for (const auto member : dom::object(value.element))
    f(std::string_view(member.key), FastValue{member.value});
}
template <typename F>
void ForEachMember(const JsonNode* node, F&& f) {
  for (size_t i = 0; i < node->items.size(); ++i) f(node->names[i], node->items[i]);
}
template <typename F>
void ForEachItem(const FastValue& value, F&& f) {
  for (const dom::element item : dom::array(value.element)) f(FastValue{item});
}
template <typename F>
void ForEachItem(const JsonNode* node, F&& f) {
  for (const JsonNode* item : node->items) f(item);
}

/// What became of a value. kPartial: it stands, but a field somewhere below could not be read and
/// is null. kFailed: it could not be read; its own row is null.
enum class Outcome : uint8_t { kGood, kPartial, kFailed };

/// Appends one row to `sink`.
template <typename V>
Outcome AppendValue(JsonSink& sink, const V& value);

/// A value as compact JSON, as Jackson copies it into a string field.
template <typename V>
void WriteCompact(const V& value, std::string* out) {
  bool first = true;
  const auto separate = [&] {
    if (!first) out->push_back(',');
    first = false;
  };
  switch (TokenOf(value)) {
    case Token::kNull:
      out->append("null");
      return;
    case Token::kBoolean:
      out->append(Boolean(value) ? "true" : "false");
      return;
    case Token::kString:
      AppendJsonString(Text(value), out);
      return;
    case Token::kInteger:
    case Token::kNumber:
      out->append(NumberText(value));
      return;
    case Token::kArray:
      out->push_back('[');
      ForEachItem(value, [&](const V& item) {
        separate();
        WriteCompact(item, out);
      });
      out->push_back(']');
      return;
    case Token::kObject:
      out->push_back('{');
      ForEachMember(value, [&](std::string_view name, const V& member) {
        separate();
        AppendJsonString(name, out);
        out->push_back(':');
        WriteCompact(member, out);
      });
      out->push_back('}');
  }
}

template <typename V>
Outcome AppendObject(JsonSink& sink, const V& value) {
  std::vector<JsonField>& fields = sink.fields();
  // Of a name that repeats the last member counts, so places are collected first.
  constexpr size_t kOnStack = 32;
  V on_stack[kOnStack];
  std::vector<V> on_heap(fields.size() > kOnStack ? fields.size() : 0);
  V* values = fields.size() > kOnStack ? on_heap.data() : on_stack;
  std::vector<bool> many;
  uint64_t present = 0;
  if (fields.size() > 64) many.resize(fields.size());
  int hint = 0;
  ForEachMember(value, [&](std::string_view name, const V& member) {
    const int at = sink.FindField(name, hint);
    hint = at + 1;
    if (at < 0) return;
    values[at] = member;
    if (many.empty())
      present |= uint64_t{1} << at;
    else
      many[at] = true;
  });
  Outcome outcome = Outcome::kGood;
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool there = many.empty() ? (present >> i & 1) != 0 : many[i];
    if (!there)
      fields[i].sink->AppendNull();
    else if (AppendValue(*fields[i].sink, values[i]) != Outcome::kGood)
      outcome = Outcome::kPartial;
  }
  sink.CloseStruct();
  return outcome;
}

/// One element that cannot be read makes the whole list null; structs in it may be partial.
Outcome CloseList(JsonSink& sink, Outcome worst) {
  if (worst == Outcome::kFailed)
    sink.CloseListAsNull();
  else
    sink.CloseList();
  return worst;
}

template <typename V>
Outcome AppendNested(JsonSink& sink, const V& value, Token token) {
  Outcome worst = Outcome::kGood;
  switch (sink.type().kind()) {
    case TypeKind::kStruct:
      if (token == Token::kObject) return AppendObject(sink, value);
      break;
    case TypeKind::kArray:
      if (token != Token::kArray) break;
      ForEachItem(value, [&](const V& item) {
        worst = std::max(worst, AppendValue(sink.element(), item));
      });
      return CloseList(sink, worst);
    default:
      if (token != Token::kObject) break;
      ForEachMember(value, [&](std::string_view name, const V& member) {
        sink.element().AppendText(name);
        worst = std::max(worst, AppendValue(sink.map_value(), member));
      });
      return CloseList(sink, worst);
  }
  sink.AppendNull();
  return Outcome::kFailed;
}

template <typename V>
Outcome AppendValue(JsonSink& sink, const V& value) {
  const Token token = TokenOf(value);
  bool good = true;
  if (token == Token::kNull) {
    sink.AppendNull();
    return Outcome::kGood;
  }
  if (sink.type().IsNested()) return AppendNested(sink, value, token);
  switch (token) {
    case Token::kBoolean:
      good = sink.AppendBoolean(Boolean(value));
      break;
    case Token::kInteger:
      good = AppendInteger(sink, value);
      break;
    case Token::kNumber:
      good = AppendNumber(sink, value);
      break;
    case Token::kString:
      good = sink.AppendString(Text(value));
      break;
    default:
      good = sink.is_string();
      if (good) {
        std::string text;
        WriteCompact(value, &text);
        sink.AppendText(text);
      } else {
        sink.AppendNull();
      }
  }
  return good ? Outcome::kGood : Outcome::kFailed;
}

}  // namespace

struct JsonDecoder::Impl {
  explicit Impl(JsonOptions o) : options(std::move(o)), document(options) {}

  JsonOptions options;
  Shape shape;
  std::unique_ptr<JsonSink> root;
  int corrupt_field = -1;  ///< of the root struct
  dom::parser parser;
  std::vector<char> padded;
  JsonDocument document;

  Status AppendOne(std::string_view text) {
    padded.resize(std::max(padded.size(), text.size() + simdjson::SIMDJSON_PADDING));
    std::memcpy(padded.data(), text.data(), text.size());
    dom::element element;
    const simdjson::error_code error =
        parser.parse(padded.data(), text.size(), /*realloc_if_needed=*/false).get(element);
    const bool byte_order_mark =
        text.starts_with("\xEF\xBB\xBF");  // simdjson skips it, Jackson does not
    if (error == simdjson::SUCCESS && !byte_order_mark && FastSuffices(*root, element))
      return AppendRoot(FastValue{element}, text);
    bool malformed = false;
    const JsonNode* node = document.Parse(text, &malformed);
    if (node != nullptr) return AppendRoot(node, text);
    if (malformed) return AppendMalformed(text);
    if (shape.keep_blank) AppendNullRow();
    return Status::OK();
  }

  void AppendNullRow() {
    root->AppendNull();
    if (corrupt_field >= 0) corrupt_texts.emplace_back();
  }

  template <typename V>
  Status AppendRoot(const V& value, std::string_view text) {
    const Token token = TokenOf(value);
    if (root->type().Is(TypeKind::kArray) && token == Token::kObject &&
        root->element().type().Is(TypeKind::kStruct)) {
      const Outcome outcome =
          AppendValue(root->element(), value);  // one object stands for an array of it
      return Settle(CloseList(*root, outcome) == Outcome::kGood, text);
    }
    if (root->type().Is(TypeKind::kStruct) && token == Token::kArray && shape.array_as_rows) {
      Status status;
      ForEachItem(value, [&](const V& item) {
        if (!status.ok()) return;
        status = TokenOf(item) == Token::kObject ? AppendRow(item, text) : AppendMalformed(text);
      });
      return status;
    }
    const bool fits =
        root->type().Is(TypeKind::kArray) ? token == Token::kArray : token == Token::kObject;
    if (!fits) return AppendMalformed(text);
    return AppendRow(value, text);
  }

  template <typename V>
  Status AppendRow(const V& value, std::string_view text) {
    if (options.mode == ParseMode::kDropMalformed && !Readable(value)) return Status::OK();
    return Settle(AppendValue(*root, value) == Outcome::kGood, text);
  }

  /// Whether all of a value can be read; only asked where bad rows are dropped, since rows cannot
  /// be taken back.
  template <typename V>
  bool Readable(const V& value) {
    Result<std::unique_ptr<JsonSink>> scratch = JsonSink::Make(root->type(), options);
    return scratch.ok() && AppendValue(**scratch, value) == Outcome::kGood;
  }

  /// After a row was appended. The corrupt-record field was filled with null (no member has its
  /// name): it is written last.
  Status Settle(bool good, std::string_view text) {
    if (!good && options.mode == ParseMode::kFailFast) return Malformed(text);
    if (corrupt_field >= 0)
      corrupt_texts.push_back(good ? std::optional<std::string>()
                                   : std::optional<std::string>(text));
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
    return Settle(false, text);
  }

  static Status Malformed(std::string_view text) {
    return Error("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
        .With("badRecord", text)
        .With("failFastMode", "FAILFAST");
  }

  std::vector<std::optional<std::string>>
      corrupt_texts;  ///< of every row, when there is a corrupt-record field
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

Status JsonDecoder::Append(std::string_view text) { return impl_->AppendOne(text); }

void JsonDecoder::AppendNull() { impl_->AppendNullRow(); }

int64_t JsonDecoder::length() const { return impl_->root->length(); }

ColumnPtr JsonDecoder::Finish() {
  ColumnPtr column = impl_->root->Finish();
  if (impl_->corrupt_field < 0) return column;
  TextBuilder texts(DataType::String());
  for (const std::optional<std::string>& text : impl_->corrupt_texts) {
    if (text)
      texts.Append(*text);
    else
      texts.AppendNull();
  }
  impl_->corrupt_texts.clear();
  Column::Parts parts = column->parts();
  parts.children[impl_->corrupt_field] = texts.Finish();
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::data
