#include "apps/builtin_connectors.h"

#ifdef TW_HAS_CONNECTORS_CONSOLE
#include "connectors/console/console_sink.h"
#endif
#ifdef TW_HAS_CONNECTORS_DELTA
#include "connectors/delta/delta_source.h"
#endif
#ifdef TW_HAS_CONNECTORS_FILE
#include "connectors/file/file_source.h"
#endif
#ifdef TW_HAS_CONNECTORS_KAFKA
#include "connectors/kafka/kafka_source.h"
#endif
#ifdef TW_HAS_CONNECTORS_MEMORY
#include "connectors/memory/memory_table.h"
#endif
#ifdef TW_HAS_CONNECTORS_NOOP
#include "connectors/noop/noop_sink.h"
#endif
#ifdef TW_HAS_CONNECTORS_RATE
#include "connectors/rate/rate_source.h"
#endif
#ifdef TW_HAS_CONNECTORS_SOCKET
#include "connectors/socket/socket_source.h"
#endif

namespace thalweg::apps {

Status RegisterBuiltinConnectors([[maybe_unused]] const sql::ConnectorServices& services, sql::DataSourceRegistry* registry) {
  std::vector<std::shared_ptr<const sql::DataSource>> sources;
#ifdef TW_HAS_CONNECTORS_CONSOLE
  sources.push_back(connectors::MakeConsoleDataSource(services));
#endif
#ifdef TW_HAS_CONNECTORS_DELTA
  sources.push_back(connectors::MakeDeltaDataSource(services));
#endif
#ifdef TW_HAS_CONNECTORS_FILE
  for (auto& source : connectors::MakeFileDataSources(services)) sources.push_back(std::move(source));
#endif
#ifdef TW_HAS_CONNECTORS_KAFKA
  sources.push_back(connectors::MakeKafkaDataSource(services));
#endif
#ifdef TW_HAS_CONNECTORS_MEMORY
  sources.push_back(connectors::MakeMemoryDataSource());
#endif
#ifdef TW_HAS_CONNECTORS_NOOP
  sources.push_back(connectors::MakeNoopDataSource());
#endif
#ifdef TW_HAS_CONNECTORS_RATE
  sources.push_back(connectors::MakeRateDataSource(services));
  sources.push_back(connectors::MakeRateMicroBatchDataSource());
#endif
#ifdef TW_HAS_CONNECTORS_SOCKET
  sources.push_back(connectors::MakeSocketDataSource(services));
#endif
  for (std::shared_ptr<const sql::DataSource>& source : sources) TW_RETURN_NOT_OK(registry->Register(std::move(source)));
  return Status::OK();
}

}  // namespace thalweg::apps
