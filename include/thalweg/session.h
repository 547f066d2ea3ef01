#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/catalog.h"
#include "thalweg/data_frame.h"
#include "thalweg/data_frame_reader.h"
#include "thalweg/export.h"
#include "thalweg/status.h"

namespace thalweg {

class SessionBuilder;

/// A session of an engine: the one inside this process, a Thalweg server, or a Spark cluster. Thread: every call from any.
/// Copies are the same session. It ends when the last copy, DataFrame and StreamingQuery of it has gone, or by Stop().
class THALWEG_API Session {
 public:
  /// What to connect to, and settings: Session::Builder().AppName("clicks").GetOrCreate().
  static SessionBuilder Builder();
  /// `url` "sc://host:port/;token=..." of a Thalweg server or a Spark Connect server; "" starts the engine in this process, or
  /// joins the one that runs. Settings as of spark.conf; the first embedded session's are the engine's too. Errors: what the
  /// address or the server says.
  static Result<Session> Connect(std::string_view url, const std::map<std::string, std::string>& settings = {});

  DataFrameReader Read() const;
  DataStreamReader ReadStream() const;
  /// Runs commands at once; queries run when the DataFrame does. Parameters are ":name" in the text.
  Result<DataFrame> Sql(std::string_view text, const std::map<std::string, Column>& parameters = {}) const;
  /// Parameters are "?" in the text.
  Result<DataFrame> Sql(std::string_view text, const std::vector<Column>& parameters) const;
  DataFrame Table(std::string_view name) const;
  DataFrame Range(int64_t start, int64_t end, int64_t step = 1) const;
  /// Rows of this program. `schema` in DDL: "id BIGINT, page STRING". Errors: a row or a cell that does not fit it.
  Result<DataFrame> CreateDataFrame(std::string_view schema, const std::vector<Row>& rows) const;
  /// Record batches of this program; the stream is read to its end and released.
  Result<DataFrame> CreateDataFrame(ArrowArrayStream* batches) const;
  thalweg::Catalog Catalog() const;
  StreamingQueryManager Streams() const;

  Status SetConf(std::string_view key, std::string_view value) const;
  /// Its default where it has one. Errors: SQL_CONF_NOT_FOUND.
  Result<std::string> GetConf(std::string_view key) const;
  /// Nothing when it is neither set nor has a default.
  Result<std::optional<std::string>> GetConfOption(std::string_view key) const;
  Status UnsetConf(std::string_view key) const;
  Result<std::string> Version() const;

  /// Calls of this session from now on carry the tag, until it is removed; InterruptTag ends them.
  void AddTag(std::string_view tag) const;
  void RemoveTag(std::string_view tag) const;
  /// Ends what runs, streaming queries included; ids of what was ended.
  Result<std::vector<std::string>> InterruptAll() const;
  Result<std::vector<std::string>> InterruptTag(std::string_view tag) const;
  /// Stops its queries and ends the session on the server. Later calls are refused. Idempotent.
  Status Stop() const;

 private:
  friend class SessionBuilder;
  explicit Session(std::shared_ptr<internal::SessionState> state) : state_(std::move(state)) {}
  std::shared_ptr<internal::SessionState> state_;
};

/// Spark's SparkSession.builder. Thread: confined.
class THALWEG_API SessionBuilder {
 public:
  SessionBuilder& AppName(std::string_view name);
  /// "sc://host:port/;token=...". Without it: the environment's SPARK_REMOTE, else the engine inside this process.
  SessionBuilder& Remote(std::string_view url);
  SessionBuilder& Config(std::string_view key, std::string_view value);
  /// The newest session of this process at the same place, with the settings applied; a new one when there is none.
  Result<Session> GetOrCreate() const;
  Result<Session> Create() const;

 private:
  std::string Url() const;
  std::optional<std::string> remote_;
  std::map<std::string, std::string> settings_;
};

}  // namespace thalweg
