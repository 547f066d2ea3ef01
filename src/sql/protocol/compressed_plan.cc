#include <google/protobuf/io/coded_stream.h>
#include <spark/connect/base.pb.h>
#include <zstd.h>

#include <limits>

#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;

Status CannotParse(std::string_view text) { return Error("CONNECT_INVALID_PLAN.CANNOT_PARSE").With("errorMsg", text); }

Status TooLarge(int64_t bytes, int64_t max_bytes) {
  return Error("CONNECT_INVALID_PLAN.PLAN_SIZE_LARGER_THAN_MAX").With("planSize", bytes).With("maxPlanSize", max_bytes);
}

Result<std::string> Decompress(const std::string& bytes, int64_t max_bytes) {
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), &ZSTD_freeDStream);
  if (stream == nullptr) return InternalError("no memory for zstd");
  std::string out;
  std::string block(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  size_t state = 1;
  while (input.pos < input.size || state != 0) {
    ZSTD_outBuffer output{block.data(), block.size(), 0};
    const size_t before = input.pos;
    state = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(state)) return CannotParse(ZSTD_getErrorName(state));
    out.append(block.data(), output.pos);
    if (static_cast<int64_t>(out.size()) > max_bytes) return TooLarge(static_cast<int64_t>(out.size()), max_bytes);
    if (input.pos == before && output.pos == 0) {
      if (state == 0) break;
      return CannotParse("the compressed plan ends early");
    }
  }
  return out;
}

}  // namespace

bool ParseDeepMessage(std::string_view bytes, ::google::protobuf::MessageLite* message) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) return false;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxPlanDepth);
  return message->ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

Status DecompressPlan(int64_t max_bytes, pb::Plan* plan) {
  if (!plan->has_compressed_operation()) return Status::OK();
  const pb::Plan::CompressedOperation compressed = plan->compressed_operation();
  if (compressed.compression_codec() != pb::COMPRESSION_CODEC_ZSTD) {
    return InvalidEnum("spark.connect.CompressionCodec", compressed.compression_codec());
  }
  if (static_cast<int64_t>(compressed.data().size()) > max_bytes) {
    return TooLarge(static_cast<int64_t>(compressed.data().size()), max_bytes);
  }
  TW_ASSIGN_OR_RETURN(const std::string bytes, Decompress(compressed.data(), max_bytes));
  switch (compressed.op_type()) {
    case pb::Plan::CompressedOperation::OP_TYPE_RELATION:
      if (!ParseDeepMessage(bytes, plan->mutable_root())) return CannotParse("not a Relation message");
      return Status::OK();
    case pb::Plan::CompressedOperation::OP_TYPE_COMMAND:
      if (!ParseDeepMessage(bytes, plan->mutable_command())) return CannotParse("not a Command message");
      return Status::OK();
    default: return InvalidEnum("spark.connect.Plan.CompressedOperation.OpType", compressed.op_type());
  }
}

}  // namespace thalweg::sql
