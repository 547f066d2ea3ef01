#pragma once

#include <string>

#include "data/text/time_zone.h"

namespace thalweg::sql {

/// While one lives, Literal::Sql (column names, texts of errors) shows timestamps in this zone, as Spark shows them in the
/// session's; otherwise in UTC. An id that is no zone changes nothing. Thread: confined; nests.
class ScopedLiteralZone {
 public:
  explicit ScopedLiteralZone(const std::string& id);
  ~ScopedLiteralZone();
  ScopedLiteralZone(const ScopedLiteralZone&) = delete;
  ScopedLiteralZone& operator=(const ScopedLiteralZone&) = delete;

 private:
  const data::TimeZone before_;
};

}  // namespace thalweg::sql
