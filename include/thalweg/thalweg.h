#pragma once

/// Everything of the C++ API. `examples/clicks_by_page.cc` shows it at work.

#include "thalweg/catalog.h"
#include "thalweg/column.h"
#include "thalweg/data_frame.h"
#include "thalweg/data_frame_reader.h"
#include "thalweg/data_frame_writer.h"
#include "thalweg/functions.h"
#include "thalweg/session.h"
#include "thalweg/status.h"
#include "thalweg/streaming.h"
#include "thalweg/value.h"
#include "thalweg/window.h"
