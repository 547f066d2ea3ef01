#include "front/session/exception_classes.h"

#include <algorithm>
#include <string_view>

namespace thalweg::front {

namespace {

enum class Family : uint8_t {
  kParse, kAnalysis, kExtendedAnalysis, kInvalidPlan, kSqlException, kArithmetic, kNumberFormat, kDateTime, kArrayIndex,
  kIllegalArgument, kUnsupported, kRuntime, kUpgrade, kNoSuchElement, kClassNotFound, kStreamingQuery, kPython, kSpark,
  kIllegalState,
};

struct Rule {
  std::string_view prefix;  ///< a condition, or the beginning of its name when it ends with '*'
  Family family;
};

// The first rule that fits decides.
constexpr Rule kRules[] = {
    {"CONNECT_INVALID_PLAN*", Family::kInvalidPlan},
    {"INVALID_HANDLE*", Family::kSqlException},
    {"INVALID_CURSOR*", Family::kSqlException},
    {"OPERATION_CANCELED", Family::kSqlException},
    {"INVALID_CLONE_SESSION_REQUEST*", Family::kSqlException},
    {"SQL_CONF_NOT_FOUND", Family::kNoSuchElement},
    {"STREAM_FAILED", Family::kStreamingQuery},
    {"DATA_SOURCE_NOT_FOUND", Family::kClassNotFound},
    {"PYTHON_EXCEPTION", Family::kPython},
    {"PARSE_*", Family::kParse},
    {"MERGE_WITHOUT_WHEN", Family::kParse},
    {"MERGE_INSERT_VALUE_COUNT_MISMATCH", Family::kParse},
    {"NON_LAST_*", Family::kParse},
    {"DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", Family::kUnsupported},
    {"INVALID_SQL_SYNTAX*", Family::kParse},
    {"UNCLOSED_BRACKETED_COMMENT", Family::kParse},
    {"UNSUPPORTED_DATATYPE", Family::kParse},
    {"FAILED_TO_PARSE_TOO_COMPLEX", Family::kParse},
    {"INVALID_IDENTIFIER", Family::kParse},
    {"DUPLICATE_CLAUSES", Family::kParse},
    {"INVALID_TYPED_LITERAL", Family::kParse},
    {"INVALID_ESC", Family::kParse},
    {"DIVIDE_BY_ZERO", Family::kArithmetic},
    {"REMAINDER_BY_ZERO", Family::kArithmetic},
    {"INTERVAL_DIVIDED_BY_ZERO", Family::kArithmetic},
    {"INTERVAL_ARITHMETIC_OVERFLOW*", Family::kArithmetic},
    {"ARITHMETIC_OVERFLOW", Family::kArithmetic},
    {"BINARY_ARITHMETIC_OVERFLOW", Family::kArithmetic},
    {"CAST_OVERFLOW*", Family::kArithmetic},
    {"DELTA_CAST_OVERFLOW_IN_TABLE_WRITE", Family::kArithmetic},
    {"NUMERIC_VALUE_OUT_OF_RANGE*", Family::kArithmetic},
    {"NUMERIC_OUT_OF_SUPPORTED_RANGE", Family::kArithmetic},
    {"DATETIME_OVERFLOW", Family::kArithmetic},
    {"CANNOT_PARSE_TIMESTAMP", Family::kDateTime},
    {"CANNOT_PARSE_TIME", Family::kDateTime},
    {"CANNOT_PARSE_INTERVAL", Family::kAnalysis},
    {"INVALID_TIMEZONE", Family::kDateTime},
    {"DATETIME_FIELD_OUT_OF_BOUNDS*", Family::kDateTime},
    {"INVALID_DATETIME_PATTERN*", Family::kIllegalArgument},
    {"INVALID_ARRAY_INDEX*", Family::kArrayIndex},
    {"INCONSISTENT_BEHAVIOR_CROSS_VERSION*", Family::kUpgrade},
    {"INVALID_INTERVAL_FORMAT*", Family::kIllegalArgument},
    {"INVALID_CONF_VALUE*", Family::kIllegalArgument},
    {"NEGATIVE_WATERMARK_DELAY", Family::kIllegalArgument},
    {"ILLEGAL_ARGUMENT", Family::kIllegalArgument},
    {"QUERY_ID_ALREADY_ACTIVE", Family::kIllegalState},
    {"QUERY_NAME_ALREADY_ACTIVE", Family::kIllegalArgument},
    {"STREAMING_OUTPUT_MODE.INVALID", Family::kIllegalArgument},
    {"INSERT_COLUMN_ARITY_MISMATCH*", Family::kAnalysis},
    {"INVALID_RATE_OPTION", Family::kIllegalArgument},
    {"_LEGACY_ERROR_TEMP_2047", Family::kIllegalArgument},
    {"_LEGACY_ERROR_TEMP_2048", Family::kIllegalArgument},
    {"_LEGACY_ERROR_TEMP_3262", Family::kIllegalArgument},
    {"_LEGACY_ERROR_TEMP_2049", Family::kUnsupported},
    {"_LEGACY_ERROR_TEMP_2242", Family::kUnsupported},
    {"USER_RAISED_EXCEPTION", Family::kRuntime},
    {"_LEGACY_ERROR_TEMP_3102", Family::kExtendedAnalysis},
    // What Spark's CheckAnalysis finds carries the plan and with it a class of its own.
    {"UNRESOLVED_COLUMN*", Family::kExtendedAnalysis},
    {"TABLE_OR_VIEW_NOT_FOUND", Family::kExtendedAnalysis},
    {"DATATYPE_MISMATCH*", Family::kExtendedAnalysis},
    {"MISSING_AGGREGATION", Family::kExtendedAnalysis},
    {"MISSING_GROUP_BY", Family::kExtendedAnalysis},
    {"STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", Family::kExtendedAnalysis},
    {"INVALID_ARTIFACT_PATH", Family::kRuntime},
    {"ARTIFACT_ALREADY_EXISTS", Family::kRuntime},
    {"UNSUPPORTED_FEATURE.INTERRUPT_TYPE", Family::kUnsupported},
    {"UNSUPPORTED_FEATURE.THALWEG", Family::kUnsupported},
    {"UNSUPPORTED_TIME_TYPE", Family::kUnsupported},
    {"STREAMING_STATEFUL_OPERATOR*", Family::kRuntime},
    {"STATE_STORE*", Family::kUnsupported},
    {"FAILED_READ_FILE*", Family::kSpark},
    {"OUT_OF_MEMORY*", Family::kSpark},
    {"IO_ERROR", Family::kSpark},
};

bool Fits(std::string_view condition, std::string_view prefix) {
  if (prefix.ends_with('*')) return condition.starts_with(prefix.substr(0, prefix.size() - 1));
  return condition == prefix;
}

bool CastsToTime(const Status& status) {
  for (const auto& [name, value] : status.parameters()) {
    if (name != "targetType") continue;
    return value.find("DATE") != std::string::npos || value.find("TIME") != std::string::npos;
  }
  return false;
}

Family FamilyOf(const Status& status) {
  const std::string_view condition = status.condition();
  if (condition == "CAST_INVALID_INPUT") return CastsToTime(status) ? Family::kDateTime : Family::kNumberFormat;
  for (const Rule& rule : kRules) {
    if (Fits(condition, rule.prefix)) return rule.family;
  }
  if (status.kind() == ErrorKind::kInternal || status.kind() == ErrorKind::kEnvironment) return Family::kSpark;
  const std::string_view state = status.sql_state();
  if (state.starts_with("22") || state.starts_with("21")) return Family::kRuntime;
  if (state.starts_with("XX") || state.starts_with("58") || state.starts_with("53")) return Family::kSpark;
  return Family::kAnalysis;
}

// Conflicts of Delta's commits, by the classes that its Python package knows; empty for other conditions.
std::string_view DeltaConflictClass(std::string_view condition) {
  static constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
      {"DELTA_CONCURRENT_APPEND*", "io.delta.exceptions.ConcurrentAppendException"},
      {"DELTA_CONCURRENT_DELETE_DELETE*", "io.delta.exceptions.ConcurrentDeleteDeleteException"},
      {"DELTA_CONCURRENT_DELETE_READ*", "io.delta.exceptions.ConcurrentDeleteReadException"},
      {"DELTA_CONCURRENT_TRANSACTION", "io.delta.exceptions.ConcurrentTransactionException"},
      {"DELTA_CONCURRENT_WRITE", "io.delta.exceptions.ConcurrentWriteException"},
      {"DELTA_METADATA_CHANGED", "io.delta.exceptions.MetadataChangedException"},
      {"DELTA_PROTOCOL_CHANGED", "io.delta.exceptions.ProtocolChangedException"},
  };
  for (const auto& [prefix, name] : kClasses) {
    if (Fits(condition, prefix)) return name;
  }
  return {};
}

std::vector<std::string> Chain(std::initializer_list<const char*> derived, std::initializer_list<const char*> java) {
  std::vector<std::string> classes(derived.begin(), derived.end());
  classes.insert(classes.end(), java.begin(), java.end());
  classes.insert(classes.end(), {"java.lang.Throwable", "java.lang.Object"});
  return classes;
}

#define TW_RUNTIME_CHAIN "java.lang.RuntimeException", "java.lang.Exception"

}  // namespace

