// hash, xxhash64, md5, sha, sha1, sha2, crc32.

#include <openssl/evp.h>
#include <zlib.h>

#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "data/rowformat/column_hash.h"
#include "sql/expr/binding.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {
namespace {

Status RefuseMaps(const ScalarFunction& function, const ExprList& arguments) {
  for (const auto& argument : arguments) {
    if (argument->type().Is(TypeKind::kMap)) {
      return Error("DATATYPE_MISMATCH.HASH_MAP_TYPE")
          .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
          .With("functionName", QuoteFunctionName(function.name));
    }
  }
  return {};
}

// --- hash ---

Result<ColumnPtr> Murmur3(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  FixedOutput<int32_t> out(call.type, input.rows.length);
  std::vector<int32_t> hashes(static_cast<size_t>(input.rows.count()));
  data::HashColumns(input.arguments, input.rows.rows, hashes);
  size_t i = 0;
  input.rows.ForEach([&](int64_t row) { out.Set(row, hashes[i++]); });
  return out.Finish();
}

Result<BoundCall> BindHash(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, -1));
  TW_RETURN_NOT_OK(RefuseMaps(function, arguments));
  std::vector<DataType> types;
  for (const auto& argument : arguments) types.push_back(argument->type());
  TW_RETURN_NOT_OK(data::CheckHashable(types));
  return MakeBoundExact(function, std::move(arguments), DataType::Integer(), false, &Murmur3, ModeOf(function, context));
}

// --- xxhash64: Spark's own, which hashes each value with the hash before as seed ---

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87ULL;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FULL;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9ULL;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63ULL;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5ULL;

uint64_t Mix(uint64_t hash) {
  hash ^= hash >> 33;
  hash *= kPrime2;
  hash ^= hash >> 29;
  hash *= kPrime3;
  return hash ^ (hash >> 32);
}

uint64_t XxInt(uint32_t value, uint64_t seed) {
  uint64_t hash = seed + kPrime5 + 4;
  hash ^= value * kPrime1;
  hash = std::rotl(hash, 23) * kPrime2 + kPrime3;
  return Mix(hash);
}

uint64_t XxLong(uint64_t value, uint64_t seed) {
  uint64_t hash = seed + kPrime5 + 8;
  hash ^= std::rotl(value * kPrime2, 31) * kPrime1;
  hash = std::rotl(hash, 27) * kPrime1 + kPrime4;
  return Mix(hash);
}

uint64_t XxBytes(std::string_view bytes, uint64_t seed) { return XXH64(bytes.data(), bytes.size(), seed); }

/// java.math.BigInteger.toByteArray: the fewest big-endian bytes of two's complement.
std::string BigEndianBytes(Int128 value) {
  std::string bytes;
  for (int shift = 120; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(static_cast<unsigned __int128>(value) >> shift));
  size_t first = 0;
  while (first + 1 < bytes.size()) {
    const char lead = bytes[first];
    const bool next_negative = (bytes[first + 1] & 0x80) != 0;
    if ((lead == 0 && !next_negative) || (lead == static_cast<char>(0xFF) && next_negative)) {
      ++first;
    } else {
      break;
    }
  }
  return bytes.substr(first);
}

uint64_t XxRow(const Column& column, int64_t row, uint64_t seed) {
  if (column.IsNull(row)) return seed;
  const auto slot = static_cast<size_t>(SlotOf(column, row));
  switch (column.physical()) {
    case PhysicalType::kNull: return seed;
    case PhysicalType::kBool: return XxInt(column.values<uint8_t>()[slot], seed);
    case PhysicalType::kInt8: return XxInt(static_cast<uint32_t>(column.values<int8_t>()[slot]), seed);
    case PhysicalType::kInt16: return XxInt(static_cast<uint32_t>(column.values<int16_t>()[slot]), seed);
    case PhysicalType::kInt32: return XxInt(static_cast<uint32_t>(column.values<int32_t>()[slot]), seed);
    case PhysicalType::kInt64: return XxLong(static_cast<uint64_t>(column.values<int64_t>()[slot]), seed);
    case PhysicalType::kFloat: {
      const float v = column.values<float>()[slot];
      return XxInt(v == 0 ? 0 : (v != v ? 0x7fc00000U : std::bit_cast<uint32_t>(v)), seed);
    }
    case PhysicalType::kDouble: {
      const double v = column.values<double>()[slot];
      return XxLong(v == 0 ? 0 : (v != v ? 0x7ff8000000000000ULL : std::bit_cast<uint64_t>(v)), seed);
    }
    case PhysicalType::kInt128: {
      const Int128 v = column.values<Int128>()[slot];
      if (column.type().precision() <= 18) return XxLong(static_cast<uint64_t>(v), seed);
      return XxBytes(BigEndianBytes(v), seed);
    }
    case PhysicalType::kText: return XxBytes(column.values<TextView>()[slot].view(), seed);
    case PhysicalType::kInterval: {
      const auto v = column.values<data::CalendarInterval>()[slot];
      return XxInt(static_cast<uint32_t>(v.months),
                   XxInt(static_cast<uint32_t>(v.days), XxLong(static_cast<uint64_t>(v.microseconds), seed)));
    }
    case PhysicalType::kList:
      for (int32_t i = column.offsets()[slot]; i < column.offsets()[slot + 1]; ++i) seed = XxRow(*column.child(0), i, seed);
      return seed;
    case PhysicalType::kMap:
      for (int32_t i = column.offsets()[slot]; i < column.offsets()[slot + 1]; ++i) {
        seed = XxRow(*column.child(1), i, XxRow(*column.child(0), i, seed));
      }
      return seed;
    case PhysicalType::kStruct:
      for (int i = 0; i < column.num_children(); ++i) seed = XxRow(*column.child(i), static_cast<int64_t>(slot), seed);
      return seed;
  }
  return seed;
}

