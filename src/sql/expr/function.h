#pragma once

// Contract: what a built-in function is. One file per function (sql/functions/<family>/<name>.cc), one line of registration.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"
#include "sql/expr/eval_context.h"
#include "sql/expr/expression.h"

namespace thalweg::sql {

/// The rows that a kernel has to compute, among `length` physical rows.
struct RowSet {
  int64_t length = 0;                      ///< rows of every argument and of the result
  const std::vector<int32_t>* rows = nullptr;  ///< ascending, each once; null: all rows [0, length)
  int64_t count() const { return rows ? static_cast<int64_t>(rows->size()) : length; }
  template <typename F>
  void ForEach(F&& f) const {
    if (rows) {
      for (const int32_t row : *rows) f(static_cast<int64_t>(row));
    } else {
      for (int64_t row = 0; row < length; ++row) f(row);
    }
  }
};

enum class NullPolicy : uint8_t {
  kPropagate,  ///< null in, null out: the evaluator sets the validity of the result; the kernel may add nulls
  kCustom,     ///< the kernel sees nulls and sets validity
};

/// One evaluation of a call over a chunk.
struct KernelInput {
  std::span<const data::ColumnPtr> arguments;  ///< flat or constant, arguments of lazy functions excepted
  RowSet rows;                ///< rows outside may be left with any (initialised) value
  const uint64_t* validity;   ///< kPropagate: rows where every argument is not null (null pointer = all); only those can raise errors
};

struct BoundScalar;

/// Computes a column of rows.length rows. Rows outside of `rows`, and null rows, must never raise an error.
using ScalarKernel = Result<data::ColumnPtr> (*)(const BoundScalar& call, const KernelInput& input, EvalContext& context);

/// Function-specific data computed when binding (a compiled pattern, a target type, window sizes).
struct BoundData {
  virtual ~BoundData() = default;
};

/// A function applied to argument types: what a Call node holds. Immutable.
struct BindContext;
struct BoundScalar {
  const ScalarFunction* function = nullptr;
  DataType type;                 ///< of the result
  bool nullable = true;
  EvalMode mode = EvalMode::kAnsi;
  ScalarKernel kernel = nullptr;  ///< chosen by physical types when binding; null for lazy special forms
  /// A function of `function`, `mode`, the argument types and the literal arguments alone: calls that are equal but for
  /// `data` are the same call.
  std::shared_ptr<const BoundData> data;
  /// When set, the evaluator compiles this expression over the current arguments instead of calling `kernel`; the call keeps
  /// its own name and text (nvl2, nullif, between: Spark's RuntimeReplaceable).
  Result<ExprPtr> (*expand)(const BoundScalar& call, const ExprList& arguments, const BindContext& context) = nullptr;
};

/// What a binder may ask.
struct BindContext {
  const EvalConfig& config;
};

/// The result of binding: arguments may have got casts.
struct BoundCall {
  std::shared_ptr<const BoundScalar> bound;
  ExprList arguments;
  /// When set, the call is replaced by this expression instead (nvl2, window's struct, between, ...).
  ExprPtr replacement;
};

/// Checks number and types of arguments, coerces them, chooses kernel and result type. Arguments are resolved.
/// Errors: WRONG_NUM_ARGS.*, DATATYPE_MISMATCH.*.
using Binder = Result<BoundCall> (*)(const ScalarFunction& function, ExprList arguments, const BindContext& context);

struct FunctionExample {
  std::string_view sql;
  std::string_view result;
};

enum class Laziness : uint8_t { kEager, kLazy };  ///< kLazy: the evaluator knows it (case, and, or, coalesce, if, in, try)

/// Declared once; registry, reference page and example test follow.
struct ScalarFunction {
  std::string_view name;
  std::vector<std::string_view> aliases = {};
  /// "(left STRING, right STRING) -> INT"; with `bind` null the generic binder reads it: implicit casts to the named types;
  /// ANY takes every type, T is one type for all arguments that say T, "..." repeats the last, "[...]" is optional.
  std::string_view signature;
  std::string_view since = "1.0.0";
  std::string_view doc = "";
  FunctionExample example = {};
  NullPolicy nulls = NullPolicy::kPropagate;
  ScalarKernel evaluate = nullptr;  ///< used by the generic binder
  Binder bind = nullptr;
  bool deterministic = true;
  bool may_raise = true;            ///< false: never an error, and cheap; lazy forms may compute it on rows they do not select
  Laziness laziness = Laziness::kEager;
  bool batch_time = false;          ///< current_timestamp and kin: reads the epoch, never folded
  bool internal = false;            ///< reachable only through Connect's is_internal
  /// SQL text of a call for names and plans; null: name(arg, arg). Operators print infix.
  std::string (*sql)(const Call& call, bool plan_text) = nullptr;
};

// --- aggregates ---

/// One column of Spark's aggregation buffer: this is what state files hold, so names, types and order are Spark's.
struct BufferField {
  std::string name;
  DataType type;
  bool nullable = true;
};

/// Vectorised accumulation over groups. A group's accumulator is `size` bytes at an 8-byte aligned address.
/// All functions run on one thread per table. Errors (overflow) are reported as Status.
struct AggregateKernels {
  int size = 0;
  /// Fills a new accumulator; must be possible for zeroed memory too cheaply (memory comes zeroed).
  void (*init)(const BoundAggregate& call, uint8_t* accumulator) = nullptr;
  /// Adds input rows: accumulator of logical row i is accumulators[i]; arguments are dense, flat or constant; `rows` of them.
  Status (*update)(const BoundAggregate& call, std::span<const data::ColumnPtr> arguments, int64_t rows,
                   uint8_t* const* accumulators, EvalContext& context) = nullptr;
  /// Adds partial buffers (columns as BufferFields).
  Status (*merge)(const BoundAggregate& call, std::span<const data::ColumnPtr> buffers, int64_t rows,
                  uint8_t* const* accumulators, EvalContext& context) = nullptr;
  /// Writes the buffers of groups as columns (Spark's form).
  Status (*export_buffers)(const BoundAggregate& call, std::span<uint8_t* const> accumulators,
                           std::vector<data::ColumnPtr>* out) = nullptr;
  /// Replaces accumulators (already initialised) by what buffers say.
  Status (*import_buffers)(const BoundAggregate& call, std::span<const data::ColumnPtr> buffers, int64_t rows,
                           uint8_t* const* accumulators) = nullptr;
  /// Final values.
  Result<data::ColumnPtr> (*finish)(const BoundAggregate& call, std::span<uint8_t* const> accumulators,
                                    EvalContext& context) = nullptr;
  /// Frees what an accumulator owns beyond its bytes; null when it owns nothing.
  void (*destroy)(const BoundAggregate& call, uint8_t* accumulator) = nullptr;
  /// Bytes owned beyond `size`, for memory accounting; null when none.
  int64_t (*owned_bytes)(const BoundAggregate& call, const uint8_t* accumulator) = nullptr;
};

struct BoundAggregate {
  const AggregateFunction* function = nullptr;
  DataType type;
  bool nullable = true;
  EvalMode mode = EvalMode::kAnsi;
  std::vector<DataType> argument_types;
  std::vector<BufferField> buffer;
  const AggregateKernels* kernels = nullptr;
  std::shared_ptr<const BoundData> data;
};

struct BoundAggregateCall {
  std::shared_ptr<const BoundAggregate> bound;
  ExprList arguments;
  ExprPtr replacement;  ///< count_if, avg of decimals as Spark rewrites them, ...
};
using AggregateBinder = Result<BoundAggregateCall> (*)(const AggregateFunction& function, ExprList arguments,
                                                       bool distinct, const BindContext& context);

struct AggregateFunction {
  std::string_view name;
  std::vector<std::string_view> aliases = {};
  std::string_view signature;
  std::string_view since = "1.0.0";
  std::string_view doc = "";
  FunctionExample example = {};
  AggregateBinder bind = nullptr;
  bool ignores_order = true;
  bool spark_buffer = true;                ///< false: its buffer is not Spark's, so that it cannot be the state of a stream
};

/// Functions by name. Names are case-insensitive. Thread: immutable after construction.
class FunctionRegistry {
 public:
  /// Lists come from sql/functions/registry.cc.
  FunctionRegistry(std::vector<const ScalarFunction*> scalars, std::vector<const AggregateFunction*> aggregates);
  const ScalarFunction* FindScalar(std::string_view name) const;
  const AggregateFunction* FindAggregate(std::string_view name) const;
  /// Names close to this one, for UNRESOLVED_ROUTINE.
  std::vector<std::string> Similar(std::string_view name, size_t count) const;
  std::vector<std::string> Names() const;
  const std::vector<const ScalarFunction*>& scalars() const { return scalars_; }
  const std::vector<const AggregateFunction*>& aggregates() const { return aggregates_; }

 private:
  std::vector<const ScalarFunction*> scalars_;
  std::vector<const AggregateFunction*> aggregates_;
  struct Index;
  std::shared_ptr<const Index> index_;
};

/// Binds a call: the function's own binder or the generic one. Returns a Call, or the replacement. Arguments are resolved.
Result<ExprPtr> BindScalar(const ScalarFunction& function, ExprList arguments, const BindContext& context);
Result<ExprPtr> BindAggregate(const AggregateFunction& function, ExprList arguments, bool distinct, ExprPtr filter,
                              const BindContext& context);

}  // namespace thalweg::sql
