#include "engine/pyworker/unpickler.h"

#include <bit>
#include <cstring>

namespace thalweg::engine {

using Kind = PyValue::Kind;

namespace {

Status Malformed(std::string_view what) { return InternalError("a Python worker's pickle: " + std::string(what)); }

template <typename T>
T ReadLittle(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

double ReadBigDouble(const char* at) {
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | static_cast<unsigned char>(at[i]);
  return std::bit_cast<double>(bits);
}

PyValue Of(Kind kind) {
  PyValue value;
  value.kind = kind;
  return value;
}

PyValue OfInt(int64_t integer) {
  PyValue value;
  value.kind = Kind::kInt;
  value.integer = integer;
  return value;
}

PyValue OfText(Kind kind, std::string_view text) {
  PyValue value;
  value.kind = kind;
  value.bytes = text.data();
  value.size = static_cast<uint32_t>(text.size());
  return value;
}

// Little-endian two's complement.
PyValue OfLong(std::string_view bytes) {
  if (bytes.size() > 8) return OfText(Kind::kBigInt, bytes);
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes.size(); ++i) bits |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  if (!bytes.empty() && bytes.size() < 8 && (bytes.back() & 0x80) != 0) bits |= ~uint64_t{0} << (8 * bytes.size());
  return OfInt(static_cast<int64_t>(bits));
}

}  // namespace

struct Unpickler::State {
  // Containers are kept between pickles: their memory is used again.
  std::vector<std::vector<PyValue>> containers;
  size_t used = 0;
  std::vector<PyValue> stack, memo;
  std::vector<std::unique_ptr<std::string>> names;  // of classes
  const char* at = nullptr;
  const char* end = nullptr;

  PyValue NewContainer(Kind kind) {
    if (used == containers.size()) containers.emplace_back();
    containers[used].clear();
    PyValue value;
    value.kind = kind;
    value.container = static_cast<uint32_t>(used++);
    return value;
  }
  std::vector<PyValue>& Items(const PyValue& value) { return containers[value.container]; }

  Result<std::string_view> Bytes(uint64_t count) {
    if (count > static_cast<uint64_t>(end - at)) return Malformed("it ends early");
    const std::string_view bytes(at, static_cast<size_t>(count));
    at += count;
    return bytes;
  }
  template <typename Length>
  Result<std::string_view> Counted() {
    TW_ASSIGN_OR_RETURN(const std::string_view length, Bytes(sizeof(Length)));
    return Bytes(ReadLittle<Length>(length.data()));
  }
  Result<std::string_view> Line() {
    const void* const found = std::memchr(at, '\n', static_cast<size_t>(end - at));
    if (found == nullptr) return Malformed("a line without an end");
    const char* const stop = static_cast<const char*>(found);
    const std::string_view line(at, static_cast<size_t>(stop - at));
    at = stop + 1;
    return line;
  }
  template <typename Length>
  Status PushCounted(Kind kind) {
    TW_ASSIGN_OR_RETURN(const std::string_view bytes, Counted<Length>());
    stack.push_back(OfText(kind, bytes));
    return Status::OK();
  }
  Result<PyValue> Pop() {
    if (stack.empty()) return Malformed("an empty stack");
    const PyValue value = stack.back();
    stack.pop_back();
    return value;
  }
  /// Where what stands above the last mark begins.
  Result<size_t> Mark() const {
    for (size_t i = stack.size(); i-- > 0;) {
      if (stack[i].kind == Kind::kMark) return i;
    }
    return Malformed("no mark");
  }
  /// What stands above the last mark goes into the container below the mark.
  Status Extend() {
    TW_ASSIGN_OR_RETURN(const size_t mark, Mark());
    if (mark == 0 || !IsContainer(stack[mark - 1])) return Malformed("items without a container");
    std::vector<PyValue>& items = Items(stack[mark - 1]);
    items.insert(items.end(), stack.begin() + static_cast<ptrdiff_t>(mark) + 1, stack.end());
    stack.resize(mark);
    return Status::OK();
  }
  /// The `count` topmost values go into the container below them.
  Status Append(size_t count) {
    if (stack.size() <= count || !IsContainer(stack[stack.size() - 1 - count])) return Malformed("an item without a container");
    std::vector<PyValue>& items = Items(stack[stack.size() - 1 - count]);
    items.insert(items.end(), stack.end() - static_cast<ptrdiff_t>(count), stack.end());
    stack.resize(stack.size() - count);
    return Status::OK();
  }
  Status Gather(Kind kind, size_t from) {
    const PyValue value = NewContainer(kind);
    std::vector<PyValue>& items = Items(value);
    items.assign(stack.begin() + static_cast<ptrdiff_t>(from), stack.end());
    stack.resize(from);
    stack.push_back(value);
    return Status::OK();
  }
  Status GatherTop(Kind kind, size_t count) {
    if (stack.size() < count) return Malformed("an empty stack");
    return Gather(kind, stack.size() - count);
  }
  Status GatherMarked(Kind kind) {
    TW_ASSIGN_OR_RETURN(const size_t mark, Mark());
    stack.erase(stack.begin() + static_cast<ptrdiff_t>(mark));
    return Gather(kind, mark);
  }
  static bool IsContainer(const PyValue& value) {
    return value.kind == Kind::kList || value.kind == Kind::kDict || value.kind == Kind::kSet || value.kind == Kind::kObject ||
           value.kind == Kind::kTuple;
  }
  Status PushClass(std::string_view module, std::string_view name) {
    names.push_back(std::make_unique<std::string>(std::string(module) + " " + std::string(name)));
    stack.push_back(OfText(Kind::kClass, *names.back()));
    return Status::OK();
  }
  Status Reduce();
  Status Memoize(size_t place) {
    if (stack.empty() || place > (size_t{1} << 24)) return Malformed("nothing to memoize");
    if (memo.size() <= place) memo.resize(place + 1);
    memo[place] = stack.back();
    return Status::OK();
  }
  Status Get(size_t place) {
    if (place >= memo.size()) return Malformed("a value that is not in the memo");
    stack.push_back(memo[place]);
    return Status::OK();
  }
  template <typename T>
  Result<size_t> Place() {
    TW_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(sizeof(T)));
    return static_cast<size_t>(ReadLittle<T>(bytes.data()));
  }
  Status Step(char opcode);
  Status StepOnContainers(char opcode);
  Status StepOnObjects(char opcode);
};

