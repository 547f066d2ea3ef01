// get_json_object, json_array_length, json_object_keys.
// Source: Spark's GetJsonObject: $ then .name, ['name'], [n], [*]; several matches make an array.

#include "data/columnar/builder.h"
#include "data/formats/json/json_document.h"
#include "data/formats/json/json_writer.h"
#include "data/text/numbers.h"
#include "sql/expr/binding.h"
#include "sql/functions/json/register.h"

namespace thalweg::sql {
namespace {

/// What Spark's JSON path functions read: no NaN and kin.
Result<data::JsonOptions> PathOptions(const EvalContext& context) {
  TW_ASSIGN_OR_RETURN(data::JsonOptions options, data::JsonOptions::Make({}, context.config->time_zone));
  options.allow_non_numeric_numbers = false;
  return options;
}


using data::JsonNode;

struct Step {
  enum class Kind : uint8_t { kKey, kIndex, kEveryElement, kEveryMember };
  Kind kind = Kind::kKey;
  std::string name;
  int64_t index = 0;
};
using Path = std::vector<Step>;

/// nullopt: not a path.
std::optional<Path> ReadPath(std::string_view text) {
  if (text.empty() || text[0] != '$') return {};
  Path path;
  size_t at = 1;
  while (at < text.size()) {
    if (text[at] == '.') {
      const size_t begin = ++at;
      while (at < text.size() && text[at] != '.' && text[at] != '[') ++at;
      if (at == begin) return {};
      const std::string_view name = text.substr(begin, at - begin);
      path.push_back(name == "*" ? Step{Step::Kind::kEveryMember, "", 0} : Step{Step::Kind::kKey, std::string(name), 0});
      continue;
    }
    if (text[at] != '[') return {};
    ++at;
    if (at < text.size() && text[at] == '\'') {
      const size_t end = text.find('\'', at + 1);
      if (end == std::string_view::npos || end + 1 >= text.size() || text[end + 1] != ']') return {};
      const std::string_view name = text.substr(at + 1, end - at - 1);
      path.push_back(name == "*" ? Step{Step::Kind::kEveryMember, "", 0} : Step{Step::Kind::kKey, std::string(name), 0});
      at = end + 2;
      continue;
    }
    const size_t end = text.find(']', at);
    if (end == std::string_view::npos) return {};
    const std::string_view inner = text.substr(at, end - at);
    int64_t index = 0;
    if (inner == "*") {
      path.push_back({Step::Kind::kEveryElement, "", 0});
    } else if (data::ParseJavaLong(inner, &index) && index >= 0) {
      path.push_back({Step::Kind::kIndex, "", index});
    } else {
      return {};
    }
    at = end + 1;
  }
  return path;
}

void AppendNode(const JsonNode& node, std::string* out) {
  switch (node.kind) {
    case JsonNode::Kind::kNull: out->append("null"); return;
    case JsonNode::Kind::kTrue: out->append("true"); return;
    case JsonNode::Kind::kFalse: out->append("false"); return;
    case JsonNode::Kind::kInteger: out->append(node.text); return;
    case JsonNode::Kind::kNonNumeric: data::AppendJsonString(node.text, out); return;
    case JsonNode::Kind::kFraction: {
      double value = 0;
      if (data::ParseJavaDouble(node.text, &value)) {
        data::AppendDouble(value, out);
      } else {
        out->append(node.text);
      }
      return;
    }
    case JsonNode::Kind::kString: data::AppendJsonString(node.text, out); return;
    case JsonNode::Kind::kArray:
      out->push_back('[');
      for (size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out->push_back(',');
        AppendNode(*node.items[i], out);
      }
      out->push_back(']');
      return;
    case JsonNode::Kind::kObject:
      out->push_back('{');
      for (size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out->push_back(',');
        data::AppendJsonString(node.names[i], out);
        out->push_back(':');
        AppendNode(*node.items[i], out);
      }
      out->push_back('}');
      return;
  }
}

enum class Style : uint8_t { kRaw, kQuoted, kFlatten };

/// What a path finds below a node, as the texts of an array's elements, or one text.
class PathReader {
 public:
  explicit PathReader(const Path& path) : path_(path) {}

  /// Appends found texts; answers whether there was one.
  bool Read(const JsonNode& node, size_t step, Style style, std::vector<std::string>* out) const {
    if (step == path_.size()) return ReadLeaf(node, style, out);
    const Step& next = path_[step];
    switch (next.kind) {
      case Step::Kind::kKey: {
        if (node.kind != JsonNode::Kind::kObject) return false;
        for (size_t i = 0; i < node.items.size(); ++i) {
          if (node.names[i] != next.name) continue;
          if (node.items[i]->kind == JsonNode::Kind::kNull) continue;
          if (Read(*node.items[i], step + 1, style, out)) return true;
        }
        return false;
      }
      case Step::Kind::kIndex: {
        if (node.kind != JsonNode::Kind::kArray || next.index >= static_cast<int64_t>(node.items.size())) return false;
        const bool wildcard_next = step + 1 < path_.size() && path_[step + 1].kind == Step::Kind::kEveryElement;
        return Read(*node.items[static_cast<size_t>(next.index)], step + 1, wildcard_next ? Style::kQuoted : style, out);
      }
      case Step::Kind::kEveryElement: return ReadElements(node, step, style, out);
      case Step::Kind::kEveryMember: return false;
    }
    return false;
  }

