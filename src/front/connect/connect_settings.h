#pragma once

// Settings of the server side of Spark Connect, with Spark's names and defaults.

#include "base/settings.h"

namespace thalweg::front {

inline const Setting<int64_t> kMaxPlanBytes{
    .key = "spark.connect.maxPlanSize",
    .default_value = 512 << 20,
    .unit = SettingUnit::kBytes,
    .scope = SettingScope::kServer,
    .doc = "The most bytes of a plan that arrives compressed."};
inline const Setting<int64_t> kMaxStreamDurationMs{
    .key = "spark.connect.execute.reattachable.senderMaxStreamDuration",
    .default_value = 120'000,
    .unit = SettingUnit::kMillis,
    .scope = SettingScope::kServer,
    .doc = "After so long a stream of responses ends and the client attaches again."};
inline const Setting<int64_t> kMaxStreamBytes{
    .key = "spark.connect.execute.reattachable.senderMaxStreamSize",
    .default_value = 1 << 30,
    .unit = SettingUnit::kBytes,
    .scope = SettingScope::kServer,
    .doc = "After so many bytes a stream of responses ends and the client attaches again."};
inline const Setting<int64_t> kRetryBufferBytes{
    .key = "spark.connect.execute.reattachable.observerRetryBufferSize",
    .default_value = 10 << 20,
    .unit = SettingUnit::kBytes,
    .scope = SettingScope::kServer,
    .doc = "Responses that were sent and are kept for a client that attaches again."};
inline const Setting<int64_t> kDetachedTimeoutMs{
    .key = "spark.connect.execute.manager.detachedTimeout",
    .default_value = 300'000,
    .unit = SettingUnit::kMillis,
    .scope = SettingScope::kServer,
    .doc = "How long an operation goes on without a client."};
inline const Setting<int64_t> kSessionTimeoutMs{
    .key = "spark.connect.session.manager.defaultSessionTimeout",
    .default_value = 3'600'000,
    .unit = SettingUnit::kMillis,
    .scope = SettingScope::kServer,
    .doc = "How long a session stays without a request."};
inline const Setting<int64_t> kProgressIntervalMs{
    .key = "spark.connect.progress.reportInterval",
    .default_value = 2'000,
    .unit = SettingUnit::kMillis,
    .scope = SettingScope::kServer,
    .doc = "Pause between two progress messages of a running operation."};

}  // namespace thalweg::front
