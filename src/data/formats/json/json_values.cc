#include "data/formats/json/json_values.h"

#include <algorithm>
#include <charconv>

#include "data/formats/json/json_writer.h"
#include "data/text/numbers.h"
#include "data/text/utf8.h"

namespace thalweg::data {
namespace {

/// A number as Jackson writes it when it copies it into a string field.
std::string NumberText(const JsonNode& node) {
  double value = 0;
  std::string text;
  if (node.kind == JsonNode::Kind::kFraction && ParseDouble(node.text, &value))
    AppendDouble(value, &text);
  else
    text = node.text == "-0" ? "0" : node.text;
  return text;
}

/// A value as compact JSON, as Jackson copies it into a string field.
void WriteCompact(const JsonNode& node, std::string* out) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      out->append("null");
      return;
    case JsonNode::Kind::kTrue:
      out->append("true");
      return;
    case JsonNode::Kind::kFalse:
      out->append("false");
      return;
    case JsonNode::Kind::kString:
      AppendJsonString(node.text, out);
      return;
    case JsonNode::Kind::kArray:
    case JsonNode::Kind::kObject: {
      const bool object = node.kind == JsonNode::Kind::kObject;
      out->push_back(object ? '{' : '[');
      for (size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out->push_back(',');
        if (object) {
          AppendJsonString(node.names[i], out);
          out->push_back(':');
        }
        WriteCompact(*node.items[i], out);
      }
      out->push_back(object ? '}' : ']');
      return;
    }
    default:
      out->append(NumberText(node));
  }
}

/// Kinds whose text in the file is the value's text.
bool IsWritten(JsonNode::Kind kind) {
  return kind != JsonNode::Kind::kString && kind != JsonNode::Kind::kTrue && kind != JsonNode::Kind::kFalse;
}

JsonOutcome Judge(bool good) { return good ? JsonOutcome::kGood : JsonOutcome::kFailed; }

JsonOutcome Fail(JsonSink& sink) {
  sink.AppendNull();
  return JsonOutcome::kFailed;
}

JsonOutcome AppendNodeObject(JsonSink& sink, const JsonNode& node) {
  std::vector<JsonField>& fields = sink.fields();
  std::vector<const JsonNode*> values(fields.size());
  for (size_t i = 0; i < node.items.size(); ++i) {
    const int at = sink.FindField(node.names[i]);
    if (at >= 0) values[static_cast<size_t>(at)] = node.items[i];  // of a name that repeats the last counts
  }
  JsonOutcome outcome = JsonOutcome::kGood;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (values[i] == nullptr)
      fields[i].sink->AppendNull();
    else if (AppendJsonNode(*fields[i].sink, *values[i]) != JsonOutcome::kGood)
      outcome = JsonOutcome::kPartial;
  }
  sink.CloseStruct();
  return outcome;
}

JsonOutcome AppendNodeNested(JsonSink& sink, const JsonNode& node) {
  const bool object = node.kind == JsonNode::Kind::kObject;
  JsonOutcome worst = JsonOutcome::kGood;
  if (sink.type().Is(TypeKind::kStruct)) return object ? AppendNodeObject(sink, node) : Fail(sink);
  if (sink.type().Is(TypeKind::kArray)) {
    if (node.kind != JsonNode::Kind::kArray) return Fail(sink);
    for (const JsonNode* item : node.items) worst = std::max(worst, AppendJsonNode(sink.element(), *item));
    return CloseJsonList(sink, worst);
  }
  if (!object) return Fail(sink);
  for (size_t i = 0; i < node.items.size(); ++i) {
    sink.element().AppendText(node.names[i]);
    worst = std::max(worst, AppendJsonNode(sink.map_value(), *node.items[i]));
  }
  return CloseJsonList(sink, worst);
}

}  // namespace

JsonOutcome CloseJsonList(JsonSink& sink, JsonOutcome worst) {
  if (worst == JsonOutcome::kFailed)
    sink.CloseListAsNull();
  else
    sink.CloseList();
  return worst;
}

JsonOutcome AppendJsonNode(JsonSink& sink, const JsonNode& node) {
  if (node.kind == JsonNode::Kind::kNull) {
    sink.AppendNull();
    return JsonOutcome::kGood;
  }
  if (sink.is_nested()) return AppendNodeNested(sink, node);
  if (sink.keeps_text() && IsWritten(node.kind)) {
    sink.AppendText(node.text);
    return JsonOutcome::kGood;
  }
  switch (node.kind) {
    case JsonNode::Kind::kTrue:
    case JsonNode::Kind::kFalse:
      return Judge(sink.AppendBoolean(node.kind == JsonNode::Kind::kTrue));
    case JsonNode::Kind::kString:
      return Judge(sink.AppendString(node.text));
    case JsonNode::Kind::kArray:
    case JsonNode::Kind::kObject: {
      if (!sink.is_string()) return Fail(sink);
      std::string text;
      WriteCompact(node, &text);
      sink.AppendText(text);
      return JsonOutcome::kGood;
    }
    default:
      return Judge(sink.AppendNumber(node.text, node.kind != JsonNode::Kind::kInteger));
  }
}

