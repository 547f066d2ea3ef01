#pragma once

// Errors that another server made: Spark's words, whatever our own table of conditions says.

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace thalweg {

struct ForeignError {
  std::string condition;  ///< as the server names it, in our table or not; empty: SPARK_CONNECT_ERROR
  std::string sql_state;
  std::string message;    ///< whole, as the server wrote it: "[CONDITION] text SQLSTATE: xxxxx" and what follows
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<QueryContext> query_context;
  Status cause;
};

/// An error whose message() is the server's. Kind kInternal for INTERNAL_ERROR*, kCancelled for OPERATION_CANCELED, else kUser.
Status MakeForeignError(ForeignError error);

}  // namespace thalweg
