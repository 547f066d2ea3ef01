#include "connectors/kafka/kafka_jaas.h"

#include <optional>
#include <vector>

#include "base/string_case.h"

namespace thalweg::connectors {
namespace {

Status Malformed(std::string_view what) {
  return Error("ILLEGAL_ARGUMENT")
      .With("message",
            "Kafka option 'sasl.jaas.config' cannot be read: " + std::string(what) +
                ". Expected e.g. org.apache.kafka.common.security.plain.PlainLoginModule required "
                "username=\"...\" password=\"...\";");
}

/// Words, quoted texts and the symbols = and ;
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  /// The next token; nothing at the end. `quoted` tells a text in quotes from a bare word.
  Result<std::optional<std::string>> Next(bool* quoted) {
    *quoted = false;
    while (position_ < text_.size() && static_cast<unsigned char>(text_[position_]) <= ' ')
      ++position_;
    if (position_ == text_.size()) return std::optional<std::string>{};
    const char first = text_[position_];
    if (first == '=' || first == ';') {
      ++position_;
      return std::optional<std::string>(std::string(1, first));
    }
    if (first == '"' || first == '\'') {
      *quoted = true;
      return ReadQuoted(first);
    }
    const size_t begin = position_;
    while (position_ < text_.size() && static_cast<unsigned char>(text_[position_]) > ' ' &&
           text_[position_] != '=' && text_[position_] != ';')
      ++position_;
    return std::optional<std::string>(std::string(text_.substr(begin, position_ - begin)));
  }

 private:
  Result<std::optional<std::string>> ReadQuoted(char quote) {
    std::string value;
    for (++position_; position_ < text_.size(); ++position_) {
      char c = text_[position_];
      if (c == quote) {
        ++position_;
        return std::optional<std::string>(std::move(value));
      }
      if (c == '\\' && position_ + 1 < text_.size()) {
        c = text_[++position_];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
        if (c == 'r') c = '\r';
      }
      value += c;
    }
    return Malformed("a quote is not closed");
  }

  std::string_view text_;
  size_t position_ = 0;
};

bool IsControlFlag(std::string_view word) {
  for (const std::string_view flag : {"required", "requisite", "sufficient", "optional"}) {
    if (EqualsIgnoreCase(word, flag)) return true;
  }
  return false;
}

}  // namespace

std::string JaasConfig::Option(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::string() : found->second;
}

Result<JaasConfig> ParseJaasConfig(std::string_view text) {
  Lexer lexer(text);
  bool quoted = false;
  JaasConfig config;
  TW_ASSIGN_OR_RETURN(const std::optional<std::string> module, lexer.Next(&quoted));
  if (!module || quoted) return Malformed("the login module is missing");
  config.module =
      module->substr(module->rfind('.') == std::string::npos ? 0 : module->rfind('.') + 1);
  TW_ASSIGN_OR_RETURN(const std::optional<std::string> flag, lexer.Next(&quoted));
  if (!flag || quoted || !IsControlFlag(*flag))
    return Malformed("the login module is not followed by 'required'");
  while (true) {
    TW_ASSIGN_OR_RETURN(const std::optional<std::string> key, lexer.Next(&quoted));
    if (!key) return Malformed("it does not end with a semicolon");
    if (*key == ";" && !quoted) break;
    TW_ASSIGN_OR_RETURN(const std::optional<std::string> equals, lexer.Next(&quoted));
    if (!equals || *equals != "=" || quoted) return Malformed("an option has no value");
    TW_ASSIGN_OR_RETURN(const std::optional<std::string> value, lexer.Next(&quoted));
    if (!value || (!quoted && (*value == ";" || *value == "=")))
      return Malformed("an option has no value");
    config.options[*key] = *value;
  }
  TW_ASSIGN_OR_RETURN(const std::optional<std::string> more, lexer.Next(&quoted));
  if (more) return Malformed("it names more than one login module");
  return config;
}

}  // namespace thalweg::connectors
