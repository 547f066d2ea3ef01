#include "data/formats/option_list.h"

#include <charconv>
#include <cstdlib>

#include "base/string_case.h"

namespace thalweg::data {
namespace {

Status BadValue(std::string_view name, std::string_view value, std::string_view expected) {
  return Error("INVALID_OPTION_VALUE").With("option", name).With("value", value).With("expected", expected);
}

}  // namespace

const std::string* FindOption(const OptionList& options, std::string_view name) {
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    if (EqualsIgnoreCase(option->first, name)) return &option->second;
  }
  return nullptr;
}

std::string TextOption(const OptionList& options, std::string_view name, std::string_view otherwise) {
  const std::string* text = FindOption(options, name);
  return text != nullptr ? *text : std::string(otherwise);
}

Result<bool> BoolOption(const OptionList& options, std::string_view name, bool otherwise) {
  const std::string* text = FindOption(options, name);
  if (text == nullptr) return otherwise;
  if (EqualsIgnoreCase(*text, "true")) return true;
  if (EqualsIgnoreCase(*text, "false")) return false;
  return BadValue(name, *text, "true or false");
}

Result<int64_t> IntOption(const OptionList& options, std::string_view name, int64_t otherwise) {
  const std::string* text = FindOption(options, name);
  if (text == nullptr) return otherwise;
  int64_t value = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text->data() + text->size()) return BadValue(name, *text, "an integer");
  return value;
}

Result<double> SamplingRatioOption(const OptionList& options) {
  const std::string* text = FindOption(options, "samplingRatio");
  if (text == nullptr) return 1.0;
  char* end = nullptr;
  const double ratio = std::strtod(text->c_str(), &end);
  if (end == text->c_str() || *end != '\0' || !(ratio > 0) || ratio > 1)
    return BadValue("samplingRatio", *text, "a number above 0 and up to 1");
  return ratio;
}

Result<std::optional<std::string>> LineSeparatorOption(const OptionList& options) {
  const std::string* text = FindOption(options, "lineSep");
  if (text == nullptr) return std::optional<std::string>();
  if (text->empty())
    return Error("ILLEGAL_ARGUMENT").With("message", "requirement failed: 'lineSep' cannot be an empty string.");
  return std::optional<std::string>(*text);
}

ParseMode ParseModeOption(const OptionList& options) {
  const std::string* text = FindOption(options, "mode");
  if (text != nullptr && EqualsIgnoreCase(*text, "FAILFAST")) return ParseMode::kFailFast;
  if (text != nullptr && EqualsIgnoreCase(*text, "DROPMALFORMED")) return ParseMode::kDropMalformed;
  return ParseMode::kPermissive;
}

}  // namespace thalweg::data