std::vector<std::string> ExceptionClasses(const Status& status) {
  if (const std::string_view conflict = DeltaConflictClass(status.condition()); !conflict.empty()) {
    return Chain({std::string(conflict).c_str(), "io.delta.exceptions.DeltaConcurrentModificationException"},
                 {"java.util.ConcurrentModificationException", TW_RUNTIME_CHAIN});
  }
  switch (FamilyOf(status)) {
    case Family::kParse:
      return Chain({"org.apache.spark.sql.catalyst.parser.ParseException", "org.apache.spark.sql.AnalysisException"},
                   {"java.lang.Exception"});
    case Family::kAnalysis: return Chain({"org.apache.spark.sql.AnalysisException"}, {"java.lang.Exception"});
    case Family::kExtendedAnalysis:
      return Chain({"org.apache.spark.sql.catalyst.ExtendedAnalysisException", "org.apache.spark.sql.AnalysisException"},
                   {"java.lang.Exception"});
    case Family::kInvalidPlan:
      return Chain({"org.apache.spark.sql.connect.common.InvalidPlanInput"}, {TW_RUNTIME_CHAIN});
    case Family::kSqlException:
      return Chain({"org.apache.spark.SparkSQLException"}, {"java.sql.SQLException", "java.lang.Exception"});
    case Family::kArithmetic:
      return Chain({"org.apache.spark.SparkArithmeticException"}, {"java.lang.ArithmeticException", TW_RUNTIME_CHAIN});
    case Family::kNumberFormat:
      return Chain({"org.apache.spark.SparkNumberFormatException"},
                   {"java.lang.NumberFormatException", "java.lang.IllegalArgumentException", TW_RUNTIME_CHAIN});
    case Family::kDateTime:
      return Chain({"org.apache.spark.SparkDateTimeException"}, {"java.time.DateTimeException", TW_RUNTIME_CHAIN});
    case Family::kArrayIndex:
      return Chain({"org.apache.spark.SparkArrayIndexOutOfBoundsException"},
                   {"java.lang.ArrayIndexOutOfBoundsException", "java.lang.IndexOutOfBoundsException", TW_RUNTIME_CHAIN});
    case Family::kIllegalArgument:
      return Chain({"org.apache.spark.SparkIllegalArgumentException"}, {"java.lang.IllegalArgumentException", TW_RUNTIME_CHAIN});
    case Family::kUnsupported:
      return Chain({"org.apache.spark.SparkUnsupportedOperationException"},
                   {"java.lang.UnsupportedOperationException", TW_RUNTIME_CHAIN});
    case Family::kRuntime: return Chain({"org.apache.spark.SparkRuntimeException"}, {TW_RUNTIME_CHAIN});
    case Family::kUpgrade: return Chain({"org.apache.spark.SparkUpgradeException"}, {TW_RUNTIME_CHAIN});
    case Family::kNoSuchElement:
      return Chain({"org.apache.spark.SparkNoSuchElementException"}, {"java.util.NoSuchElementException", TW_RUNTIME_CHAIN});
    case Family::kClassNotFound:
      return Chain({"org.apache.spark.SparkClassNotFoundException"},
                   {"java.lang.ClassNotFoundException", "java.lang.ReflectiveOperationException", "java.lang.Exception"});
    case Family::kStreamingQuery:
      return Chain({"org.apache.spark.sql.streaming.StreamingQueryException"}, {"java.lang.Exception"});
    case Family::kPython: return Chain({"org.apache.spark.api.python.PythonException"}, {TW_RUNTIME_CHAIN});
    case Family::kIllegalState: return Chain({"org.apache.spark.SparkIllegalStateException"}, {"java.lang.IllegalStateException", TW_RUNTIME_CHAIN});
    case Family::kSpark: break;
  }
  return Chain({"org.apache.spark.SparkException"}, {"java.lang.Exception"});
}

}  // namespace thalweg::front
