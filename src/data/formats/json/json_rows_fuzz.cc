// JSON rows as files and from_json read them: no crash, a row for every text, and what was understood is the same after it was written and
// read again. The first line of the input is the schema, the others are the texts.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "data/columnar/column.h"
#include "data/formats/json/json_decoder.h"
#include "data/formats/json/json_file_reader.h"
#include "data/formats/json/json_inference.h"
#include "data/formats/json/json_writer.h"
#include "data/io/memory_file_system.h"

namespace {

using namespace thalweg;        // NOLINT
using namespace thalweg::data;  // NOLINT

void Require(bool holds) {
  if (!holds) std::abort();
}

/// Whether every value of the type has a JSON form that reads as the same value; times beyond year 9999 have not.
bool ComesBack(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kInteger:
    case TypeKind::kLong:
    case TypeKind::kDouble:
    case TypeKind::kString:
      return true;
    case TypeKind::kArray:
      return ComesBack(type.element());
    case TypeKind::kStruct: {
      std::set<std::string> names;
      for (const StructField& field : type.fields()) {
        if (!ComesBack(field.type) || !names.insert(field.name).second || field.name == "_corrupt_record") return false;
      }
      return !names.empty();
    }
    default:
      return false;
  }
}

/// The rows of `texts`, one each; null: they cannot be read as that type.
ColumnPtr Decode(const DataType& type, std::string_view texts, const JsonOptions& options) {
  Result<std::unique_ptr<JsonDecoder>> decoder = JsonDecoder::Make(type, options, {});
  if (!decoder.ok()) return nullptr;
  int64_t lines = 0;
  for (size_t at = 0; at <= texts.size(); ++lines) {
    const size_t end = std::min(texts.find('\n', at), texts.size());
    if (!(*decoder)->Append(texts.substr(at, end - at)).ok()) return nullptr;
    at = end + 1;
  }
  Require((*decoder)->length() == lines);
  return (*decoder)->Finish();
}

std::string Written(const DataType& type, const ColumnPtr& column, const JsonOptions& options) {
  const Result<JsonWriter> writer = JsonWriter::Make(type, options);
  Require(writer.ok());
  std::string out;
  for (int64_t row = 0; row < column->length(); ++row) {
    if (row > 0) out.push_back('\n');
    if (!column->IsNull(row)) writer->AppendRow(*column, row, &out);
  }
  return out;
}

void ReadFile(const Schema& columns, std::string_view texts, const JsonOptions& options) {
  MemoryFileSystem disk;
  const auto out = disk.Create("/f", CreateMode::kReplace);
  if (!out.ok() || !(*out)->Append(texts).ok() || !(*out)->Close().ok()) std::abort();
  const FileRange range{"/f", 0, INT64_MAX, static_cast<int64_t>(texts.size())};
  Ignore(InferJsonSchema(disk, {range}, options, false).status(), "only that it ends");
  const auto reader = MakeJsonFileReader(columns, options);
  if (!reader.ok() || !(*reader)->Open(disk, range).ok()) return;
  for (int step = 0; step < 10'000; ++step) {
    const Result<bool> more = (*reader)->Read(64);
    if (!more.ok() || !(*reader)->Finish().ok() || !*more) break;
  }
}

const Schema& PlainSchema() {
  static const Schema schema = *ParseSchemaDdl("a INT, b STRING, c DOUBLE, d ARRAY<BIGINT>, e STRUCT<f: STRING, g: BOOLEAN>");
  return schema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const Result<Schema> schema = ParseSchemaDdl(input.substr(0, line));
  const Schema& columns = schema.ok() && !schema->empty() && schema->size() < 50 ? *schema : PlainSchema();
  const std::string_view texts = input.substr(std::min(line + 1, input.size()));
  const JsonOptions lines = *JsonOptions::Make({}, "UTC");
  const JsonOptions lenient =
      *JsonOptions::Make({{"multiLine", "true"}, {"allowComments", "true"}, {"allowUnquotedFieldNames", "true"}}, "UTC");
  ReadFile(columns, texts, lines);
  ReadFile(columns, texts, lenient);

  const DataType type = DataType::Struct(columns);
  const ColumnPtr rows = Decode(type, texts, lines);
  if (rows == nullptr || !ComesBack(type)) return 0;
  const std::string once = Written(type, rows, lines);
  const ColumnPtr again = Decode(type, once, lines);
  Require(again != nullptr && Written(type, again, lines) == once);
  return 0;
}
