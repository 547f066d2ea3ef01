#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "connectors/file/file_format.h"
#include "connectors/file/file_listing.h"
#include "data/text/time_zone.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Everything that is fixed when a frame over files is built. Thread: immutable; shared by its scans and streams.
struct FileRelation {
  std::shared_ptr<const FileFormat> format;
  FormatContext context;
  Clock* clock = nullptr;
  SettingsMap settings;
  std::vector<std::string> paths;  ///< as given, without scheme, absolute
  sql::OptionMap options;
  ListingOptions listing_options;
  std::vector<std::string> partition_roots;  ///< what `column=value` directories hang below; patterns resolved anew
  FileListing listing;                       ///< batch reads: fixed; streams: as the frame was built
  data::Schema data_schema;                  ///< what is read from files
  data::Schema partition_schema;             ///< what is read from paths
  std::vector<std::string> column_order;     ///< the user's, where Spark keeps that: batch reads of a sink's output
  data::TimeZone zone;
  bool ignore_missing_files = false;
  bool ignore_corrupt_files = false;

  /// By `column_order`, then data columns, then partition columns.
  data::Schema schema() const;
  bool case_sensitive() const { return context.config->case_sensitive; }
  /// Lists again. Errors: those of ListDataFiles.
  Result<FileListing> List(bool missing_ok) const;
};
using FileRelationPtr = std::shared_ptr<const FileRelation>;

FormatContext ContextOf(const sql::ConnectorServices& services, const sql::LoadRequest& request);

/// Drops what is no part of the relation: files outside partition directories when there are such columns, files in
/// sub-directories when there are none.
void KeepOwnFiles(const data::Schema& partition_schema, bool recursive, FileListing* listing);

/// Resolves paths, options and schema of a reader. Errors: PATH_NOT_FOUND, UNABLE_TO_INFER_SCHEMA,
/// COLUMN_ALREADY_EXISTS, _LEGACY_ERROR_TEMP_2048 (stream without schema), _LEGACY_ERROR_TEMP_2050 (not one path),
/// those of the format.
Result<FileRelationPtr> MakeFileRelation(std::shared_ptr<const FileFormat> format,
                                         const sql::ConnectorServices& services, const sql::LoadRequest& request);

/// What every read of some columns has in common: readers, and which columns come from paths. Thread: immutable.
class FileReadPlan {
 public:
  static Result<std::shared_ptr<const FileReadPlan>> Make(FileRelationPtr relation, const sql::ScanRequest& request);

  /// Splits of about equal size: large files of line formats are cut, small ones are put together.
  /// `roots`: what partition directories of these files hang below.
  Result<std::vector<sql::InputSplitPtr>> PlanSplits(const std::vector<FileEntry>& files,
                                                     const std::vector<std::string>& roots) const;

  const FileRelation& relation() const { return *relation_; }
  const data::Schema& columns() const { return columns_; }

  /// A requested column: the index among the reader's columns, or among the partition values of a piece.
  struct Place {
    bool from_path = false;
    int index = 0;
  };
  const std::vector<Place>& places() const { return places_; }
  const data::Schema& path_columns() const { return path_columns_; }
  const ReaderFactory& readers() const { return readers_; }

 private:
  FileRelationPtr relation_;
  data::Schema columns_;       // as requested
  std::vector<Place> places_;  // of each
  data::Schema path_columns_;  // the requested partition columns
  ReaderFactory readers_;
  std::function<bool(const std::string&)> can_split_;
  std::weak_ptr<const FileReadPlan> self_;
};

}  // namespace thalweg::connectors
