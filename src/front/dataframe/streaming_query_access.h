#pragma once

#include <memory>
#include <string>
#include <utility>

#include "thalweg/streaming.h"

namespace thalweg::internal {

struct StreamingQueryAccess {
  static StreamingQuery Make(std::shared_ptr<SessionState> session, std::string id, std::string run_id, std::string name) {
    return StreamingQuery(std::move(session), std::move(id), std::move(run_id), std::move(name));
  }
};

}  // namespace thalweg::internal
