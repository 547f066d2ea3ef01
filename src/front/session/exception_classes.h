#pragma once

// Which exception of Spark's a condition is: clients choose their own class by these names. Source: PySpark's errors/exceptions.

#include <string>
#include <vector>

#include "base/status.h"

namespace thalweg::front {

/// Most derived first, up to java.lang.Object.
std::vector<std::string> ExceptionClasses(const Status& status);

}  // namespace thalweg::front
