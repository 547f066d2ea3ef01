#include "engine/pyworker/unpickler.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/pyworker/python_results.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;
using Kind = PyValue::Kind;

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

// pickle.dumps([None, True, 7, 300, -5, 2**40, -2**70, 1.5, "t\u00e4", b"ab", bytearray(b"c"), Decimal("1.25"), (1,), (1, 2, 3, 4), {"k": [2]}, {5}], 5)
// of CPython 3.11.
constexpr const char* kEverything =
    "80059585000000000000005d94284e884b074d2c014afbffffff8a060000000000018a090000000000000000c0473ff80000000000008c0374c3a494"
    "430261629496010000000000000063948c07646563696d616c948c07446563696d616c9493948c04312e323594859452944b018594284b014b024b03"
    "4b0474947d948c016b945d944b0261738f94284b0590652e";

std::vector<Value> Column(const DataType& type, const std::string& pickle) {
  Unpickler unpickler;
  const PyValue list = unpickler.Load(pickle).ValueOrDie();
  auto results = PythonResults::Make(type).ValueOrDie();
  EXPECT_TRUE(results->Append(unpickler, unpickler.items(list)).ok());
  const data::ColumnPtr column = results->Finish();
  std::vector<Value> values;
  for (int64_t row = 0; row < column->length(); ++row) values.push_back(column->GetValue(row));
  return values;
}

TEST(Unpickler, ReadsWhatCPythonWrites) {
  const std::string pickle = FromHex(kEverything);
  Unpickler unpickler;
  const PyValue list = unpickler.Load(pickle).ValueOrDie();
  ASSERT_EQ(list.kind, Kind::kList);
  const auto items = unpickler.items(list);
  ASSERT_EQ(items.size(), 16U);
  EXPECT_EQ(items[0].kind, Kind::kNone);
  EXPECT_EQ(items[1].kind, Kind::kBool);
  EXPECT_EQ(items[2].integer, 7);
  EXPECT_EQ(items[3].integer, 300);
  EXPECT_EQ(items[4].integer, -5);
  EXPECT_EQ(items[5].integer, int64_t{1} << 40);
  EXPECT_EQ(items[6].kind, Kind::kBigInt);
  EXPECT_EQ(items[7].real, 1.5);
  EXPECT_EQ(items[8].text(), "t\u00e4");
  EXPECT_EQ(items[9].kind, Kind::kBytes);
  EXPECT_EQ(items[10].text(), "c");
  EXPECT_EQ(items[11].kind, Kind::kDecimal);
  EXPECT_EQ(items[11].text(), "1.25");
  EXPECT_EQ(unpickler.items(items[12]).size(), 1U);
  EXPECT_EQ(unpickler.items(items[13]).size(), 4U);
  ASSERT_EQ(unpickler.items(items[14]).size(), 2U);
  EXPECT_EQ(unpickler.items(unpickler.items(items[14])[1])[0].integer, 2);
  EXPECT_EQ(items[15].kind, Kind::kSet);
}

TEST(Unpickler, RefusesEveryCutAndDoesNotFallOver) {
  const std::string pickle = FromHex(kEverything);
  Unpickler unpickler;
  for (size_t length = 0; length < pickle.size(); ++length) EXPECT_FALSE(unpickler.Load(pickle.substr(0, length)).ok()) << length;
  for (size_t at = 0; at < pickle.size(); ++at) {
    for (const int change : {1, 0x55, 0x80}) {
      std::string changed = pickle;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const Result<PyValue> loaded = unpickler.Load(changed);
      if (loaded.ok()) unpickler.items(*loaded);
    }
  }
}

TEST(PythonResults, GiveNullWhereTheTypeDoesNotFit) {
  // pickle.dumps([None, True, 7, 2**40, 1.5, "12"], 5)
  const std::string pickle = FromHex("8005951f000000000000005d94284e884b078a06000000000001473ff80000000000008c02313294652e");
  const Value null;
  EXPECT_EQ(Column(DataType::Boolean(), pickle), (std::vector<Value>{null, Value(true), null, null, null, null}));
  EXPECT_EQ(Column(DataType::Integer(), pickle), (std::vector<Value>{null, null, Value(int32_t{7}), Value(int32_t{0}), null, null}));
  EXPECT_EQ(Column(DataType::Byte(), pickle), (std::vector<Value>{null, null, Value(int8_t{7}), Value(int8_t{0}), null, null}));
  EXPECT_EQ(Column(DataType::Long(), pickle), (std::vector<Value>{null, null, Value(int64_t{7}), Value(int64_t{1} << 40), null, null}));
  EXPECT_EQ(Column(DataType::Date(), pickle), (std::vector<Value>{null, null, Value(int32_t{7}), null, null, null}));
  EXPECT_EQ(Column(DataType::Double(), pickle), (std::vector<Value>{null, null, null, null, Value(1.5), null}));
  EXPECT_EQ(Column(DataType::String(), pickle),
            (std::vector<Value>{null, Value(std::string("true")), Value(std::string("7")), Value(std::string("1099511627776")),
                                Value(std::string("1.5")), Value(std::string("12"))}));
  EXPECT_EQ(Column(DataType::Binary(), pickle), (std::vector<Value>{null, null, null, null, null, Value(std::string("12"))}));
}

TEST(PythonResults, WriteBigIntegersInFull) {
  // pickle.dumps([2**70, -2**70], 5)
  const std::string pickle = FromHex("8005951b000000000000005d94288a090000000000000000408a090000000000000000c0652e");
  EXPECT_EQ(Column(DataType::String(), pickle),
            (std::vector<Value>{Value(std::string("1180591620717411303424")), Value(std::string("-1180591620717411303424"))}));
  EXPECT_EQ(Column(DataType::Long(), pickle), (std::vector<Value>{Value(), Value()}));
}

TEST(PythonResults, RefuseTextsWithoutAnEnd) {
  // a = []; a += [a, a]; pickle.dumps([a], 5): of a string column Java would fail with a stack overflow
  const std::string pickle = FromHex("8005950c000000000000005d945d94286801680165612e");
  Unpickler unpickler;
  const PyValue list = unpickler.Load(pickle).ValueOrDie();
  auto results = PythonResults::Make(DataType::String()).ValueOrDie();
  EXPECT_EQ(results->Append(unpickler, unpickler.items(list)).condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

}  // namespace
}  // namespace thalweg::engine
