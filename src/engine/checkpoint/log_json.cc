#include "engine/checkpoint/log_json.h"

#include <algorithm>

#include "data/logs/log_text.h"

namespace thalweg::engine {
namespace {

constexpr int kDeepest = 64;

// Deepest nesting of brackets outside strings.
int NestingOf(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<OrderedJson> ParseLogObject(std::string_view place, std::string_view text) {
  if (NestingOf(text) > kDeepest) return data::MalformedLogEntry(place, "JSON that is nested too deeply");
  OrderedJson object = OrderedJson::parse(text, nullptr, false);
  if (!object.is_object()) return data::MalformedLogEntry(place, "not a JSON object");
  return object;
}

Result<int64_t> IntegerMember(std::string_view place, const OrderedJson& object, const char* name,
                              std::optional<int64_t> missing) {
  const auto found = object.find(name);
  if (found == object.end() && missing.has_value()) return *missing;
  const bool fits = found != object.end() && found->is_number_integer() &&
                    !(found->is_number_unsigned() && found->get<uint64_t>() > INT64_MAX);
  if (!fits) {
    return data::MalformedLogEntry(place, std::string("no integer ") + name);
  }
  return found->get<int64_t>();
}

Result<std::string> TextMember(std::string_view place, const OrderedJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) {
    return data::MalformedLogEntry(place, std::string("no text ") + name);
  }
  return found->get<std::string>();
}

std::string DumpLine(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace thalweg::engine
