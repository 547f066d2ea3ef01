#include "thalweg/data_frame_reader.h"

#include <spark/connect/relations.pb.h>

#include "front/dataframe/nodes.h"

namespace thalweg {

using internal::DataFrameAccess;
namespace proto = ::spark::connect;

struct DataFrameReader::Spec {
  bool streaming = false;
  proto::Read::DataSource source;
};

DataFrameReader::DataFrameReader(std::shared_ptr<internal::SessionState> session, bool streaming)
    : session_(std::move(session)), spec_(std::make_shared<Spec>()) {
  spec_->streaming = streaming;
}

DataFrameReader& DataFrameReader::Format(std::string_view format) {
  spec_->source.set_format(std::string(format));
  return *this;
}
DataFrameReader& DataFrameReader::Option(std::string_view key, std::string_view value) {
  (*spec_->source.mutable_options())[std::string(key)] = std::string(value);
  return *this;
}
DataFrameReader& DataFrameReader::Options(const std::map<std::string, std::string>& options) {
  for (const auto& [key, value] : options) Option(key, value);
  return *this;
}
DataFrameReader& DataFrameReader::Schema(std::string_view schema) {
  spec_->source.set_schema(std::string(schema));
  return *this;
}

DataFrame DataFrameReader::Load(const std::vector<std::string>& paths) const {
  proto::Relation relation;
  relation.mutable_read()->set_is_streaming(spec_->streaming);
  *relation.mutable_read()->mutable_data_source() = spec_->source;
  for (const std::string& path : paths) relation.mutable_read()->mutable_data_source()->add_paths(path);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrameReader::Table(std::string_view name) const {
  proto::Relation relation;
  relation.mutable_read()->set_is_streaming(spec_->streaming);
  relation.mutable_read()->mutable_named_table()->set_unparsed_identifier(std::string(name));
  *relation.mutable_read()->mutable_named_table()->mutable_options() = spec_->source.options();
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrameReader::Csv(std::string_view path) { return Format("csv").Load({std::string(path)}); }
DataFrame DataFrameReader::Json(std::string_view path) { return Format("json").Load({std::string(path)}); }
DataFrame DataFrameReader::Parquet(std::string_view path) { return Format("parquet").Load({std::string(path)}); }
DataFrame DataFrameReader::Text(std::string_view path) { return Format("text").Load({std::string(path)}); }

}  // namespace thalweg
