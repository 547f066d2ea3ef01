// From pattern text to steps, as java.time.format.DateTimeFormatterBuilder.appendPattern does, with Spark's restrictions.

#include "data/text/datetime_pattern.h"

#include "data/text/datetime_program.h"

namespace thalweg::data {
namespace {

using internal::DateTimeField;
using internal::PatternStep;
using internal::SignStyle;
using Kind = PatternStep::Kind;
using Purpose = DateTimePattern::Purpose;

constexpr std::string_view kDocRoot = "https://spark.apache.org/docs/latest";

bool IsPatternLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsIn(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// Whether Spark 2's SimpleDateFormat knew the pattern: then Spark tells of the change instead of the error.
bool LegacyAccepts(std::string_view pattern) {
  bool quoted = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\'') {
      quoted = !quoted;
      continue;
    }
    if (quoted || !IsPatternLetter(c)) continue;
    if (!IsIn(c, "GyYMLwWDdFEuaHkKhmsSzZX")) return false;
    size_t run = 1;
    while (i + run < pattern.size() && pattern[i + run] == c) ++run;
    if (c == 'X' && run > 3) return false;
    i += run - 1;
  }
  return !quoted;
}

Status IllegalPattern(std::string_view pattern) {
  return Error("INVALID_DATETIME_PATTERN.WITH_SUGGESTION").With("pattern", "'" + std::string(pattern) + "'").With("docroot", kDocRoot);
}

class PatternCompiler {
 public:
  PatternCompiler(std::string_view pattern, Purpose purpose) : pattern_(pattern), purpose_(purpose) {}

  Result<std::vector<PatternStep>> Compile() {
    TW_RETURN_NOT_OK(CheckSpark());
    for (size_t i = 0; i < pattern_.size();) {
      const char c = pattern_[i];
      if (IsPatternLetter(c)) {
        size_t run = 1;
        while (i + run < pattern_.size() && pattern_[i + run] == c) ++run;
        if (!AppendLetters(c, static_cast<int>(run))) return IllegalPattern(pattern_);
        i += run;
      } else if (c == '\'') {
        if (!AppendQuoted(&i)) return IllegalPattern(pattern_);
      } else if (c == '[') {
        open_.push_back(steps_.size());
        Append({.kind = Kind::kOptionalBegin});
        ++i;
      } else if (c == ']') {
        if (open_.empty()) return IllegalPattern(pattern_);
        CloseOptional();
        ++i;
      } else if (IsIn(c, "{}#")) {
        return IllegalPattern(pattern_);
      } else {
        AppendText(std::string(1, c));
        ++i;
      }
    }
    while (!open_.empty()) CloseOptional();
    return std::move(steps_);
  }

 private:
  // What Spark refuses before java.time sees the pattern; text in quotes aside.
  Status CheckSpark() {
    bool quoted = false;
    for (size_t i = 0; i < pattern_.size(); ++i) {
      const char c = pattern_[i];
      if (c == '\'') quoted = !quoted;
      if (quoted || !IsPatternLetter(c)) continue;
      has_era_ = has_era_ || c == 'G';
      if (IsIn(c, "YWwuec")) {
        return Error("INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN").With("c", std::string(1, c));
      }
      if (IsIn(c, "ABnNp") || (purpose_ == Purpose::kParse && IsIn(c, "EFqQ"))) {
        return Error("INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER").With("c", std::string(1, c)).With("pattern", pattern_);
      }
      size_t run = 1;
      while (i + run < pattern_.size() && pattern_[i + run] == c) ++run;
      if ((IsIn(c, "GMLEQq") && run >= 5) || (c == 'y' && run >= 7)) {
        return Error("INVALID_DATETIME_PATTERN.LENGTH").With("pattern", pattern_);
      }
      i += run - 1;
    }
    return Status::OK();
  }

  size_t Append(PatternStep step) {
    active_number_ = kNone;
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
  }

  void AppendText(std::string text) {
    if (!steps_.empty() && steps_.back().kind == Kind::kLiteral) {
      steps_.back().text += text;
      return;
    }
    Append({.kind = Kind::kLiteral, .text = std::move(text)});
  }

  bool AppendQuoted(size_t* at) {
    size_t i = *at + 1;
    std::string text;
    for (; i < pattern_.size(); ++i) {
      if (pattern_[i] != '\'') {
        text.push_back(pattern_[i]);
      } else if (i + 1 < pattern_.size() && pattern_[i + 1] == '\'') {
        text.push_back('\'');
        ++i;
      } else {
        break;
      }
    }
    if (i >= pattern_.size()) return false;
    AppendText(text.empty() ? "'" : text);
    *at = i + 1;
    return true;
  }

  void CloseOptional() {
    steps_[open_.back()].end = steps_.size();
    open_.pop_back();
    Append({.kind = Kind::kOptionalEnd});
  }

