#pragma once

// The compiled form of expressions: private to sql/expr. Registers hold columns; instructions stand in blocks. The main block runs
// over all selected rows; a lazy instruction runs further blocks over the rows it selects. A register of a block is valid
// for the rows of that block, so the blocks inside may read it, never the other way round.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sql/expr/evaluator.h"
#include "sql/expr/kernels.h"

namespace thalweg::sql {

enum class Op : uint8_t {
  kCall,      ///< a kernel
  kCast,
  kAnd,       ///< strict: both sides computed
  kOr,
  kLazyAnd,   ///< the right side in a block
  kLazyOr,
  kCase,      ///< condition, value, condition, value, ..., else
  kCoalesce,
  kGuarded,   ///< an argument of a call, wanted only where the arguments evaluated before it are not null
};

struct Block;

struct Instruction {
  Op op = Op::kCall;
  int out = 0;
  std::vector<int> arguments;               ///< registers; for lazy ones only what is computed before
  std::shared_ptr<const BoundScalar> bound; ///< kCall
  DataType type;
  EvalMode mode = EvalMode::kAnsi;          ///< kCast
  Origin origin;
  std::vector<Block> blocks;                ///< lazy ones; each yields the register `result`
};

struct Block {
  std::vector<Instruction> instructions;
  int result = 0;
};

struct Program::Impl {
  std::shared_ptr<const EvalConfig> config;
  std::vector<std::pair<int, int>> inputs;           ///< (column of the chunk, register)
  std::vector<std::pair<ColumnPtr, int>> constants;  ///< constant column of one row, register
  Block main;
  std::vector<int> results;
  std::vector<DataType> types;
  int registers = 0;
};

/// Runs the blocks of one program over one chunk.
class ProgramRun {
 public:
  ProgramRun(const Program::Impl& program, const data::Chunk& chunk, EvalContext& context);
  Status RunBlock(const Block& block, const RowSet& rows);
  const ColumnPtr& result(int register_index) const { return registers_[static_cast<size_t>(register_index)]; }

 private:
  Status Run(const Instruction& instruction, const RowSet& rows);
  Result<ColumnPtr> RunCall(const Instruction& instruction, const RowSet& rows);
  Result<ColumnPtr> RunCast(const Instruction& instruction, const RowSet& rows);
  Result<ColumnPtr> RunLogic(const Instruction& instruction, const RowSet& rows);
  Result<ColumnPtr> RunCase(const Instruction& instruction, const RowSet& rows);
  Result<ColumnPtr> RunCoalesce(const Instruction& instruction, const RowSet& rows);
  Result<ColumnPtr> RunGuarded(const Instruction& instruction, const RowSet& rows);
  /// The register as kernels want it: flat (children too) or constant.
  const ColumnPtr& Argument(int register_index);

  const Program::Impl& program_;
  EvalContext& context_;
  int64_t length_;
  std::vector<ColumnPtr> registers_;
};

/// a AND b, a OR b over boolean columns of one length.
ColumnPtr CombineLogic(const ColumnPtr& a, const ColumnPtr& b, bool is_and);
/// Splits `rows` by a boolean column: true, and the rest (false or null). Either may be null pointer.
void SplitByTruth(const Column& condition, const RowSet& rows, std::vector<int32_t>* yes, std::vector<int32_t>* rest);

}  // namespace thalweg::sql