Status Unpickler::State::Reduce() {
  TW_ASSIGN_OR_RETURN(const PyValue arguments, Pop());
  TW_ASSIGN_OR_RETURN(const PyValue callee, Pop());
  if (!IsContainer(arguments)) return Malformed("arguments that are no tuple");
  const std::vector<PyValue>& given = Items(arguments);
  if (callee.kind == Kind::kClass && given.size() == 1) {
    const std::string_view name = callee.text();
    if (name == "decimal Decimal" && given[0].kind == Kind::kText) {
      stack.push_back(OfText(Kind::kDecimal, given[0].text()));
      return Status::OK();
    }
    if (name == "builtins bytearray" && given[0].kind == Kind::kBytes) {
      stack.push_back(given[0]);
      return Status::OK();
    }
  }
  const PyValue object = NewContainer(Kind::kObject);
  Items(object) = {callee, arguments};
  stack.push_back(object);
  return Status::OK();
}

Status Unpickler::State::StepOnObjects(char opcode) {
  switch (opcode) {
    case 'c': {  // GLOBAL
      TW_ASSIGN_OR_RETURN(const std::string_view module, Line());
      TW_ASSIGN_OR_RETURN(const std::string_view name, Line());
      return PushClass(module, name);
    }
    case '\x93': {  // STACK_GLOBAL
      TW_ASSIGN_OR_RETURN(const PyValue name, Pop());
      TW_ASSIGN_OR_RETURN(const PyValue module, Pop());
      if (name.kind != Kind::kText || module.kind != Kind::kText) return Malformed("a class without a name");
      return PushClass(module.text(), name.text());
    }
    case 'R': return Reduce();
    case '\x81': return Reduce();  // NEWOBJ
    case '\x92': {                 // NEWOBJ_EX
      TW_RETURN_NOT_OK(Pop().status());
      return Reduce();
    }
    case 'b': return Pop().status();  // BUILD: the state of an object
    case 'a': return Append(1);
    case 's': return Append(2);
    default: return Malformed("the opcode " + std::to_string(static_cast<unsigned char>(opcode)));
  }
}

