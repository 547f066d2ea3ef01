#include "base/query_context.h"

#include <algorithm>
#include <string>
#include <vector>

namespace thalweg {
namespace {

constexpr int kShownAround = 32;  // characters of the same line kept before and after the fragment

// Byte position of every code point, and the end.
std::vector<size_t> CodePointStarts(std::string_view text) {
  std::vector<size_t> starts;
  for (size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) starts.push_back(at);
  }
  starts.push_back(text.size());
  return starts;
}

struct Shown {
  int first = 0;  // code points [first, last) are shown
  int last = 0;
  bool cut_before = false;
  bool cut_after = false;
};

Shown ChooseShown(std::string_view text, const std::vector<size_t>& starts, int start, int stop) {
  const int count = static_cast<int>(starts.size()) - 1;
  Shown shown{start, stop + 1};
  while (shown.first > 0 && text[starts[shown.first - 1]] != '\n') {
    if (start - shown.first == kShownAround) {
      shown.cut_before = true;
      break;
    }
    --shown.first;
  }
  while (shown.last < count && text[starts[shown.last]] != '\n') {
    if (shown.last - stop - 1 == kShownAround) {
      shown.cut_after = true;
      break;
    }
    ++shown.last;
  }
  return shown;
}

// The shown lines, each followed by a line of blanks and carets.
std::string Underline(std::string_view text, const std::vector<size_t>& starts, int start, int stop) {
  const Shown shown = ChooseShown(text, starts, start, stop);
  std::string out;
  std::string line;
  std::string marks;
  if (shown.cut_before) {
    line = "...";
    marks = "   ";
  }
  for (int at = shown.first; at < shown.last; ++at) {
    if (text[starts[at]] == '\n') {
      out += line + "\n" + marks + "\n";
      line.clear();
      marks.clear();
      continue;
    }
    line += text.substr(starts[at], starts[at + 1] - starts[at]);
    if (at < start) marks += ' ';
    if (at >= start && at <= stop) marks += '^';
  }
  if (shown.cut_after) line += "...";
  return out + line + "\n" + marks + "\n";
}

}  // namespace

QueryContext MakeSqlContext(std::string_view sql_text, int start_index, int stop_index,
                            std::string_view object_type, std::string_view object_name) {
  QueryContext context;
  context.kind = QueryContext::Kind::kSql;
  context.object_type = object_type;
  context.object_name = object_name;
  context.start_index = start_index;
  context.stop_index = stop_index;
  const std::vector<size_t> starts = CodePointStarts(sql_text);
  const int count = static_cast<int>(starts.size()) - 1;
  if (start_index < 0 || start_index >= count || stop_index < start_index) return context;
  const int stop = std::min(stop_index, count - 1);
  context.fragment = sql_text.substr(starts[start_index], starts[stop + 1] - starts[start_index]);

  int line = 1;
  int position = 1;
  for (int at = 0; at < start_index; ++at) {
    const bool newline = sql_text[starts[at]] == '\n';
    line += newline ? 1 : 0;
    position = newline ? 1 : position + 1;
  }
  std::string summary = "== SQL";
  if (!object_type.empty() && !object_name.empty()) {
    summary += " of " + context.object_type + " " + context.object_name;
  }
  summary += " (line " + std::to_string(line) + ", position " + std::to_string(position) + ") ==\n";
  context.summary = summary + Underline(sql_text, starts, start_index, stop);
  return context;
}

QueryContext MakeDataFrameContext(std::string_view fragment, std::string_view call_site) {
  QueryContext context;
  context.kind = QueryContext::Kind::kDataFrame;
  context.fragment = fragment;
  context.call_site = call_site;
  context.summary = "== DataFrame ==\n\"" + context.fragment + "\" was called from\n" + context.call_site + "\n";
  return context;
}

}  // namespace thalweg
