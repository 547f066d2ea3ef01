#include "sql/analyzer/names.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "sql/expr/extract.h"

namespace thalweg::sql {
namespace {

/// The name that Spark's parser gives a subquery without alias.
constexpr std::string_view kAutoSubqueryName = "__auto_generated_subquery_name";

/// Whether the last `count` parts of the qualifier are name[0..count).
bool QualifierEndsWith(const Attribute& attribute, const std::vector<std::string>& name, size_t count, bool cased) {
  const std::vector<std::string>& qualifier = attribute.qualifier();
  if (qualifier.size() < count) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!SameName(qualifier[qualifier.size() - count + i], name[i], cased)) return false;
  }
  return true;
}

std::vector<std::string> QualifiedName(const Attribute& attribute) {
  std::vector<std::string> parts = attribute.qualifier();
  parts.push_back(attribute.name());
  return parts;
}

Status Ambiguous(const std::vector<std::string>& name, const AttributeList& candidates) {
  std::vector<std::string> references;
  for (const AttributePtr& candidate : candidates) references.push_back(QuoteParts(QualifiedName(*candidate)));
  std::sort(references.begin(), references.end());
  std::string text;
  for (const std::string& reference : references) text += (text.empty() ? "" : ", ") + reference;
  return Error("AMBIGUOUS_REFERENCE").With("name", QuoteParts(name)).With("referenceNames", "[" + text + "]");
}

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool SameName(std::string_view a, std::string_view b, bool case_sensitive) {
  if (case_sensitive || a.size() != b.size()) return a == b;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

Result<ExprPtr> FindColumn(const std::vector<std::string>& name, const AttributeList& input,
                           const BindContext& context) {
  const bool cased = context.config.case_sensitive;
  AttributeList candidates;
  size_t used = 0;  // name parts that name the column: qualifier and column
  // The longest qualifier that fits wins; a column's own name comes last.
  for (size_t qualifier = std::min<size_t>(name.size() - 1, 3); candidates.empty(); --qualifier) {
    for (const AttributePtr& attribute : input) {
      if (QualifierEndsWith(*attribute, name, qualifier, cased) && SameName(attribute->name(), name[qualifier], cased)) {
        candidates.push_back(attribute);
      }
    }
    used = qualifier + 1;
    if (qualifier == 0) break;
  }
  if (candidates.empty()) return ExprPtr();
  // The same column may stand in the input twice.
  AttributeList distinct;
  for (const AttributePtr& candidate : candidates) {
    const bool known = std::any_of(distinct.begin(), distinct.end(), [&](const AttributePtr& other) {
      return other->id() == candidate->id() && other->qualifier() == candidate->qualifier();
    });
    if (!known) distinct.push_back(candidate);
  }
  if (distinct.size() > 1) return Ambiguous(name, distinct);
  ExprPtr expr = distinct[0];
  // The column takes the spelling of the reference.
  const std::string& spelling = name[used - 1];
  if (distinct[0]->name() != spelling) {
    expr = Attribute::Make(spelling, distinct[0]->type(), distinct[0]->nullable(), distinct[0]->id(),
                           distinct[0]->qualifier(), distinct[0]->metadata_json());
  }
  if (used == name.size()) return expr;
  for (size_t i = used; i < name.size(); ++i) {
    TW_ASSIGN_OR_RETURN(expr, MakeExtract(expr, Literal::String(name[i]), context));
  }
  return ExprPtr(Alias::Make(expr, name.back(), NewExprId(), std::nullopt, true));
}

std::string QuoteParts(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + data::QuoteIdentifier(part);
  return text;
}

std::string QuoteExpression(const ExprPtr& expr) { return "\"" + AutoName(expr) + "\""; }
std::string QuoteType(const DataType& type) { return "\"" + type.Sql() + "\""; }

int Levenshtein(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string Suggestions(const std::vector<std::string>& name, const AttributeList& input) {
  std::vector<std::vector<std::string>> candidates;
  for (const AttributePtr& attribute : input) {
    std::vector<std::string> parts = QualifiedName(*attribute);
    if (parts.front() == kAutoSubqueryName) parts.erase(parts.begin());
    candidates.push_back(std::move(parts));
  }
  // A prefix that all share says nothing: it goes, as far as the name was not qualified itself.
  for (size_t keep = 1; keep <= 3; ++keep) {
    std::set<std::vector<std::string>> prefixes;
    for (const auto& parts : candidates) {
      prefixes.insert({parts.begin(), parts.end() - static_cast<ptrdiff_t>(std::min(keep, parts.size()))});
    }
    if (name.size() > keep || prefixes.size() != 1) continue;
    for (auto& parts : candidates) {
      if (parts.size() > keep) parts.erase(parts.begin(), parts.end() - static_cast<ptrdiff_t>(keep));
    }
    break;
  }
  // Nearest first, part by part from the right; among equals by column, then by qualifier.
  using Ranked = std::tuple<int, std::vector<std::string>, std::string>;
  std::vector<Ranked> order;
  for (const auto& parts : candidates) {
    int distance = 0;
    for (size_t i = 1; i <= std::min(parts.size(), name.size()); ++i) {
      distance += Levenshtein(parts[parts.size() - i], name[name.size() - i]);
    }
    order.emplace_back(distance, std::vector<std::string>(parts.rbegin(), parts.rend()), QuoteParts(parts));
  }
  std::stable_sort(order.begin(), order.end());
  std::string text;
  for (size_t i = 0; i < order.size() && i < 5; ++i) text += (i == 0 ? "" : ", ") + std::get<2>(order[i]);
  return text;
}

}  // namespace thalweg::sql
