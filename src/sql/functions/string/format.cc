// format_string, printf: java.util.Formatter's common conversions. format_number.

#include <fmt/format.h>

#include <cmath>

#include "data/text/decimal128.h"
#include "data/text/literal.h"
#include "data/text/numbers.h"
#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/expr/cast.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

struct Conversion {
  std::string flags;
  int argument = -1;
  int width = -1;
  int precision = -1;
  char type = 's';
};

/// java.lang.String's length: UTF-16 units.
int Units(std::string_view text) {
  int units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xC0) == 0x80 ? 0 : (byte >= 0xF0 ? 2 : 1);
  }
  return units;
}

/// At most `count` units from the front; a character is never cut.
std::string_view FirstUnits(std::string_view text, int count) {
  size_t at = 0;
  while (at < text.size()) {
    const auto bytes = static_cast<size_t>(data::Utf8CharBytes(static_cast<unsigned char>(text[at])));
    count -= bytes == 4 ? 2 : 1;
    if (count < 0) break;
    at = std::min(at + bytes, text.size());
  }
  return text.substr(0, at);
}

std::string Padded(std::string text, const Conversion& c) {
  const int size = Units(text);
  if (c.width <= size) return text;
  const auto missing = static_cast<size_t>(c.width - size);
  if (c.flags.find('-') != std::string::npos) return text + std::string(missing, ' ');
  if (c.flags.find('0') != std::string::npos && c.type != 's') {
    const size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    return text.insert(at, missing, '0');
  }
  return std::string(missing, ' ') + text;
}

std::string WithGroups(const std::string& digits) {
  std::string out;
  const size_t point = std::min(digits.find('.'), digits.size());
  size_t begin = !digits.empty() && digits[0] == '-' ? 1 : 0;
  out.append(digits, 0, begin);
  for (size_t i = begin; i < point; ++i) {
    out.push_back(digits[i]);
    if ((point - i - 1) % 3 == 0 && i + 1 < point) out.push_back(',');
  }
  return out.append(digits, point);
}

std::string Signed(std::string text, const Conversion& c) {
  if (c.flags.find(',') != std::string::npos) text = WithGroups(text);
  if (c.flags.find('+') != std::string::npos && text[0] != '-') text.insert(0, "+");
  if (c.flags.find(' ') != std::string::npos && text[0] != '-') text.insert(0, " ");
  return text;
}

Status BadFormat(std::string_view what) {
  return Error("_LEGACY_ERROR_TEMP_3102").With("msg", what);
}

