#pragma once

#include <string_view>

#include "sql/expr/binding.h"

namespace thalweg::sql {

/// A function that is declared as `like` but does something else: its binder or kernel looks at the name. For another
/// name of the same function there is Renamed.
template <typename Function>
Function Alike(const Function& like, std::string_view name, std::string_view doc, FunctionExample example = {}) {
  Function function = Renamed(like, name);
  function.doc = doc;
  function.example = example;
  return function;
}

}  // namespace thalweg::sql
