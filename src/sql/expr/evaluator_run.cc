// Programs over chunks.

#include <algorithm>
#include <cstring>

#include "base/invariant.h"
#include "sql/expr/cast.h"
#include "sql/expr/program.h"

namespace thalweg::sql {
namespace {

using data::BitmapWords;
using data::Encoding;
using data::LowBits;

/// Validity of all arguments together.
struct JointValidity {
  bool all_null = false;            ///< some argument is null in every row
  const uint64_t* words = nullptr;  ///< null pointer: no nulls
  data::BufferPtr owner;
  int64_t null_count = 0;
};

JointValidity JoinValidity(std::span<const ColumnPtr> arguments, int64_t length) {
  JointValidity joint;
  std::shared_ptr<data::Buffer> merged;
  for (const ColumnPtr& argument : arguments) {
    if (!argument->has_nulls()) continue;
    if (argument->null_count() == length) {
      joint.all_null = true;
      return joint;
    }
    if (joint.words == nullptr) {
      joint.owner = argument->parts().validity;
      joint.words = argument->validity_words();
      joint.null_count = argument->null_count();
      continue;
    }
    const int64_t words = BitmapWords(length);
    if (merged == nullptr) {
      merged = data::Buffer::Allocate(data::BitmapBytes(length));
      std::memcpy(merged->mutable_data(), joint.words, static_cast<size_t>(words) * 8);
    }
    auto* target = reinterpret_cast<uint64_t*>(merged->mutable_data());
    for (int64_t i = 0; i < words; ++i) target[i] &= argument->validity_words()[i];
    joint.words = target;
    joint.owner = merged;
  }
  if (merged != nullptr) joint.null_count = length - data::CountBits(joint.words, length);
  return joint;
}

/// The result with the nulls of the arguments.
ColumnPtr Propagate(ColumnPtr column, const JointValidity& joint) {
  if (joint.words == nullptr) return column;
  if (!column->has_nulls() && column->encoding() == Encoding::kFlat && column->physical() != PhysicalType::kNull) {
    // Kernels of this room leave text slots of null rows empty, so no copy is needed.
    Column::Parts parts = column->parts();
    parts.validity = joint.owner;
    parts.null_count = joint.null_count;
    return Column::Make(std::move(parts));
  }
  return AndValidity(column, joint.words);
}

/// 64 booleans as bits.
uint64_t PackWord(const uint8_t* bytes, int64_t count) {
  uint64_t word = 0;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, bytes + i, 8);
    word |= ((eight * 0x0102040810204080ULL) >> 56) << i;
  }
  for (; i < count; ++i) word |= static_cast<uint64_t>(bytes[i]) << i;
  return word;
}

ColumnPtr AsFlatBoolean(const ColumnPtr& column) {
  if (column->physical() == PhysicalType::kNull) {
    return data::Flatten(data::Column::Nulls(DataType::Boolean(), column->length()));
  }
  return data::Flatten(column);
}

/// True or false when every row is that value.
std::optional<bool> ConstantTruth(const Column& column) {
  if (!column.is_constant() || column.has_nulls() || column.physical() != PhysicalType::kBool) return {};
  return column.values<uint8_t>()[0] != 0;
}

}  // namespace

