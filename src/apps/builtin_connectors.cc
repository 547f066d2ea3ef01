#include "apps/builtin_connectors.h"

#include "connectors/console/console_sink.h"
#include "connectors/delta/delta_source.h"
#include "connectors/file/file_source.h"
#include "connectors/kafka/kafka_source.h"
#include "connectors/memory/memory_table.h"
#include "connectors/noop/noop_sink.h"
#include "connectors/rate/rate_source.h"
#include "connectors/socket/socket_source.h"
#include "connectors/state/state_source.h"

namespace thalweg::apps {

Status RegisterBuiltinConnectors(const sql::ConnectorServices& services, sql::DataSourceRegistry* registry) {
  std::vector<std::shared_ptr<const sql::DataSource>> sources = connectors::MakeFileDataSources(services);
  sources.push_back(connectors::MakeConsoleDataSource(services));
  sources.push_back(connectors::MakeDeltaDataSource(services));
  sources.push_back(connectors::MakeKafkaDataSource(services));
  sources.push_back(connectors::MakeMemoryDataSource());
  sources.push_back(connectors::MakeNoopDataSource());
  sources.push_back(connectors::MakeRateDataSource(services));
  sources.push_back(connectors::MakeRateMicroBatchDataSource());
  sources.push_back(connectors::MakeSocketDataSource(services));
  sources.push_back(connectors::MakeStateMetadataDataSource(services));
  sources.push_back(connectors::MakeStateStoreDataSource(services));
  for (std::shared_ptr<const sql::DataSource>& source : sources) TW_RETURN_NOT_OK(registry->Register(std::move(source)));
  return Status::OK();
}

}  // namespace thalweg::apps
