#pragma once

#include <memory>

#include "data/formats/csv/csv_options.h"
#include "data/formats/file_reader.h"

namespace thalweg::data {

/// CSV files by position: field i of a record belongs to field i of `file_schema`; `columns` are those asked for, the
/// corrupt-record column among them or not. Records of another length are malformed, unless columns are left out and
/// the corrupt-record column is not asked for: then they are not looked at, as in Spark.
/// Errors of reading: MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION, MALFORMED_CSV_RECORD, ILLEGAL_ARGUMENT (header).
/// Source: Spark's UnivocityParser, CSVHeaderChecker, FailureSafeParser.
Result<std::unique_ptr<FileReader>> MakeCsvFileReader(const Schema& file_schema, const Schema& columns,
                                                      const CsvOptions& options, bool case_sensitive);

/// Whether columns of those types can be read and written. Errors: UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE.
Status CheckCsvSchema(const Schema& schema, const CsvOptions& options);

/// Whether pieces of a file may be read apart from each other.
bool CanSplitCsvFile(const CsvOptions& options, const std::string& path);

/// The schema of files: names by the header, types by the values with `inferSchema`, else strings. Nothing when there is no
/// record at all. Errors: IO_ERROR. Source: Spark's CSVInferSchema.
Result<Schema> InferCsvSchema(FileSystem& file_system, const std::vector<FileRange>& files, const CsvOptions& options,
                              bool case_sensitive, bool timestamp_ntz);

}  // namespace thalweg::data
