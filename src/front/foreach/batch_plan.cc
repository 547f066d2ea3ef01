#include "front/foreach/batch_plan.h"

#include "base/uuid.h"

namespace thalweg::front {

sql::PlanPtr PlanOfBatch(const sql::BatchRelation& rows) {
  sql::AttributeList attributes;
  for (const data::StructField& field : rows.schema()) {
    attributes.push_back(sql::Attribute::Make(field.name, field.type, field.nullable, sql::NewExprId(), {},
                                              sql::WithWatermarkDelayMs(field.metadata_json, std::nullopt)));
  }
  return std::make_shared<sql::LocalRelation>(std::move(attributes), rows.chunks());
}

OfferedRelation::OfferedRelation(const RelationsById& relations, const sql::BatchRelation& rows)
    : relations_(relations), id_(Uuid::MakeRandom().ToString()) {
  relations_.put(id_, PlanOfBatch(rows));
}

OfferedRelation::~OfferedRelation() { relations_.drop(id_); }

}  // namespace thalweg::front
