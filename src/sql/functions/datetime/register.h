#pragma once

#include "data/text/time_zone.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {

void RegisterCalendar(FunctionLists& lists);
void RegisterFields(FunctionLists& lists);
void RegisterMake(FunctionLists& lists);
void RegisterNow(FunctionLists& lists);
void RegisterPatterns(FunctionLists& lists);
void RegisterTrunc(FunctionLists& lists);
void RegisterUnits(FunctionLists& lists);
void RegisterUnix(FunctionLists& lists);

/// The session's zone.
inline data::TimeZone SessionZone(const EvalContext& context) {
  auto zone = data::TimeZone::Find(context.config->time_zone);
  return zone ? *zone : data::TimeZone::Utc();
}

}  // namespace thalweg::sql