Result<ColumnPtr> XxHash64(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  FixedOutput<int64_t> out(call.type, input.rows.length);
  input.rows.ForEach([&](int64_t row) {
    uint64_t hash = 42;
    for (const auto& argument : input.arguments) hash = XxRow(*argument, row, hash);
    out.Set(row, static_cast<int64_t>(hash));
  });
  return out.Finish();
}

Result<BoundCall> BindXxHash(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, -1));
  TW_RETURN_NOT_OK(RefuseMaps(function, arguments));
  return MakeBoundExact(function, std::move(arguments), DataType::Long(), false, &XxHash64, ModeOf(function, context));
}

// --- digests ---

void AppendDigest(const EVP_MD* algorithm, std::string_view bytes, std::string* out) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, algorithm, nullptr);
  for (unsigned int i = 0; i < size; ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out->push_back(kDigits[digest[i] >> 4]);
    out->push_back(kDigits[digest[i] & 15]);
  }
}

template <const EVP_MD* (*kAlgorithm)()>
Result<ColumnPtr> Digest(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view bytes, std::string* out) {
    AppendDigest(kAlgorithm(), bytes, out);
    return true;
  });
}

Result<ColumnPtr> Sha2(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view, int32_t>(call, input, [](std::string_view bytes, int32_t bits, std::string* out) {
    const EVP_MD* algorithm = nullptr;
    if (bits == 224) algorithm = EVP_sha224();
    if (bits == 256 || bits == 0) algorithm = EVP_sha256();
    if (bits == 384) algorithm = EVP_sha384();
    if (bits == 512) algorithm = EVP_sha512();
    if (algorithm == nullptr) return false;
    AppendDigest(algorithm, bytes, out);
    return true;
  });
}

Result<ColumnPtr> Crc32(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<int64_t, std::string_view>(call, input, [](std::string_view bytes) {
    return static_cast<int64_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  });
}

}  // namespace

void RegisterHash(FunctionLists& lists) {
  static const ScalarFunction kHash{.name = "hash", .since = "2.0.0", .doc = "Spark's Murmur3 hash, seed 42.",
                                    .example = {"SELECT hash('Spark', array(123), 2)", "-1321691492"},
                                    .nulls = NullPolicy::kCustom, .bind = &BindHash};
  static const ScalarFunction kXxHash{.name = "xxhash64", .since = "3.0.0", .doc = "The 64-bit xxHash, seed 42.",
                                      .example = {"SELECT xxhash64('Spark', array(123), 2)", "5602566077635097486"},
                                      .nulls = NullPolicy::kCustom, .bind = &BindXxHash};
  static const ScalarFunction kMd5{.name = "md5", .signature = "(bytes BINARY) -> STRING", .since = "1.5.0",
                                   .doc = "The MD5 digest in hexadecimal.",
                                   .example = {"SELECT md5('Spark')", "8cde774d6f7333752ed72cacddb05126"},
                                   .evaluate = &Digest<EVP_md5>};
  static const ScalarFunction kSha{.name = "sha", .signature = "(bytes BINARY) -> STRING", .since = "1.5.0",
                                   .doc = "The SHA-1 digest in hexadecimal.",
                                   .example = {"SELECT sha('Spark')", "85f5955f4b27a9a4c2aab6ffe5d7189fc298b92c"},
                                   .evaluate = &Digest<EVP_sha1>};
  static const ScalarFunction kSha1 = Renamed(kSha, "sha1");
  static const ScalarFunction kSha2{.name = "sha2", .signature = "(bytes BINARY, bits INT) -> STRING?", .since = "1.5.0",
                                    .doc = "A SHA-2 digest of 224, 256, 384 or 512 bits in hexadecimal.",
                                    .example = {"SELECT sha2('Spark', 256)",
                                                "529bc3b07127ecb7e53a4dcf1991d9152c24537d919178022b2c42657f79a26b"},
                                    .evaluate = &Sha2};
  static const ScalarFunction kCrc{.name = "crc32", .signature = "(bytes BINARY) -> BIGINT", .since = "1.5.0",
                                   .doc = "The CRC-32 checksum.", .example = {"SELECT crc32('Spark')", "1557323817"},
                                   .evaluate = &Crc32};
  for (const auto* f : {&kHash, &kXxHash, &kMd5, &kSha, &kSha1, &kSha2, &kCrc}) lists.Add(*f);
}

}  // namespace thalweg::sql
