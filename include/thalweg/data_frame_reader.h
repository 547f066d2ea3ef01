#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/data_frame.h"
#include "thalweg/export.h"

namespace thalweg {

/// spark.read, and spark.readStream where it is made for streams. Thread: confined.
class THALWEG_API DataFrameReader {
 public:
  DataFrameReader& Format(std::string_view format);
  DataFrameReader& Option(std::string_view key, std::string_view value);
  DataFrameReader& Options(const std::map<std::string, std::string>& options);
  /// DDL or JSON.
  DataFrameReader& Schema(std::string_view schema);
  /// A stream reads one path at most.
  DataFrame Load(const std::vector<std::string>& paths = {}) const;
  DataFrame Table(std::string_view name) const;

  // Format() and Load() in one.
  DataFrame Csv(std::string_view path);
  DataFrame Json(std::string_view path);
  DataFrame Parquet(std::string_view path);
  DataFrame Text(std::string_view path);

 private:
  friend class Session;
  DataFrameReader(std::shared_ptr<internal::SessionState> session, bool streaming);
  struct Spec;
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<Spec> spec_;
};
using DataStreamReader = DataFrameReader;

}  // namespace thalweg