ColumnPtr CombineLogic(const ColumnPtr& left, const ColumnPtr& right, bool is_and) {
  for (const auto& [one, other] : {std::pair{left, right}, std::pair{right, left}}) {
    if (const auto truth = ConstantTruth(*one)) return *truth == is_and ? other : one;
  }
  const int64_t length = left->length();
  const ColumnPtr a = AsFlatBoolean(left);
  const ColumnPtr b = AsFlatBoolean(right);
  const uint8_t* x = a->values<uint8_t>().data();
  const uint8_t* y = b->values<uint8_t>().data();
  auto buffer = data::Buffer::Allocate(length);
  uint8_t* out = buffer->mutable_data();
  if (is_and) {
    for (int64_t i = 0; i < length; ++i) out[i] = x[i] & y[i];
  } else {
    for (int64_t i = 0; i < length; ++i) out[i] = x[i] | y[i];
  }
  Column::Parts parts;
  parts.type = DataType::Boolean();
  parts.length = length;
  parts.values = std::move(buffer);
  if (a->has_nulls() || b->has_nulls()) {
    auto bitmap = data::Buffer::Allocate(data::BitmapBytes(length));
    auto* words = reinterpret_cast<uint64_t*>(bitmap->mutable_data());
    for (int64_t i = 0; i < BitmapWords(length); ++i) {
      const int64_t count = std::min<int64_t>(64, length - i * 64);
      const uint64_t all = LowBits(count);
      const uint64_t av = a->has_nulls() ? a->validity_words()[i] : all;
      const uint64_t bv = b->has_nulls() ? b->validity_words()[i] : all;
      // A side that decides alone (false for AND, true for OR) makes the row valid whatever the other is.
      const uint64_t flip = is_and ? ~uint64_t{0} : 0;
      const uint64_t a_decides = av & (PackWord(x + i * 64, count) ^ flip);
      const uint64_t b_decides = bv & (PackWord(y + i * 64, count) ^ flip);
      words[i] = ((av & bv) | a_decides | b_decides) & all;
    }
    // A null slot may hold any value; what the deciding side says must win over it.
    for (int64_t i = 0; i < length; ++i) {
      const bool a_null = a->IsNull(i);
      const bool b_null = b->IsNull(i);
      if (a_null != b_null) out[i] = a_null ? y[i] : x[i];
    }
    parts.null_count = length - data::CountBits(words, length);
    parts.validity = std::move(bitmap);
  }
  return Column::Make(std::move(parts));
}

void SplitByTruth(const Column& condition, const RowSet& rows, std::vector<int32_t>* yes, std::vector<int32_t>* rest) {
  const size_t count = static_cast<size_t>(rows.count());
  const bool constant = condition.is_constant();
  if (constant || condition.physical() == PhysicalType::kNull || condition.null_count() == condition.length()) {
    const auto truth = ConstantTruth(condition);
    std::vector<int32_t>* target = truth.value_or(false) ? yes : rest;
    if (target == nullptr) return;
    target->reserve(count);
    rows.ForEach([&](int64_t row) { target->push_back(static_cast<int32_t>(row)); });
    return;
  }
  const uint8_t* values = condition.values<uint8_t>().data();
  const uint64_t* validity = condition.validity_words();
  std::vector<int32_t> sink(1);
  size_t yes_count = 0;
  size_t rest_count = 0;
  if (yes != nullptr) yes->resize(count + 1);
  if (rest != nullptr) rest->resize(count + 1);
  const auto run = [&](auto is_true) {
    if (yes != nullptr && rest == nullptr) {
      int32_t* out = yes->data();
      rows.ForEach([&](int64_t row) {
        out[yes_count] = static_cast<int32_t>(row);
        yes_count += is_true(row);
      });
      return;
    }
    int32_t* out_yes = yes != nullptr ? yes->data() : nullptr;
    int32_t* out_rest = rest->data();
    rows.ForEach([&](int64_t row) {
      const bool truth = is_true(row);
      if (out_yes != nullptr) out_yes[yes_count] = static_cast<int32_t>(row);
      out_rest[rest_count] = static_cast<int32_t>(row);
      yes_count += truth;
      rest_count += !truth;
    });
  };
  if (validity == nullptr) {
    run([&](int64_t row) { return values[row] != 0; });
  } else {
    run([&](int64_t row) { return values[row] != 0 && BitAt(validity, row); });
  }
  if (yes != nullptr) yes->resize(yes_count);
  if (rest != nullptr) rest->resize(rest_count);
}

