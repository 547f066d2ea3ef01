#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/data_frame.h"
#include "thalweg/status.h"

namespace thalweg {

/// spark.read and spark.readStream. Thread: confined.
class DataReader {
 public:
  DataReader& Format(std::string_view format);
  DataReader& Option(std::string_view key, std::string_view value);
  /// DDL or JSON.
  DataReader& Schema(std::string_view schema);
  DataFrame Load(const std::vector<std::string>& paths = {}) const;
  DataFrame Table(std::string_view name) const;

 private:
  friend class Session;
  DataReader(std::shared_ptr<internal::SessionState> session, bool streaming);
  struct Spec;
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<Spec> spec_;
};

/// A session of a server. Thread: every call from any; copies are the same session. The last copy ends it.
class Session {
 public:
  /// `url` "sc://host:port/;token=..." of a Thalweg server or a Spark Connect server; "" starts the engine in this process.
  /// Settings as of spark.conf. Errors: what the address or the server says.
  static Result<Session> Connect(std::string_view url, const std::map<std::string, std::string>& settings = {});

  DataReader Read() const;
  DataReader ReadStream() const;
  /// Runs commands at once; queries run when the DataFrame does.
  Result<DataFrame> Sql(std::string_view text) const;
  DataFrame Table(std::string_view name) const;
  DataFrame Range(int64_t start, int64_t end, int64_t step = 1) const;
  Status SetConf(std::string_view key, std::string_view value) const;
  Result<std::string> GetConf(std::string_view key) const;
  Result<std::string> Version() const;

 private:
  explicit Session(std::shared_ptr<internal::SessionState> state) : state_(std::move(state)) {}
  std::shared_ptr<internal::SessionState> state_;
};

}  // namespace thalweg
