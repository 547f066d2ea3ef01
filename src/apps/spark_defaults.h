#pragma once

// Settings from the command line and from spark-defaults.conf.

#include <string>
#include <vector>

#include "base/settings.h"
#include "base/status.h"

namespace thalweg::apps {

/// Reads lines "key value", "key=value" or "key: value"; # begins a comment. Keys that begin with neither "spark." nor
/// "thalweg." are left out, as spark-submit does. Errors: IO_ERROR.
Status ReadPropertiesFile(const std::string& path, SettingsMap* settings);
/// $SPARK_CONF_DIR/spark-defaults.conf, else $SPARK_HOME/conf/spark-defaults.conf; empty when neither is there.
std::string DefaultPropertiesFile();
/// Help of the option that names the file.
inline constexpr const char* kPropertiesFileHelp = "File of settings (default: spark-defaults.conf in $SPARK_CONF_DIR or $SPARK_HOME/conf)";
/// "key=value". Errors: ILLEGAL_ARGUMENT.
Status AddConf(const std::string& pair, SettingsMap* settings);

}  // namespace thalweg::apps
