#pragma once

// Errors are part of the public API: programs that use the library see the same Status and Result.
#include "thalweg/status.h"  // IWYU pragma: export
