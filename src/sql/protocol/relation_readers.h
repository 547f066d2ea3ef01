#pragma once

// The conversions of single relations, by family. Each reads its inputs through the PlanReader.

#include "base/status.h"
#include "sql/plan/logical_plan.h"

namespace spark::connect {
class Aggregate;
class CachedLocalRelation;
class ChunkedCachedLocalRelation;
class LocalRelation;
class NADrop;
class NAFill;
class NAReplace;
class Read;
class SQL;
class Sample;
class StatApproxQuantile;
class StatCorr;
class StatCov;
class StatCrosstab;
class StatDescribe;
class StatFreqItems;
class StatSampleBy;
class StatSummary;
class Transpose;
class UnresolvedTableValuedFunction;
class Unpivot;
class WithRelations;
}  // namespace spark::connect

namespace thalweg::sql {

class PlanReader;

Result<PlanPtr> ReadTableOrSource(const ::spark::connect::Read& message, PlanReader& reader);
Result<PlanPtr> ReadSql(const ::spark::connect::SQL& message, PlanReader& reader);
/// SQL with DataFrames as named arguments: these become common table expressions around the statement.
Result<PlanPtr> ReadWithRelations(const ::spark::connect::WithRelations& message, PlanReader& reader);
Result<PlanPtr> ReadLocalRelation(const ::spark::connect::LocalRelation& message);
Result<PlanPtr> ReadCachedLocalRelation(const ::spark::connect::CachedLocalRelation& message, PlanReader& reader);
Result<PlanPtr> ReadChunkedLocalRelation(const ::spark::connect::ChunkedCachedLocalRelation& message, PlanReader& reader);
Result<PlanPtr> ReadAggregate(const ::spark::connect::Aggregate& message, PlanReader& reader);
Result<PlanPtr> ReadSample(const ::spark::connect::Sample& message, PlanReader& reader);
Result<PlanPtr> ReadFillNa(const ::spark::connect::NAFill& message, PlanReader& reader);
Result<PlanPtr> ReadDropNa(const ::spark::connect::NADrop& message, PlanReader& reader);
Result<PlanPtr> ReadReplace(const ::spark::connect::NAReplace& message, PlanReader& reader);

// reshape_from_proto.cc
Result<PlanPtr> ReadPivot(const ::spark::connect::Aggregate& message, PlanReader& reader);
Result<PlanPtr> ReadUnpivot(const ::spark::connect::Unpivot& message, PlanReader& reader);
Result<PlanPtr> ReadTranspose(const ::spark::connect::Transpose& message, PlanReader& reader);
Result<PlanPtr> ReadTableFunction(const ::spark::connect::UnresolvedTableValuedFunction& message, PlanReader& reader);
// statistics_from_proto.cc
Result<PlanPtr> ReadDescribe(const ::spark::connect::StatDescribe& message, PlanReader& reader);
Result<PlanPtr> ReadSummary(const ::spark::connect::StatSummary& message, PlanReader& reader);
Result<PlanPtr> ReadCov(const ::spark::connect::StatCov& message, PlanReader& reader);
Result<PlanPtr> ReadCorr(const ::spark::connect::StatCorr& message, PlanReader& reader);
Result<PlanPtr> ReadCrosstab(const ::spark::connect::StatCrosstab& message, PlanReader& reader);
Result<PlanPtr> ReadApproxQuantile(const ::spark::connect::StatApproxQuantile& message, PlanReader& reader);
Result<PlanPtr> ReadFreqItems(const ::spark::connect::StatFreqItems& message, PlanReader& reader);
Result<PlanPtr> ReadSampleBy(const ::spark::connect::StatSampleBy& message, PlanReader& reader);

/// Options of a proto map, sorted by key, since the map has no order.
template <typename Map>
OptionMap OptionsFromProto(const Map& map) {
  std::map<std::string, std::string> sorted(map.begin(), map.end());
  OptionMap options;
  for (auto& [key, value] : sorted) options.Set(key, value);
  return options;
}

}  // namespace thalweg::sql