namespace {

template <typename Word>
void ScatterPiece(const Piece& piece, Word* out, NullMarks* nulls) {
  const Column& column = *piece.column;
  const auto* values = reinterpret_cast<const Word*>(column.parts().values->data());
  const bool constant = column.is_constant();
  const bool has_nulls = column.has_nulls();
  for (const int32_t row : piece.rows) {
    if (has_nulls && column.IsNull(row)) {
      nulls->SetNull(row);
    } else {
      out[row] = values[constant ? 0 : row];
    }
  }
}

ColumnPtr MergeFixed(const DataType& type, int64_t length, const std::vector<Piece>& pieces) {
  const int width = type.byte_width();
  auto buffer = data::Buffer::AllocateZeroed(length * width);
  NullMarks nulls(length);
  std::vector<uint8_t> covered(static_cast<size_t>(length), 0);
  Column::Parts parts;
  data::VisitWidth(width, [&](auto zero) {
    using Word = decltype(zero);
    auto* out = reinterpret_cast<Word*>(buffer->mutable_data());
    for (const Piece& piece : pieces) {
      for (const int32_t row : piece.rows) covered[static_cast<size_t>(row)] = 1;
      ScatterPiece<Word>(piece, out, &nulls);
    }
  });
  for (int64_t row = 0; row < length; ++row) {
    if (!covered[static_cast<size_t>(row)]) nulls.SetNull(row);
  }
  if (type.physical() == PhysicalType::kText) {
    for (const Piece& piece : pieces) {
      for (const auto& text : piece.column->parts().text) parts.text.push_back(text);
    }
    std::sort(parts.text.begin(), parts.text.end());
    parts.text.erase(std::unique(parts.text.begin(), parts.text.end()), parts.text.end());
  }
  parts.type = type;
  parts.length = length;
  parts.values = std::move(buffer);
  nulls.Finish(&parts);
  return Column::Make(std::move(parts));
}

ColumnPtr MergeNested(const DataType& type, int64_t length, const std::vector<Piece>& pieces) {
  std::vector<int32_t> source(static_cast<size_t>(length), -1);
  std::vector<ColumnPtr> columns;
  int32_t base = 0;
  for (const Piece& piece : pieces) {
    columns.push_back(data::WithType(data::Flatten(piece.column), type));
    for (const int32_t row : piece.rows) source[static_cast<size_t>(row)] = base + row;
    base += static_cast<int32_t>(piece.column->length());
  }
  if (columns.empty()) return Column::Nulls(type, length);
  return data::Take(data::Concat(columns), source);
}

}  // namespace

ColumnPtr MergePieces(const DataType& type, int64_t length, const std::vector<Piece>& pieces) {
  std::vector<Piece> used;
  for (const Piece& piece : pieces) {
    if (!piece.rows.empty()) used.push_back(piece);
  }
  if (type.physical() == PhysicalType::kNull || used.empty()) return Column::Nulls(type, length);
  if (type.IsNested()) return MergeNested(type, length, used);
  return MergeFixed(type, length, used);
}

ProgramRun::ProgramRun(const Program::Impl& program, const data::Chunk& chunk, EvalContext& context)
    : program_(program), context_(context), length_(chunk.physical_rows()) {
  registers_.resize(static_cast<size_t>(program.registers));
  for (const auto& [column, reg] : program.inputs) registers_[static_cast<size_t>(reg)] = chunk.column(column);
  for (const auto& [column, reg] : program.constants) {
    registers_[static_cast<size_t>(reg)] = ConstantOfLength(column, length_);
  }
}

const ColumnPtr& ProgramRun::Argument(int register_index) {
  ColumnPtr& column = registers_[static_cast<size_t>(register_index)];
  if (column->encoding() == Encoding::kDictionary ||
      (column->type().IsNested() && column->encoding() == Encoding::kFlat)) {
    column = data::Flatten(column);
  }
  return column;
}

Status ProgramRun::RunBlock(const Block& block, const RowSet& rows) {
  for (const Instruction& instruction : block.instructions) TW_RETURN_NOT_OK(Run(instruction, rows));
  return {};
}

Status ProgramRun::Run(const Instruction& instruction, const RowSet& rows) {
  const auto compute = [&]() -> Result<ColumnPtr> {
    switch (instruction.op) {
      case Op::kCall: return RunCall(instruction, rows);
      case Op::kCast: return RunCast(instruction, rows);
      case Op::kAnd:
      case Op::kOr:
      case Op::kLazyAnd:
      case Op::kLazyOr: return RunLogic(instruction, rows);
      case Op::kCase: return RunCase(instruction, rows);
      case Op::kCoalesce: return RunCoalesce(instruction, rows);
      case Op::kGuarded: return RunGuarded(instruction, rows);
    }
    return InternalError("unknown instruction");
  };
  auto result = compute();
  if (!result.ok()) {
    return instruction.origin == nullptr ? result.status() : result.status().WithQueryContext(*instruction.origin);
  }
  TW_DCHECK((*result)->length() == length_);
  registers_[static_cast<size_t>(instruction.out)] = std::move(*result);
  return {};
}

