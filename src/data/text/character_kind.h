#pragma once

// Kinds of characters as java.lang.Character tells them apart. Pure.

#include <cstdint>

namespace thalweg::data {

enum class CharacterKind : uint8_t { kUpper, kLower, kDigit, kOther };

/// Title-case letters and letters without case are kOther.
CharacterKind KindOfCharacter(char32_t code_point);

}  // namespace thalweg::data
