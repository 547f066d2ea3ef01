#pragma once

#include <string>

namespace thalweg::data {

/// Appends java.lang.Double.toString(value): "1.0", "1.0E10", "NaN", "-Infinity".
void AppendJavaDouble(double value, std::string* out);
/// Appends java.lang.Float.toString(value).
void AppendJavaFloat(float value, std::string* out);

}  // namespace thalweg::data