Result<ColumnPtr> ProgramRun::RunCall(const Instruction& instruction, const RowSet& rows) {
  const BoundScalar& bound = *instruction.bound;
  std::vector<ColumnPtr> arguments;
  arguments.reserve(instruction.arguments.size());
  bool constant = bound.function->deterministic;
  for (const int argument : instruction.arguments) {
    arguments.push_back(Argument(argument));
    constant = constant && arguments.back()->is_constant();
  }
  if (rows.count() == 0) return Column::Nulls(instruction.type, length_);
  RowSet own = rows;
  if (constant) {
    own = RowSet{1, nullptr};
    for (auto& argument : arguments) argument = ConstantOfLength(argument, 1);
  }
  KernelInput input{arguments, own, nullptr};
  ColumnPtr result;
  if (bound.function->nulls == NullPolicy::kPropagate) {
    const JointValidity joint = JoinValidity(arguments, own.length);
    if (joint.all_null) return Column::Nulls(instruction.type, length_);
    input.validity = joint.words;
    TW_ASSIGN_OR_RETURN(result, bound.kernel(bound, input, context_));
    result = Propagate(std::move(result), joint);
  } else {
    TW_ASSIGN_OR_RETURN(result, bound.kernel(bound, input, context_));
  }
  if (!constant) return result;
  return Column::Constant(instruction.type, result->GetValue(0), length_);
}

Result<ColumnPtr> ProgramRun::RunCast(const Instruction& instruction, const RowSet& rows) {
  ColumnPtr argument = Argument(instruction.arguments[0]);
  if (rows.count() == 0 || argument->null_count() == length_ || argument->physical() == PhysicalType::kNull) {
    return Column::Nulls(instruction.type, length_);
  }
  if (argument->is_constant()) {
    argument = ConstantOfLength(argument, 1);
    TW_ASSIGN_OR_RETURN(const ColumnPtr one, CastColumn(argument, instruction.type, instruction.mode, RowSet{1, nullptr},
                                                        nullptr, context_));
    return Column::Constant(instruction.type, one->GetValue(0), length_);
  }
  const JointValidity joint = JoinValidity(std::span(&argument, 1), length_);
  TW_ASSIGN_OR_RETURN(ColumnPtr result,
                      CastColumn(argument, instruction.type, instruction.mode, rows, joint.words, context_));
  return Propagate(std::move(result), joint);
}

Result<ColumnPtr> ProgramRun::RunLogic(const Instruction& instruction, const RowSet& rows) {
  const bool is_and = instruction.op == Op::kAnd || instruction.op == Op::kLazyAnd;
  const ColumnPtr left = Argument(instruction.arguments[0]);
  if (instruction.blocks.empty()) return CombineLogic(left, Argument(instruction.arguments[1]), is_and);
  // The right side is asked where the left one does not decide: not false for AND, not true for OR.
  std::vector<int32_t> open;
  if (left->is_constant()) {
    const auto truth = ConstantTruth(*left);
    if (truth.has_value() && *truth != is_and) return left;
    TW_RETURN_NOT_OK(RunBlock(instruction.blocks[0], rows));
    return CombineLogic(left, Argument(instruction.blocks[0].result), is_and);
  }
  if (is_and) {
    const uint8_t* values = left->values<uint8_t>().data();
    rows.ForEach([&](int64_t row) {
      if (values[row] != 0 || left->IsNull(row)) open.push_back(static_cast<int32_t>(row));
    });
  } else {
    SplitByTruth(*left, rows, nullptr, &open);
  }
  if (open.empty()) return left;
  const bool all = static_cast<int64_t>(open.size()) == rows.count();
  TW_RETURN_NOT_OK(RunBlock(instruction.blocks[0], all ? rows : RowSet{rows.length, &open}));
  const ColumnPtr right = Argument(instruction.blocks[0].result);
  return CombineLogic(left, right, is_and);
}

