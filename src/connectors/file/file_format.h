#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/file/file_listing.h"
#include "data/formats/file_reader.h"
#include "data/formats/file_writer.h"
#include "data/formats/option_list.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// What the code of a format needs to know of where it is used. Cheap to copy; borrows the file system.
struct FormatContext {
  data::FileSystem* file_system = nullptr;
  std::shared_ptr<const sql::EvalConfig> config;
  data::OptionList options;
  std::shared_ptr<const SettingsMap> settings;  ///< the session's; never null
};

/// Makes one reader per task; options were parsed before.
using ReaderFactory = std::function<Result<std::unique_ptr<data::FileReader>>()>;

/// Makes files at paths; the end of their names, codec and format ("`.json.gz`").
struct FileWriters {
  std::function<Result<std::unique_ptr<data::FileWriter>>(const std::string& path)> make;
  std::string extension;
};

/// A way to lay rows out in files. Thread: immutable.
class FileFormat {
 public:
  virtual ~FileFormat() = default;
  virtual std::string short_name() const = 0;
  /// As errors name it: "JSON", "Parquet".
  virtual std::string display_name() const = 0;
  virtual std::vector<std::string> aliases() const { return {}; }
  /// The fields that the files hold; nothing when they do not tell (no files). Blocks: reads files.
  virtual Result<std::optional<data::Schema>> InferSchema(const FormatContext& context,
                                                          const std::vector<FileEntry>& files) const = 0;
  /// A stream of these files has a schema without the user's help.
  virtual bool has_fixed_schema() const { return false; }
  /// Files may have several columns of one name.
  virtual bool writes_duplicate_names() const { return false; }
  /// Whether columns of that schema can be read. Errors: UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE and the like.
  virtual Status CheckSchema(const FormatContext&, const data::Schema&) const { return Status::OK(); }
  /// Readers that give `columns` of files that hold `file_schema`. `scan` has filters a reader may use to skip.
  virtual Result<ReaderFactory> NewReaders(const FormatContext& context, const data::Schema& file_schema,
                                           const data::Schema& columns, const sql::ScanRequest& scan) const = 0;
  /// Whether several tasks may read pieces of one file. Errors: those of bad options.
  virtual Result<std::function<bool(const std::string& path)>> Splitting(const FormatContext& context) const = 0;
  /// Writers of rows of `schema`. Errors: those of bad options and of types the format has not.
  virtual Result<FileWriters> NewWriters(const FormatContext& context, const data::Schema& schema) const = 0;
};

std::unique_ptr<FileFormat> MakeCsvFormat();
std::unique_ptr<FileFormat> MakeJsonFormat();
std::unique_ptr<FileFormat> MakeOrcFormat();
std::unique_ptr<FileFormat> MakeParquetFormat();
std::unique_ptr<FileFormat> MakeTextFormat();

}  // namespace thalweg::connectors