bool JsonTokenAppender::ScanObject(JsonScanner* scanner, JsonSink& sink, int skip) {
  JsonSink::Members& members = sink.members();
  members.tokens.resize(sink.fields().size());
  for (JsonToken& token : members.tokens) token.kind = JsonToken::Kind::kAbsent;
  scanner->set_at(scanner->at() + 1);
  scanner->SkipBlank();
  if (scanner->Peek() == '}') {
    scanner->set_at(scanner->at() + 1);
    return true;
  }
  JsonToken other;
  size_t position = 0;
  for (bool more = true; more; ++position) {
    if (scanner->Peek() != '"') return false;
    int field = -1;
    if (position < members.names.size() && scanner->TakeText(1, members.names[position].text)) {
      field = members.names[position].field;
      if (static_cast<unsigned char>(scanner->Peek()) <= ' ') scanner->SkipBlank();
    } else {
      bool high = false;
      if (!scanner->String(&other, &high) || other.escaped) return false;
      field = sink.FindField(other.text());
      if (field == skip) field = -1;
      members.names.resize(std::max(members.names.size(), position + 1));
      members.names[position] = {std::string(other.text()) + "\":", field};
      if (!scanner->Expect(':')) return false;
    }
    bool high = false;
    JsonToken* token = field >= 0 ? &members.tokens[static_cast<size_t>(field)] : &other;
    if (!scanner->Value(token, &high)) return false;
    if (high && field >= 0 && !IsValidUtf8(token->text())) return false;
    if (!scanner->Next('}', &more)) return false;
  }
  return true;
}

JsonOutcome JsonTokenAppender::AppendObject(JsonSink& sink) {
  std::vector<JsonField>& fields = sink.fields();
  const std::vector<JsonToken>& tokens = sink.members().tokens;
  JsonOutcome outcome = JsonOutcome::kGood;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (AppendToken(*fields[i].sink, tokens[i]) != JsonOutcome::kGood) outcome = JsonOutcome::kPartial;
  }
  sink.CloseStruct();
  return outcome;
}

JsonOutcome JsonTokenAppender::AppendToken(JsonSink& sink, const JsonToken& token) {
  switch (token.kind) {
    case JsonToken::Kind::kAbsent:
    case JsonToken::Kind::kNull:
      sink.AppendNull();
      return JsonOutcome::kGood;
    case JsonToken::Kind::kObject:
    case JsonToken::Kind::kArray:
    case JsonToken::Kind::kInteger:
    case JsonToken::Kind::kFraction:
      if (sink.keeps_text()) {
        sink.AppendText(token.text());
        return JsonOutcome::kGood;
      }
      if (token.kind == JsonToken::Kind::kObject || token.kind == JsonToken::Kind::kArray) return AppendNested(sink, token);
      break;
    default:
      break;
  }
  if (sink.is_nested()) return Fail(sink);
  switch (token.kind) {
    case JsonToken::Kind::kString:
      return AppendText(sink, token);
    case JsonToken::Kind::kInteger:
      return Judge(token.is_small ? sink.AppendInteger(token.integer) : sink.AppendNumber(token.text(), false));
    case JsonToken::Kind::kFraction: {
      double value = 0;
      if (!sink.type().Is(TypeKind::kDouble)) return Judge(sink.AppendNumber(token.text(), true));
      const auto parsed = std::from_chars(token.begin, token.end, value);
      if (parsed.ec != std::errc{}) return Judge(sink.AppendNumber(token.text(), true));
      return Judge(sink.AppendFraction(value));
    }
    default:
      return Judge(sink.AppendBoolean(token.kind == JsonToken::Kind::kTrue));
  }
}

JsonOutcome JsonTokenAppender::AppendText(JsonSink& sink, const JsonToken& token) {
  std::string_view text = token.text();
  if (token.escaped) {
    unescaped_.clear();
    AppendUnescaped(text, &unescaped_);
    return Judge(sink.AppendString(unescaped_));
  }
  if (block_ == nullptr || !sink.is_string()) return Judge(sink.AppendString(text));
  sink.AppendTextIn(text, *block_);
  return JsonOutcome::kGood;
}

JsonOutcome JsonTokenAppender::AppendNested(JsonSink& sink, const JsonToken& token) {
  const bool object = token.kind == JsonToken::Kind::kObject;
  if (!sink.is_nested()) {
    if (!sink.is_string()) return Fail(sink);
    bool malformed = false;
    const JsonNode* node = document_.Parse(token.text(), &malformed);
    return node != nullptr ? AppendJsonNode(sink, *node) : Fail(sink);
  }
  JsonScanner scanner(token.begin, token.end);
  if (sink.type().Is(TypeKind::kStruct)) {
    if (!object) return Fail(sink);
    if (ScanObject(&scanner, sink, -1)) return AppendObject(sink);
    // A name with escapes.
    bool malformed = false;
    const JsonNode* node = document_.Parse(token.text(), &malformed);
    return node != nullptr ? AppendJsonNode(sink, *node) : Fail(sink);
  }
  if (object != sink.type().Is(TypeKind::kMap)) return Fail(sink);
  JsonOutcome worst = JsonOutcome::kGood;
  const char close = object ? '}' : ']';
  scanner.set_at(token.begin + 1);
  scanner.SkipBlank();
  if (scanner.Peek() == close) return CloseJsonList(sink, worst);
  JsonToken name, value;
  bool high = false;
  for (bool more = true; more;) {
    if (object && (!scanner.String(&name, &high) || !scanner.Expect(':'))) break;
    if (!scanner.Value(&value, &high)) break;
    if (object) AppendText(sink.element(), name);
    worst = std::max(worst, AppendToken(object ? sink.map_value() : sink.element(), value));
    if (!scanner.Next(close, &more)) break;
  }
  return CloseJsonList(sink, worst);
}

}  // namespace thalweg::data
