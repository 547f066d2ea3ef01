#include "connectors/kafka/kafka_scram.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <optional>

namespace thalweg::connectors {
namespace {

constexpr int kMostIterations = 10'000'000;  // a broker cannot keep a client busy for minutes

Status ScramFailed(std::string_view why) {
  return Error("KAFKA_REQUEST_FAILED")
      .With("attempted", "authenticate by SCRAM")
      .With("error", why)
      .Kind(ErrorKind::kEnvironment);
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string Base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), Bytes(bytes),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(size));
  return out;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), Bytes(text),
                      static_cast<int>(text.size())) < 0)
    return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  out.resize(out.size() - padding);
  return out;
}

/// The value of `name=` in a comma-separated message.
std::optional<std::string_view> Attribute(std::string_view message, char name) {
  while (!message.empty()) {
    const size_t comma = message.find(',');
    const std::string_view part = message.substr(0, comma);
    if (part.size() >= 2 && part[0] == name && part[1] == '=') return part.substr(2);
    if (comma == std::string_view::npos) break;
    message.remove_prefix(comma + 1);
  }
  return std::nullopt;
}

std::string EscapedUser(std::string_view user) {
  std::string out;
  for (const char c : user) {
    if (c == ',') {
      out += "=2C";
    } else if (c == '=') {
      out += "=3D";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Xor(std::string a, std::string_view b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<char>(a[i] ^ b[i]);
  return a;
}

}  // namespace

ScramClient::ScramClient(std::string_view mechanism, std::string user, std::string password,
                         std::string nonce)
    : is_512_(mechanism == "SCRAM-SHA-512"),
      user_(std::move(user)),
      password_(std::move(password)),
      nonce_(std::move(nonce)) {}

std::string ScramClient::FirstMessage() const {
  return "n,,n=" + EscapedUser(user_) + ",r=" + nonce_;
}

std::string ScramClient::Hmac(std::string_view key, std::string_view text) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out;
  unsigned size = 0;
  HMAC(is_512_ ? EVP_sha512() : EVP_sha256(), key.data(), static_cast<int>(key.size()), Bytes(text),
       text.size(), out.data(), &size);
  return {reinterpret_cast<const char*>(out.data()), size};
}

std::string ScramClient::Hash(std::string_view text) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out;
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), out.data(), &size, is_512_ ? EVP_sha512() : EVP_sha256(),
             nullptr);
  return {reinterpret_cast<const char*>(out.data()), size};
}

Result<std::string> ScramClient::FinalMessage(std::string_view server_first) {
  if (const auto error = Attribute(server_first, 'e')) return ScramFailed(*error);
  const auto nonce = Attribute(server_first, 'r'), salt_text = Attribute(server_first, 's'),
             count_text = Attribute(server_first, 'i');
  if (!nonce || !salt_text || !count_text)
    return ScramFailed("the server's first message is incomplete");
  if (!nonce->starts_with(nonce_) || nonce->size() == nonce_.size())
    return ScramFailed("the server answers somebody else");
  const std::optional<std::string> salt = FromBase64(*salt_text);
  int count = 0;
  const auto parsed =
      std::from_chars(count_text->data(), count_text->data() + count_text->size(), count);
  if (!salt || parsed.ec != std::errc{} || parsed.ptr != count_text->data() + count_text->size() ||
      count < 1 || count > kMostIterations)
    return ScramFailed("the server's first message is malformed");
  const EVP_MD* const digest = is_512_ ? EVP_sha512() : EVP_sha256();
  std::string salted(static_cast<size_t>(EVP_MD_get_size(digest)), '\0');
  if (PKCS5_PBKDF2_HMAC(password_.data(), static_cast<int>(password_.size()), Bytes(*salt),
                        static_cast<int>(salt->size()), count, digest,
                        static_cast<int>(salted.size()),
                        reinterpret_cast<unsigned char*>(salted.data())) != 1)
    return ScramFailed("the password cannot be hashed");
  const std::string without_proof = "c=biws,r=" + std::string(*nonce);  // "n,,": no channel binding
  const std::string message =
      FirstMessage().substr(3) + "," + std::string(server_first) + "," + without_proof;
  const std::string client_key = Hmac(salted, "Client Key");
  const std::string proof = Xor(client_key, Hmac(Hash(client_key), message));
  server_signature_ = Hmac(Hmac(salted, "Server Key"), message);
  return without_proof + ",p=" + Base64(proof);
}

Status ScramClient::CheckServer(std::string_view server_final) const {
  if (const auto error = Attribute(server_final, 'e')) return ScramFailed(*error);
  const auto value = Attribute(server_final, 'v');
  const std::optional<std::string> signature = value ? FromBase64(*value) : std::nullopt;
  if (!signature || signature->size() != server_signature_.size() ||
      CRYPTO_memcmp(signature->data(), server_signature_.data(), signature->size()) != 0)
    return ScramFailed("the server does not know the password");
  return Status::OK();
}

std::string MakeScramNonce() {
  std::array<unsigned char, 24> bytes;
  // Not base/random.h: that is reproducible on purpose.
  TW_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return Base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace thalweg::connectors