  // A number; fields of fixed width right behind another number make that one leave them their digits.
  bool AppendNumber(PatternStep step) {
    const size_t active = active_number_;
    const bool is_fixed = step.min_width == step.max_width && step.sign == SignStyle::kNever;
    const int width = step.max_width;
    const size_t at = Append(std::move(step));
    if (active == kNone || !is_fixed) {
      active_number_ = at;
    } else {
      steps_[active].following_width += width;
      active_number_ = active;
    }
    return true;
  }
  bool AppendNumber(DateTimeField field, int min_width, int max_width, SignStyle sign) {
    return AppendNumber(PatternStep{
        .kind = Kind::kNumber, .field = field, .sign = sign, .min_width = min_width, .max_width = max_width});
  }
  // One letter: any width; two: exactly two digits.
  bool AppendShortNumber(DateTimeField field, int count) {
    if (count == 1) return AppendNumber(field, 1, 19, SignStyle::kNormal);
    return count == 2 && AppendNumber(field, 2, 2, SignStyle::kNever);
  }
  bool AppendName(DateTimeField field, bool full) {
    Append({.kind = Kind::kText, .field = field, .full_text = full});
    return true;
  }
  bool AppendNumberOrName(DateTimeField field, int count) {
    if (count <= 2) return AppendShortNumber(field, count);
    return count <= 4 && AppendName(field, count == 4);
  }
  bool AppendOffset(int form, std::string zero) {
    Append({.kind = Kind::kOffset, .field = DateTimeField::kOffset, .offset_form = static_cast<int8_t>(form), .text = std::move(zero)});
    return true;
  }
  bool AppendLocalizedOffset(bool full) {
    Append({.kind = Kind::kLocalizedOffset, .field = DateTimeField::kOffset, .full_text = full});
    return true;
  }

  bool AppendYear(int count) {
    const DateTimeField field = has_era_ ? DateTimeField::kYearOfEra : DateTimeField::kYear;
    if (count == 2) {
      return AppendNumber(PatternStep{.kind = Kind::kTwoDigitYear, .field = field, .min_width = 2, .max_width = 2});
    }
    return AppendNumber(field, count, 19, count < 4 ? SignStyle::kNormal : SignStyle::kExceedsPad);
  }

  bool AppendFraction(int count) {
    if (count > 9) return false;
    // Spark lets the text have fewer digits than the pattern.
    const int least = purpose_ == Purpose::kParse ? 1 : count;
    PatternStep step{.kind = Kind::kFraction, .field = DateTimeField::kNano, .min_width = least, .max_width = count};
    if (least == count) return AppendNumber(std::move(step));
    Append(std::move(step));
    return true;
  }

  bool AppendLetters(char c, int count) {
    using F = DateTimeField;
    switch (c) {
      case 'y': return AppendYear(count);
      case 'G': return AppendName(F::kEra, count == 4);
      case 'M':
      case 'L': return AppendNumberOrName(F::kMonth, count);
      case 'Q':
      case 'q': return AppendNumberOrName(F::kQuarter, count);
      case 'E': return AppendName(F::kDayOfWeek, count == 4);
      case 'd': return AppendShortNumber(F::kDayOfMonth, count);
      case 'D':
        if (count == 1) return AppendShortNumber(F::kDayOfYear, 1);
        return count <= 3 && AppendNumber(F::kDayOfYear, count, 3, SignStyle::kNever);
      case 'F': return count == 1 && AppendShortNumber(F::kAlignedDayInMonth, 1);
      case 'g': return AppendNumber(F::kModifiedJulianDay, count, 19, SignStyle::kNormal);
      case 'a': return count == 1 && AppendName(F::kHalfOfDay, false);
      case 'H': return AppendShortNumber(F::kHourOfDay, count);
      case 'k': return AppendShortNumber(F::kClockHourOfDay, count);
      case 'K': return AppendShortNumber(F::kHourOfHalf, count);
      case 'h': return AppendShortNumber(F::kClockHourOfHalf, count);
      case 'm': return AppendShortNumber(F::kMinute, count);
      case 's': return AppendShortNumber(F::kSecond, count);
      case 'S': return AppendFraction(count);
      case 'V':
        if (count != 2) return false;
        Append({.kind = Kind::kZoneId});
        return true;
      case 'z':
        if (count > 4) return false;
        Append({.kind = Kind::kZoneName, .full_text = count == 4});
        return true;
      case 'O': return (count == 1 || count == 4) && AppendLocalizedOffset(count == 4);
      case 'X': return count <= 5 && AppendOffset(count - 1, "Z");
      case 'x': return count <= 5 && AppendOffset(count - 1, count == 1 ? "+00" : count % 2 == 0 ? "+0000" : "+00:00");
      case 'Z':
        if (count == 4) return AppendLocalizedOffset(true);
        return count <= 5 && (count == 5 ? AppendOffset(4, "Z") : AppendOffset(1, "+0000"));
      default: return false;
    }
  }

  static constexpr size_t kNone = static_cast<size_t>(-1);
  std::string_view pattern_;
  Purpose purpose_;
  bool has_era_ = false;
  std::vector<PatternStep> steps_;
  std::vector<size_t> open_;        // optional sections that are not closed yet
  size_t active_number_ = kNone;    // the number that adjacent fields of fixed width follow
};

}  // namespace

Result<DateTimePattern> DateTimePattern::Compile(std::string_view pattern, Purpose purpose) {
  auto steps = PatternCompiler(pattern, purpose).Compile();
  if (!steps.ok()) {
    if (!LegacyAccepts(pattern)) return std::move(steps).status();
    return Error("INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION")
        .With("pattern", "'" + std::string(pattern) + "'")
        .With("config", "\"spark.sql.legacy.timeParserPolicy\"")
        .With("docroot", kDocRoot);
  }
  auto program = std::make_shared<Program>();
  program->pattern = pattern;
  program->steps = *std::move(steps);
  return DateTimePattern(std::move(program));
}

const std::string& DateTimePattern::pattern() const { return program_->pattern; }

}  // namespace thalweg::data