Result<std::string> FormatOne(const Conversion& c, const Column& column, int64_t row) {
  const Value value = column.GetValue(row);
  if (c.type == 's' || c.type == 'S') {
    std::string text = value.is_null() ? "null" : data::ValueText(value, column.type());
    if (c.precision >= 0) text = FirstUnits(text, c.precision);
    if (c.type == 'S') {
      std::string upper;
      data::AppendUpper(text, &upper);
      text = std::move(upper);
    }
    return Padded(text, c);
  }
  if (value.is_null()) {
    Conversion blank = c;
    blank.type = 's';  // no zeros before it
    return Padded("null", blank);
  }
  switch (c.type) {
    case 'd':
      if (!column.type().IsIntegral()) return BadFormat("d != " + column.type().SimpleString());
      return Padded(Signed(std::to_string(value.AsInt64()), c), c);
    case 'x':
    case 'X':
    case 'o': {
      if (!column.type().IsIntegral()) return BadFormat(std::string(1, c.type) + " != " + column.type().SimpleString());
      uint64_t bits = static_cast<uint64_t>(value.AsInt64());
      const int width = column.type().byte_width() * 8;
      if (width < 64) bits &= (uint64_t{1} << width) - 1;
      return Padded(c.type == 'x' ? fmt::format("{:x}", bits)
                                  : (c.type == 'X' ? fmt::format("{:X}", bits) : fmt::format("{:o}", bits)),
                    c);
    }
    case 'f':
    case 'e':
    case 'E': {
      double number = 0;
      if (const auto* d = value.get_if<double>()) {
        number = *d;
      } else if (const auto* f = value.get_if<float>()) {
        number = *f;
      } else if (const auto* decimal = value.get_if<Int128>()) {
        const int precision = c.precision < 0 ? 6 : c.precision;
        Int128 rounded = 0;
        if (c.type == 'f' && data::DecimalRescale(*decimal, column.type().scale(), 38, precision, &rounded)) {
          std::string text;
          data::AppendDecimal(rounded, precision, &text);
          return Padded(Signed(text, c), c);
        }
        number = data::DecimalToDouble(*decimal, column.type().scale());
      } else {
        return BadFormat(std::string(1, c.type) + " != " + column.type().SimpleString());
      }
      if (std::isnan(number)) return Padded("NaN", c);
      if (std::isinf(number)) return Padded(number > 0 ? "Infinity" : "-Infinity", c);
      const int precision = c.precision < 0 ? 6 : c.precision;
      if (c.type != 'f') {
        return Padded(Signed(c.type == 'e' ? fmt::format("{:.{}e}", number, precision)
                                           : fmt::format("{:.{}E}", number, precision),
                             c),
                      c);
      }
      // Java rounds the shortest decimal digits HALF_UP, C the binary value.
      Int128 rounded = 0;
      if (std::fabs(number) < 1e15 && data::DecimalFromDouble(number, 38, precision, &rounded)) {
        std::string text;
        if (rounded == 0 && std::signbit(number)) text = "-";
        data::AppendDecimal(rounded, precision, &text);
        return Padded(Signed(text, c), c);
      }
      return Padded(Signed(fmt::format("{:.{}f}", number, precision), c), c);
    }
    case 'b':
      return Padded(column.type().Is(TypeKind::kBoolean) && !value.get<bool>() ? "false" : "true", c);
    case 'c':
      if (column.type().IsIntegral()) return Padded(std::string(1, static_cast<char>(value.AsInt64())), c);
      return Padded(data::ValueText(value, column.type()), c);
    default: return BadFormat(std::string("Conversion = '") + c.type + "'");
  }
}

Result<Conversion> ReadConversion(std::string_view format, size_t* at) {
  Conversion c;
  const auto number = [&]() {
    int value = 0;
    while (*at < format.size() && std::isdigit(static_cast<unsigned char>(format[*at]))) {
      value = std::min(value * 10 + (format[(*at)++] - '0'), 100000);
    }
    return value;
  };
  const size_t start = *at;
  const int first = number();
  if (*at > start && *at < format.size() && format[*at] == '$') {
    ++*at;
    c.argument = first - 1;
  } else {
    *at = start;
  }
  while (*at < format.size() && std::string_view("-#+ 0,(").find(format[*at]) != std::string_view::npos) {
    c.flags.push_back(format[(*at)++]);
  }
  if (*at < format.size() && std::isdigit(static_cast<unsigned char>(format[*at]))) c.width = number();
  if (*at < format.size() && format[*at] == '.') {
    ++*at;
    c.precision = number();
  }
  if (*at >= format.size()) return BadFormat("Conversion = '%'");
  c.type = format[(*at)++];
  return c;
}

Status FormatRow(std::string_view format, const KernelInput& input, int64_t row, std::string* out) {
  int next = 0;
  for (size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out->push_back(format[at++]);
      continue;
    }
    ++at;
    TW_ASSIGN_OR_RETURN(Conversion c, ReadConversion(format, &at));
    if (c.type == '%') {
      out->append(Padded("%", c));
      continue;
    }
    if (c.type == 'n') {
      out->push_back('\n');
      continue;
    }
    const int argument = c.argument >= 0 ? c.argument : next++;
    if (argument + 1 >= static_cast<int>(input.arguments.size())) {
      return BadFormat("Format specifier '%" + std::string(1, c.type) + "'");
    }
    TW_ASSIGN_OR_RETURN(const std::string text, FormatOne(c, *input.arguments[static_cast<size_t>(argument) + 1], row));
    out->append(text);
  }
  return {};
}

