#pragma once

// The node behind a DataType; private to the room.

#include <string>
#include <vector>

#include "data/types/data_type.h"

namespace thalweg::data::internal {

struct TypeNode {
  TypeKind kind = TypeKind::kNull;
  StringConstraint constraint = StringConstraint::kNone;
  bool contains_null = true;   // array elements, map values
  int first = 0;               // precision, length, first interval field
  int second = 0;              // scale, last interval field
  std::string collation;       // strings
  std::vector<DataType> children;    // array: element; map: key, value
  std::vector<StructField> fields;   // struct
};

/// "interval day to second" and kin, lower case.
std::string IntervalName(TypeKind kind, int first, int last);
/// The keys of a metadata object in the order in which Spark prints them: that of Scala's hash maps.
void SortAsScalaMap(std::vector<std::string>* keys);
/// The same when the map stays mutable (collations of a field).
void SortAsScalaMutableMap(std::vector<std::string>* keys);
/// Appends `text` as a JSON string in quotes, escaped as Spark's JSON writer does; text outside ASCII stays as it is.
void AppendJsonString(std::string_view text, std::string* out);
/// ASCII letters in upper case, all else as it is.
std::string UpperAscii(std::string_view text);
/// Java's text of a string in a DDL comment: quotes and backslashes escaped.
std::string EscapeSingleQuoted(std::string_view text);
/// Collation providers: "spark" for the UTF8 family, "icu" for the rest.
std::string_view CollationProvider(std::string_view collation);
/// The canonical spelling of a collation name ("utf8_lcase" gives "UTF8_LCASE"); nullopt when there is no such collation.
std::optional<std::string> CanonicalCollation(std::string_view name);

}  // namespace thalweg::data::internal
