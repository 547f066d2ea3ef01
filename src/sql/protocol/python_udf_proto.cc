#include "sql/protocol/python_udf_proto.h"

#include <spark/connect/expressions.pb.h>

#include "sql/expr/named_argument.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/type_proto.h"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;

const char* OtherKind(int eval_type) {
  switch (eval_type) {
    case 202: case 252: case 217: case 254: return "aggregate functions in Python (pandas_udf, arrow_udf)";
    case 203: case 253: return "aggregate functions in Python over windows";
    default: return "Python functions of this kind";
  }
}

bool IsScalar(int eval_type) {
  switch (static_cast<PythonEvalType>(eval_type)) {
    case PythonEvalType::kBatched:
    case PythonEvalType::kArrowBatched:
    case PythonEvalType::kScalarPandas:
    case PythonEvalType::kScalarPandasIter:
    case PythonEvalType::kScalarArrow:
    case PythonEvalType::kScalarArrowIter: return true;
  }
  return false;
}

}  // namespace

Result<PythonFunctionPtr> PythonFunctionFromProto(const pb::CommonInlineUserDefinedFunction& message, PlanReader& reader) {
  if (!message.has_python_udf()) {
    return Unsupported("user-defined functions that are not Python's (" + message.function_name() + ")");
  }
  const pb::PythonUDF& udf = message.python_udf();
  if (!IsScalar(udf.eval_type())) {
    return Unsupported(std::string(OtherKind(udf.eval_type())) + " (" + message.function_name() + ", eval type " +
                       std::to_string(udf.eval_type()) + ")");
  }
  auto function = std::make_shared<PythonFunction>();
  function->name = message.function_name();
  function->eval_type = static_cast<PythonEvalType>(udf.eval_type());
  function->command = udf.command();
  function->python_version = udf.python_ver();
  TW_ASSIGN_OR_RETURN(function->return_type, TypeFromProto(udf.output_type()));
  function->deterministic = message.deterministic();
  PythonPlace place = reader.environment().python_place();
  function->python_path = std::move(place.python_path);
  function->files_directory = std::move(place.files_directory);
  return PythonFunctionPtr(std::move(function));
}

Result<ExprPtr> PythonUdfFromProto(const pb::CommonInlineUserDefinedFunction& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PythonFunctionPtr function, PythonFunctionFromProto(message, reader));
  if (message.is_distinct()) return Unsupported("DISTINCT arguments of Python functions");
  ExprList arguments;
  std::vector<std::string> keywords;
  for (const pb::Expression& argument : message.arguments()) {
    TW_ASSIGN_OR_RETURN(ExprPtr read, reader.ReadExpression(argument));
    const auto named = AsNamedArgument(read);
    keywords.push_back(named ? named->first : std::string());
    arguments.push_back(named ? named->second : std::move(read));
  }
  return PythonUdf::Make(std::move(function), std::move(arguments), std::move(keywords));
}

}  // namespace thalweg::sql