Result<ColumnPtr> ProgramRun::RunCase(const Instruction& instruction, const RowSet& rows) {
  const size_t count = instruction.blocks.size();
  const bool has_else = count % 2 == 0;
  std::vector<Piece> pieces;
  std::vector<std::vector<int32_t>> kept;  // row sets that blocks refer to
  kept.reserve(count + 1);
  RowSet left = rows;
  int condition = instruction.arguments[0];
  for (size_t i = 0; i < count && left.count() > 0; i += 2) {
    std::vector<int32_t> yes;
    std::vector<int32_t> rest;
    SplitByTruth(*Argument(condition), left, &yes, &rest);
    if (!yes.empty()) {
      const bool all = static_cast<int64_t>(yes.size()) == length_;
      TW_RETURN_NOT_OK(RunBlock(instruction.blocks[i], all ? RowSet{length_, nullptr} : RowSet{length_, &yes}));
      const ColumnPtr value = registers_[static_cast<size_t>(instruction.blocks[i].result)];
      if (rest.empty() && pieces.empty()) return data::WithType(value, instruction.type);
      pieces.push_back({Argument(instruction.blocks[i].result), std::move(yes)});
    }
    kept.push_back(std::move(rest));
    left = RowSet{length_, &kept.back()};
    if (i + 2 < count && left.count() > 0) {
      TW_RETURN_NOT_OK(RunBlock(instruction.blocks[i + 1], left));
      condition = instruction.blocks[i + 1].result;
    }
  }
  if (has_else && left.count() > 0) {
    const Block& block = instruction.blocks[count - 1];
    TW_RETURN_NOT_OK(RunBlock(block, left));
    const ColumnPtr value = registers_[static_cast<size_t>(block.result)];
    if (pieces.empty()) return data::WithType(value, instruction.type);
    std::vector<int32_t> all;
    left.ForEach([&](int64_t row) { all.push_back(static_cast<int32_t>(row)); });
    pieces.push_back({Argument(block.result), std::move(all)});
  }
  return MergePieces(instruction.type, length_, pieces);
}

Result<ColumnPtr> ProgramRun::RunCoalesce(const Instruction& instruction, const RowSet& rows) {
  std::vector<Piece> pieces;
  std::vector<std::vector<int32_t>> kept;
  kept.reserve(instruction.blocks.size() + 1);
  RowSet left = rows;
  ColumnPtr value = Argument(instruction.arguments[0]);
  for (size_t i = 0;; ++i) {
    std::vector<int32_t> found;
    std::vector<int32_t> rest;
    left.ForEach([&](int64_t row) {
      (value->IsNull(row) ? rest : found).push_back(static_cast<int32_t>(row));
    });
    if (pieces.empty() && rest.empty()) return data::WithType(value, instruction.type);
    pieces.push_back({value, std::move(found)});
    if (rest.empty() || i == instruction.blocks.size()) break;
    kept.push_back(std::move(rest));
    left = RowSet{length_, &kept.back()};
    TW_RETURN_NOT_OK(RunBlock(instruction.blocks[i], left));
    value = Argument(instruction.blocks[i].result);
  }
  return MergePieces(instruction.type, length_, pieces);
}

/// Errors of rows that nobody asks for are rare: all rows are computed at once, and only after an error those that are asked for.
Result<ColumnPtr> ProgramRun::RunGuarded(const Instruction& instruction, const RowSet& rows) {
  const Block& block = instruction.blocks[0];
  const Status all = RunBlock(block, rows);
  if (all.ok()) return registers_[static_cast<size_t>(block.result)];
  std::vector<ColumnPtr> before;
  for (const int argument : instruction.arguments) before.push_back(Argument(argument));
  const JointValidity joint = JoinValidity(before, length_);
  if (joint.all_null) return Column::Nulls(instruction.type, length_);
  if (joint.words == nullptr) return all;
  std::vector<int32_t> open;
  rows.ForEach([&](int64_t row) {
    if (BitAt(joint.words, row)) open.push_back(static_cast<int32_t>(row));
  });
  if (open.empty()) return Column::Nulls(instruction.type, length_);
  TW_RETURN_NOT_OK(RunBlock(block, RowSet{length_, &open}));
  return registers_[static_cast<size_t>(block.result)];
}

}  // namespace thalweg::sql