Status Unpickler::State::StepOnContainers(char opcode) {
  switch (opcode) {
    case '(': stack.push_back(Of(Kind::kMark)); return Status::OK();
    case ']': stack.push_back(NewContainer(Kind::kList)); return Status::OK();
    case '}': stack.push_back(NewContainer(Kind::kDict)); return Status::OK();
    case ')': stack.push_back(NewContainer(Kind::kTuple)); return Status::OK();
    case '\x8f': stack.push_back(NewContainer(Kind::kSet)); return Status::OK();
    case 'e': case 'u': case '\x90': return Extend();
    case 't': return GatherMarked(Kind::kTuple);
    case '\x91': return GatherMarked(Kind::kSet);
    case 'l': return GatherMarked(Kind::kList);
    case 'd': return GatherMarked(Kind::kDict);
    case '\x85': return GatherTop(Kind::kTuple, 1);
    case '\x86': return GatherTop(Kind::kTuple, 2);
    case '\x87': return GatherTop(Kind::kTuple, 3);
    case '0': return Pop().status();
    case '1': {  // POP_MARK
      TW_ASSIGN_OR_RETURN(const size_t mark, Mark());
      stack.resize(mark);
      return Status::OK();
    }
    case '2': {  // DUP
      if (stack.empty()) return Malformed("an empty stack");
      stack.push_back(stack.back());
      return Status::OK();
    }
    default: return StepOnObjects(opcode);
  }
}

Status Unpickler::State::Step(char opcode) {
  switch (opcode) {
    case 'N': stack.push_back(Of(Kind::kNone)); return Status::OK();
    case '\x88': case '\x89': {
      PyValue value = Of(Kind::kBool);
      value.integer = opcode == '\x88' ? 1 : 0;
      stack.push_back(value);
      return Status::OK();
    }
    case 'K': {
      TW_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(1));
      stack.push_back(OfInt(static_cast<unsigned char>(bytes[0])));
      return Status::OK();
    }
    case 'M': {
      TW_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(2));
      stack.push_back(OfInt(ReadLittle<uint16_t>(bytes.data())));
      return Status::OK();
    }
    case 'J': {
      TW_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(4));
      stack.push_back(OfInt(ReadLittle<int32_t>(bytes.data())));
      return Status::OK();
    }
    case '\x8a': case '\x8b': {
      std::string_view bytes;
      if (opcode == '\x8a') {
        TW_ASSIGN_OR_RETURN(bytes, Counted<uint8_t>());
      } else {
        TW_ASSIGN_OR_RETURN(bytes, Counted<uint32_t>());
      }
      stack.push_back(OfLong(bytes));
      return Status::OK();
    }
    case 'G': {
      TW_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(8));
      PyValue value = Of(Kind::kFloat);
      value.real = ReadBigDouble(bytes.data());
      stack.push_back(value);
      return Status::OK();
    }
    case '\x8c': return PushCounted<uint8_t>(Kind::kText);
    case 'X': return PushCounted<uint32_t>(Kind::kText);
    case '\x8d': return PushCounted<uint64_t>(Kind::kText);
    case 'C': return PushCounted<uint8_t>(Kind::kBytes);
    case 'B': return PushCounted<uint32_t>(Kind::kBytes);
    case '\x8e': case '\x96': return PushCounted<uint64_t>(Kind::kBytes);
    case '\x94': return Memoize(memo.size());
    case 'q': {
      TW_ASSIGN_OR_RETURN(const size_t place, Place<uint8_t>());
      return Memoize(place);
    }
    case 'r': {
      TW_ASSIGN_OR_RETURN(const size_t place, Place<uint32_t>());
      return Memoize(place);
    }
    case 'h': {
      TW_ASSIGN_OR_RETURN(const size_t place, Place<uint8_t>());
      return Get(place);
    }
    case 'j': {
      TW_ASSIGN_OR_RETURN(const size_t place, Place<uint32_t>());
      return Get(place);
    }
    case '\x80': return Bytes(1).status();
    case '\x95': return Bytes(8).status();
    default: return StepOnContainers(opcode);
  }
}

Unpickler::Unpickler() : state_(std::make_unique<State>()) {}
Unpickler::~Unpickler() = default;
Unpickler::Unpickler(Unpickler&&) noexcept = default;

Result<PyValue> Unpickler::Load(std::string_view bytes) {
  State& state = *state_;
  state.used = 0;
  state.stack.clear();
  state.memo.clear();
  state.names.clear();
  state.at = bytes.data();
  state.end = bytes.data() + bytes.size();
  while (state.at != state.end) {
    const char opcode = *state.at++;
    if (opcode == '.') {
      if (state.stack.size() != 1) return Malformed("it ends with a full stack");
      return state.stack.back();
    }
    TW_RETURN_NOT_OK(state.Step(opcode));
  }
  return Malformed("it ends early");
}

std::span<const PyValue> Unpickler::items(const PyValue& container) const {
  if (!State::IsContainer(container)) return {};
  return state_->containers[container.container];
}

}  // namespace thalweg::engine
