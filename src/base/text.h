#pragma once

// Small texts for messages and names: lists with commas, numbers with leading zeros.

#include <functional>
#include <string>
#include <utility>

namespace thalweg {

/// "a, b, c": the parts, each as `text` makes it.
template <typename Parts, typename Text = std::identity>
std::string Joined(const Parts& parts, Text&& text = {}) {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!std::exchange(first, false)) out += ", ";
    out += std::invoke(text, part);
  }
  return out;
}

/// Decimal digits, at least `width` of them. For numbers from 0 on.
template <typename Number>
std::string ZeroPadded(Number number, size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

}  // namespace thalweg