 private:
  bool ReadLeaf(const JsonNode& node, Style style, std::vector<std::string>* out) const {
    if (node.kind == JsonNode::Kind::kString && style == Style::kRaw) {
      out->emplace_back(node.text);
      return true;
    }
    if (node.kind == JsonNode::Kind::kArray && style == Style::kFlatten) {
      bool any = false;
      for (const JsonNode* item : node.items) any = ReadLeaf(*item, style, out) || any;
      return any;
    }
    out->emplace_back();
    AppendNode(node, &out->back());
    return true;
  }

  bool ReadElements(const JsonNode& node, size_t step, Style style, std::vector<std::string>* out) const {
    if (node.kind != JsonNode::Kind::kArray) return false;
    const bool twice = step + 1 < path_.size() && path_[step + 1].kind == Step::Kind::kEveryElement;
    if (twice) {
      // [*][*] flattens and always makes an array.
      std::vector<std::string> found;
      for (const JsonNode* item : node.items) Read(*item, step + 2, Style::kFlatten, &found);
      if (found.empty()) return false;
      out->push_back(Joined(found));
      return true;
    }
    std::vector<std::string> found;
    const Style inner = style == Style::kRaw ? Style::kQuoted : style;
    bool any = false;
    for (const JsonNode* item : node.items) any = Read(*item, step + 1, inner, &found) || any;
    if (!any) return false;
    if (style != Style::kRaw) {
      if (style == Style::kFlatten) {
        out->insert(out->end(), found.begin(), found.end());
      } else {
        out->push_back(Joined(found));
      }
      return true;
    }
    // A single match goes without brackets.
    out->push_back(found.size() == 1 ? found[0] : Joined(found));
    return true;
  }

  static std::string Joined(const std::vector<std::string>& texts) {
    std::string joined = "[";
    for (size_t i = 0; i < texts.size(); ++i) joined += (i > 0 ? "," : "") + texts[i];
    return joined + "]";
  }

  const Path& path_;
};

Result<ColumnPtr> GetJsonObject(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  TW_ASSIGN_OR_RETURN(const data::JsonOptions options, PathOptions(context));
  data::JsonDocument document(options);
  std::string known;
  std::optional<Path> path;
  bool read = false;
  return MapText<std::string_view, std::string_view>(
      call, input, [&](std::string_view text, std::string_view path_text, std::string* out) {
        if (!read || known != path_text) {
          path = ReadPath(path_text);
          known = path_text;
          read = true;
        }
        if (!path) return false;
        bool malformed = false;
        const JsonNode* node = document.Parse(text, &malformed);
        if (node == nullptr) return false;
        std::vector<std::string> found;
        if (!PathReader(*path).Read(*node, 0, Style::kRaw, &found)) return false;
        out->append(found[0]);
        return true;
      });
}

Result<ColumnPtr> ArrayLength(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  TW_ASSIGN_OR_RETURN(const data::JsonOptions options, PathOptions(context));
  data::JsonDocument document(options);
  return MapNullable<int32_t, std::string_view>(call, input, [&](std::string_view text, int32_t* out) {
    bool malformed = false;
    const JsonNode* node = document.Parse(text, &malformed);
    if (node == nullptr || node->kind != JsonNode::Kind::kArray) return false;
    *out = static_cast<int32_t>(node->items.size());
    return true;
  });
}

Result<ColumnPtr> ObjectKeys(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  TW_ASSIGN_OR_RETURN(const data::JsonOptions options, PathOptions(context));
  data::JsonDocument document(options);
  auto builder = data::ColumnBuilder::Make(call.type);
  const Column& column = *input.arguments[0];
  const Reader<std::string_view> texts(column);
  std::vector<uint8_t> asked(static_cast<size_t>(input.rows.length), 0);
  ForEachValid(input, [&](int64_t row) { asked[static_cast<size_t>(row)] = 1; });
  for (int64_t row = 0; row < input.rows.length; ++row) {
    bool malformed = false;
    const JsonNode* node = asked[static_cast<size_t>(row)] ? document.Parse(texts[row], &malformed) : nullptr;
    if (node == nullptr || node->kind != JsonNode::Kind::kObject) {
      builder->AppendNull();
      continue;
    }
    for (const auto name : node->names) builder->child(0)->AppendValue(Value(std::string(name)));
    builder->AppendList();
  }
  return builder->Finish();
}

Result<BoundCall> BindObjectKeys(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::String(), context));
  return MakeBound(function, std::move(arguments), DataType::Array(DataType::String(), true), true, &ObjectKeys, context);
}

}  // namespace

void RegisterJsonPath(FunctionLists& lists) {
  static const ScalarFunction kGet{.name = "get_json_object", .signature = "(text STRING, path STRING) -> STRING?",
                                   .since = "1.5.0", .doc = "What a path finds in JSON text.",
                                   .example = {"SELECT get_json_object('{\"a\":\"b\"}', '$.a')", "b"},
                                   .evaluate = &GetJsonObject};
  static const ScalarFunction kLength{.name = "json_array_length", .signature = "(text STRING) -> INT?", .since = "3.1.0",
                                      .doc = "Elements of the outermost array.",
                                      .example = {"SELECT json_array_length('[1,2,3,4]')", "4"}, .evaluate = &ArrayLength};
  static const ScalarFunction kKeys{.name = "json_object_keys", .since = "3.1.0", .doc = "Names of the outermost object.",
                                    .example = {"SELECT json_object_keys('{\"key\": \"value\"}')", "[key]"},
                                    .bind = &BindObjectKeys};
  for (const auto* f : {&kGet, &kLength, &kKeys}) lists.Add(*f);
}

}  // namespace thalweg::sql
