// hash, xxhash64, md5, sha, sha1, sha2, crc32.

#include <openssl/evp.h>
#include <zlib.h>

#include "data/rowformat/column_hash.h"
#include "sql/expr/binding.h"
#include "sql/functions/hash/xxhash64.h"
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

// --- xxhash64 ---

Result<ColumnPtr> XxHash64(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  FixedOutput<int64_t> out(call.type, input.rows.length);
  input.rows.ForEach([&](int64_t row) {
    uint64_t hash = 42;
    for (const auto& argument : input.arguments) hash = XxHashRow(*argument, row, hash);
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
