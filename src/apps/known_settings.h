#pragma once

#include "base/settings.h"

namespace thalweg::apps {

/// The settings that rooms declare in headers, by key. Thread: any. Lifetime: static.
const SettingsTable& KnownSettings();

}  // namespace thalweg::apps
