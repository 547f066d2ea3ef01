#pragma once

/// What libthalweg.so shows to programs; everything else in it is hidden.
#define THALWEG_API __attribute__((visibility("default")))
