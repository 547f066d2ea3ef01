// Every provider there is.

#include <array>

#include "engine/state/hdfs/hdfs_persister.h"
#include "engine/state/rocksdb/rocksdb_persister.h"
#include "engine/state/state_persister.h"

namespace thalweg::engine {
namespace {

class HdfsProvider final : public StateStoreProvider {
 public:
  std::string_view class_name() const override { return kHdfsProviderClass; }
  Result<std::unique_ptr<StatePersister>> Open(data::FileSystem& file_system, const StateStoreId& id,
                                               const StateOptions& options, StateRowTypes types, StateMemory) const override {
    TW_ASSIGN_OR_RETURN(const StateCodecKind codec, FindStateCodec(options.codec));
    return std::unique_ptr<StatePersister>(
        std::make_unique<HdfsPersister>(file_system, id, options, std::move(types), codec));
  }
};

class RocksDbProvider final : public StateStoreProvider {
 public:
  std::string_view class_name() const override { return kRocksDbProviderClass; }
  Result<std::unique_ptr<StatePersister>> Open(data::FileSystem& file_system, const StateStoreId& id,
                                               const StateOptions& options, StateRowTypes types,
                                               StateMemory memory) const override {
    if (options.encoding_format != "unsaferow") return Unsupported("state encoding format " + options.encoding_format);
    TW_ASSIGN_OR_RETURN(const StateCodecKind codec, FindStateCodec(options.codec));
    return std::unique_ptr<StatePersister>(
        std::make_unique<RocksDbPersister>(file_system, id, options, std::move(types), codec, memory));
  }
};

const HdfsProvider kHdfs;
const RocksDbProvider kRocksDb;
const std::array<const StateStoreProvider*, 2> kProviders = {&kHdfs, &kRocksDb};

}  // namespace

Status StatePersister::Replay(StateVersion, StateVersion, const StateVisitor&) {
  return Error("STATE_STORE_PROVIDER_DOES_NOT_SUPPORT_FINE_GRAINED_STATE_REPLAY").With("inputClass", "of this checkpoint");
}

Result<const StateStoreProvider*> FindStateStoreProvider(std::string_view class_name) {
  for (const StateStoreProvider* provider : kProviders) {
    // The class moved between packages: the simple name decides.
    const std::string_view known = provider->class_name();
    const std::string_view simple = known.substr(known.rfind('.') + 1);
    if (class_name == known || class_name.substr(class_name.rfind('.') + 1) == simple) return provider;
  }
  return Unsupported("state store provider " + std::string(class_name));
}

}  // namespace thalweg::engine
