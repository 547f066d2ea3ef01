#include "data/formats/csv/csv_tokenizer.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace thalweg::data {

CsvTokenizer::CsvTokenizer(const CsvOptions& options, char newline)
    : options_(options),
      newline_(newline),
      first_of_delimiter_(options.delimiter[0]),
      delimiter_size_(options.delimiter.size()) {}

void CsvTokenizer::AddNull() { fields_.push_back({.is_null = true}); }

void CsvTokenizer::AddPlain(const char* begin, const char* end) {
  fields_.push_back({.data = begin, .size = static_cast<size_t>(end - begin)});
}

/// What was put together since `offset`; nothing at all is an empty value.
void CsvTokenizer::AddScratch(size_t offset) {
  if (scratch_.size() == offset) scratch_ += options_.empty_value;
  fields_.push_back({.offset = offset, .size = scratch_.size() - offset, .in_scratch = true});
}

/// The next delimiter or newline, or the end.
const char* CsvTokenizer::FindStop(const char* at) const {
  const char newline = newline_ != 0 ? newline_ : first_of_delimiter_;
#if defined(__SSE2__)
  const __m128i first = _mm_set1_epi8(first_of_delimiter_), second = _mm_set1_epi8(newline);
  while (end_ - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int mask = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, first), _mm_cmpeq_epi8(bytes, second)));
    if (mask == 0) {
      at += 16;
      continue;
    }
    at += __builtin_ctz(static_cast<unsigned>(mask));
    if (AtStop(at)) return at;
    ++at;
  }
#endif
  while (!AtStop(at)) ++at;
  return at;
}

const char* CsvTokenizer::Parse(const char* at, const char* end) {
  end_ = end;
  fields_.clear();
  scratch_.clear();
  refused_ = false;
  while (true) {
    if (options_.ignore_leading_blanks) {
      while (!AtStop(at) && IsBlank(*at)) ++at;
    }
    if (AtStop(at)) {
      AddNull();
    } else if (*at == options_.quote && options_.quote != 0) {
      at = Quoted(at + 1);
    } else {
      at = Unquoted(at);
    }
    if (at == end) return end;
    if (!AtDelimiter(at)) return at + 1;  // a newline
    at += delimiter_size_;
  }
}

const char* CsvTokenizer::Unquoted(const char* at) {
  const char* const stop = FindStop(at);
  const char* last = stop;
  if (options_.ignore_trailing_blanks) {
    while (last > at && IsBlank(last[-1])) --last;
  }
  if (last == at)
    AddNull();
  else
    AddPlain(at, last);
  return stop;
}

/// `at`: behind the opening quote. Most values have no escapes and end at a quote before a delimiter.
const char* CsvTokenizer::Quoted(const char* at) {
  const char* p = at;
  while (p < end_ && *p != options_.quote && *p != options_.escape && *p != options_.escape_of_escape) ++p;
  if (p == end_ || *p != options_.quote || !AtStop(p + 1)) return QuotedSlowly(at, scratch_.size());
  if (p == at)
    AddScratch(scratch_.size());
  else
    AddPlain(at, p);
  return p + 1;
}

/// An open quote that turned out to be none: the value goes to the next delimiter, quotes and all.
const char* CsvTokenizer::UntilDelimiter(const char* at, size_t offset) {
  const char* const stop = FindStop(at);
  scratch_.insert(offset, 1, options_.quote);
  scratch_.append(at, stop);
  if (options_.ignore_trailing_blanks) {
    while (scratch_.size() > offset && IsBlank(scratch_.back())) scratch_.pop_back();
  }
  AddScratch(offset);
  return stop;
}

/// The automaton of univocity's CsvParser.parseQuotedValue.
const char* CsvTokenizer::QuotedSlowly(const char* at, size_t offset) {
  const char quote = options_.quote, escape = options_.escape, escape_of_escape = options_.escape_of_escape;
  int previous = 0;  // 0: none
  bool unescaped = false;
  int last = quote;  // the character before `at`, as the parser would still hold it at the end of the text
  while (true) {
    if (at == end_) {  // the text ends inside
      if (last == quote && previous != quote && !unescaped) scratch_.push_back(quote);
      AddScratch(offset);
      return at;
    }
    const char c = *at;
    if (previous == quote && (IsBlank(c) || AtStop(at))) break;
    if (c != quote && (c != escape || escape == 0)) {
      if (previous == quote) {
        unescaped = true;
        switch (options_.unescaped_quotes) {
          case UnescapedQuotes::kStopAtDelimiter:
            scratch_.push_back(quote);
            return UntilDelimiter(at, offset);
          case UnescapedQuotes::kSkipValue:
            scratch_.resize(offset);
            AddNull();
            return FindStop(at);
          case UnescapedQuotes::kRaiseError:
            refused_ = true;
            AddNull();
            return FindStop(at);
          case UnescapedQuotes::kStopAtClosingQuote:
            scratch_.push_back(quote);
            previous = 0;
            break;
        }
      }
      if (previous == escape && escape != 0) scratch_.push_back(escape);
      const char* const begin = at;
      while (at < end_ && *at != quote && (*at != escape || escape == 0) &&
             (*at != escape_of_escape || escape_of_escape == 0))
        ++at;
      scratch_.append(begin, at);
      last = at > begin ? static_cast<unsigned char>(at[-1]) : last;
      if (at == end_) {
        previous = 0;
        last = 0;
        continue;
      }
      previous = last = static_cast<unsigned char>(*at++);
      continue;
    }
    int now = static_cast<unsigned char>(c);
    if (c == escape && previous == static_cast<unsigned char>(escape_of_escape) && escape_of_escape != 0) {
      scratch_.push_back(escape);
      now = 0;
    } else if (previous == static_cast<unsigned char>(escape) && escape != 0) {
      if (c == quote) {
        scratch_.push_back(quote);
        now = 0;
      } else {
        scratch_.push_back(static_cast<char>(previous));
      }
    } else if (c == quote && previous == quote) {
      scratch_.push_back(quote);
    }
    previous = last = now;
    ++at;
  }
  const char* const closed = at;
  while (!AtStop(at) && IsBlank(*at)) ++at;
  if (AtStop(at)) {
    AddScratch(offset);
    return at;
  }
  // More than blanks behind the closing quote: it was none.
  switch (options_.unescaped_quotes) {
    case UnescapedQuotes::kStopAtDelimiter:
      break;
    case UnescapedQuotes::kStopAtClosingQuote:
      scratch_.push_back(quote);
      scratch_.append(closed, at);
      return QuotedSlowly(at, offset);
    case UnescapedQuotes::kRaiseError:
      refused_ = true;
      [[fallthrough]];
    case UnescapedQuotes::kSkipValue:
      scratch_.resize(offset);
      AddNull();
      return FindStop(at);
  }
  scratch_.push_back(quote);
  scratch_.append(closed, at);
  return UntilDelimiter(at, offset);
}

}  // namespace thalweg::data