Result<ColumnPtr> FormatString(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& format = *input.arguments[0];
  const Reader<std::string_view> formats(format);
  TextOutput out(call.type, input.rows.length);
  std::string text;
  TW_RETURN_NOT_OK(TryForEachValid(KernelInput{{}, input.rows, nullptr}, [&](int64_t row) -> Status {
    if (format.IsNull(row)) {
      out.SetNull(row);
      return {};
    }
    text.clear();
    TW_RETURN_NOT_OK(FormatRow(formats[row], input, row, &text));
    out.Set(row, text);
    return {};
  }));
  return out.Finish();
}

Result<BoundCall> BindFormat(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, -1));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::String(), context));
  const bool nullable = arguments[0]->nullable();
  return MakeBoundExact(function, std::move(arguments), DataType::String(), nullable, &FormatString, ModeOf(function, context));
}

/// HALF_EVEN, with commas, as java.text.DecimalFormat.
Result<ColumnPtr> FormatNumber(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int scale = input.arguments[0]->type().Is(TypeKind::kDecimal) ? input.arguments[0]->type().scale() : -1;
  const Column& number = *input.arguments[0];
  const Reader<int32_t> digits(*input.arguments[1]);
  TextOutput out(call.type, input.rows.length);
  std::string text;
  ForEachValid(input, [&](int64_t row) {
    if (digits[row] < 0) return out.SetNull(row);
    text.clear();
    const int places = std::min(digits[row], 37);
    const Value value = number.GetValue(row);
    Int128 rounded = 0;
    bool ok = false;
    if (const auto* decimal = value.get_if<Int128>()) {
      ok = data::DecimalRescale(*decimal, scale, 38, places, &rounded, data::Rounding::kHalfEven);
    } else if (const auto* d = value.get_if<double>()) {
      if (!std::isfinite(*d)) return out.Set(row, std::isnan(*d) ? "NaN" : (*d > 0 ? "\u221E" : "-\u221E"));
      Int128 exact = 0;
      ok = data::DecimalFromDouble(*d, 38, 17, &exact) &&
           data::DecimalRescale(exact, 17, 38, places, &rounded, data::Rounding::kHalfEven);
    } else {
      ok = data::DecimalFromInt64(value.AsInt64(), 38, places, &rounded);
    }
    if (!ok) return out.SetNull(row);
    data::AppendDecimal(rounded, places, &text);
    out.Set(row, WithGroups(text));
  });
  return out.Finish();
}

Result<BoundCall> BindFormatNumber(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  const DataType& type = arguments[0]->type();
  if (!type.IsNumeric() || type.Is(TypeKind::kFloat)) {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Double(), context));
  }
  if (arguments[1]->type().Is(TypeKind::kString)) return Unsupported("format_number with a pattern");
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), DataType::String(), true, &FormatNumber, context);
}

}  // namespace

void RegisterFormat(FunctionLists& lists) {
  static const ScalarFunction kFormat{.name = "format_string", .since = "1.5.0", .doc = "Text by a printf format.",
                                      .example = {"SELECT format_string('Hello World %d %s', 100, 'days')",
                                                  "Hello World 100 days"},
                                      .nulls = NullPolicy::kCustom, .bind = &BindFormat};
  static const ScalarFunction kPrintf = Renamed(kFormat, "printf");
  static const ScalarFunction kFormatNumber{.name = "format_number", .since = "1.5.0",
                                            .doc = "A number with commas and so many decimal places.",
                                            .example = {"SELECT format_number(12332.123456, 4)", "12,332.1235"},
                                            .bind = &BindFormatNumber};
  for (const auto* f : {&kFormat, &kPrintf, &kFormatNumber}) lists.Add(*f);
}

}  // namespace thalweg::sql
