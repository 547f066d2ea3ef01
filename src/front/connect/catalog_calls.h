#pragma once

// spark.catalog.*: runs a call and answers its rows. Source: spark/connect/catalog.proto.

#include "base/status.h"
#include "front/session/session.h"

namespace spark::connect {
class Catalog;
}

namespace thalweg::front {

Result<sql::PlanPtr> RunCatalogCall(Session& session, const ::spark::connect::Catalog& call, std::stop_token stop);

}  // namespace thalweg::front
