// protobuf's own map_field.h with the layout that the installed library has, for thread-sanitizer builds only: the header gives its
// classes two more members when it sees that sanitizer, and the library was compiled without it.
#pragma once

#include <memory>  // libstdc++ looks at the macro, too, and shall see it
#include <mutex>
#include <string>
#include <unordered_map>

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
