#include "connectors/kafka/kafka_stores.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>

#include <memory>

#include "base/string_case.h"

namespace thalweg::connectors {
namespace {

enum class StoreType { kPem, kPkcs12, kJks };

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using BioPtr = std::unique_ptr<BIO, Freed<BIO_free_all>>;

std::string Lookup(const JavaProperties& java, const std::string& name) {
  const auto found = java.find(name);
  return found == java.end() ? std::string() : found->second;
}

/// "/a/keys.jks" gives "/a/keys.p12".
std::string ConvertedName(const std::string& location) {
  const size_t dot = location.rfind('.');
  const size_t slash = location.rfind('/');
  const bool has_extension =
      dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return location.substr(0, has_extension ? dot : location.size()) + ".p12";
}

Status RefuseJks(const std::string& kind, const std::string& location) {
  const std::string converted = ConvertedName(location);
  return IllegalOption(
      "Kafka option 'ssl." + kind +
      ".location' names a JKS store, which only Java can read. Convert it once: keytool "
      "-importkeystore -srckeystore " +
      location + " -destkeystore " + converted + " -deststoretype PKCS12; then set kafka.ssl." +
      kind + ".location=" + converted + " and kafka.ssl." + kind + ".type=PKCS12");
}

Result<StoreType> TypeOf(const JavaProperties& java, const std::string& kind,
                         std::string_view bytes) {
  const std::string given = ToAsciiUpper(Lookup(java, "ssl." + kind + ".type"));
  if (given == "PEM") return StoreType::kPem;
  if (given == "PKCS12") return StoreType::kPkcs12;
  if (!given.empty() && given != "JKS")
    return IllegalOption("Kafka option 'ssl." + kind + ".type' is " + given +
                         ": only PEM and PKCS12 stores can be read");
  // Java's loader for JKS takes PKCS12 as well.
  if (bytes.starts_with("\xFE\xED\xFE\xED")) return StoreType::kJks;
  if (bytes.starts_with('\x30')) return StoreType::kPkcs12;
  if (bytes.find("-----BEGIN") != std::string_view::npos) return StoreType::kPem;
  return StoreType::kJks;
}

Result<std::string> ReadStore(const std::string& kind, const std::string& location,
                              data::FileSystem& files) {
  Result<std::string> bytes = files.ReadWhole(location, int64_t{16} << 20);
  if (bytes.ok()) return bytes;
  return IllegalOption("Kafka option 'ssl." + kind + ".location': cannot read " + location + ": " +
                       bytes.status().message_text());
}

std::string LastOpenSslError() {
  char text[256] = "unknown error";
  const unsigned long code = ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's type
  if (code != 0) ERR_error_string_n(code, text, sizeof(text));
  ERR_clear_error();
  return text;
}

/// The certificates of a PKCS12 trust store, as PEM.
Result<std::string> CertificatesOf(const std::string& location, std::string_view bytes,
                                   const std::string& password) {
  const auto* first = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::unique_ptr<PKCS12, Freed<PKCS12_free>> store(
      d2i_PKCS12(nullptr, &first, static_cast<long>(bytes.size())));
  EVP_PKEY* key = nullptr;
  X509* own = nullptr;
  STACK_OF(X509)* others = nullptr;
  if (store == nullptr || PKCS12_parse(store.get(), password.c_str(), &key, &own, &others) != 1) {
    return IllegalOption("Kafka option 'ssl.truststore.location': cannot open the PKCS12 store " +
                         location + ": " + LastOpenSslError() +
                         ". Check kafka.ssl.truststore.password");
  }
  const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key_owner(key);
  const std::unique_ptr<X509, Freed<X509_free>> own_owner(own);
  const BioPtr out(BIO_new(BIO_s_mem()));
  if (own != nullptr) PEM_write_bio_X509(out.get(), own);
  for (int i = 0; i < sk_X509_num(others); ++i)
    PEM_write_bio_X509(out.get(), sk_X509_value(others, i));
  sk_X509_pop_free(others, X509_free);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &text);
  if (size <= 0) return IllegalOption("The trust store " + location + " holds no certificate");
  return std::string(text, static_cast<size_t>(size));
}

Status TranslateTrustStore(const JavaProperties& java, data::FileSystem& files,
                           KafkaClientSettings* settings) {
  const std::string pem = Lookup(java, "ssl.truststore.certificates");
  if (!pem.empty()) {
    settings->Set("ssl.ca.pem", pem);
    return Status::OK();
  }
  const std::string location = Lookup(java, "ssl.truststore.location");
  if (location.empty()) return Status::OK();
  TW_ASSIGN_OR_RETURN(const std::string bytes, ReadStore("truststore", location, files));
  TW_ASSIGN_OR_RETURN(const StoreType type, TypeOf(java, "truststore", bytes));
  if (type == StoreType::kJks) return RefuseJks("truststore", location);
  if (type == StoreType::kPem) {
    settings->Set("ssl.ca.location", location);
    return Status::OK();
  }
  TW_ASSIGN_OR_RETURN(std::string certificates,
                      CertificatesOf(location, bytes, Lookup(java, "ssl.truststore.password")));
  settings->Set("ssl.ca.pem", std::move(certificates));
  return Status::OK();
}

Status TranslateKeyStore(const JavaProperties& java, data::FileSystem& files,
                         KafkaClientSettings* settings) {
  const std::string key = Lookup(java, "ssl.keystore.key"),
                    chain = Lookup(java, "ssl.keystore.certificate.chain");
  const std::string key_password = Lookup(java, "ssl.key.password");
  if (!key.empty() || !chain.empty()) {
    if (key.empty() || chain.empty())
      return IllegalOption(
          "Kafka options 'ssl.keystore.key' and 'ssl.keystore.certificate.chain' go together");
    settings->Set("ssl.key.pem", key);
    settings->Set("ssl.certificate.pem", chain);
    if (!key_password.empty()) settings->Set("ssl.key.password", key_password);
    return Status::OK();
  }
  const std::string location = Lookup(java, "ssl.keystore.location");
  if (location.empty()) return Status::OK();
  TW_ASSIGN_OR_RETURN(const std::string bytes, ReadStore("keystore", location, files));
  TW_ASSIGN_OR_RETURN(const StoreType type, TypeOf(java, "keystore", bytes));
  switch (type) {
    case StoreType::kJks:
      return RefuseJks("keystore", location);
    case StoreType::kPem:
      settings->Set("ssl.certificate.location", location);
      settings->Set("ssl.key.location", location);
      if (!key_password.empty()) settings->Set("ssl.key.password", key_password);
      return Status::OK();
    case StoreType::kPkcs12:
      settings->Set("ssl.keystore.location", location);
      settings->Set("ssl.keystore.password", Lookup(java, "ssl.keystore.password"));
      return Status::OK();
  }
  return Status::OK();
}

}  // namespace

Status TranslateStores(const JavaProperties& java, data::FileSystem& files,
                       KafkaClientSettings* settings) {
  TW_RETURN_NOT_OK(TranslateTrustStore(java, files, settings));
  return TranslateKeyStore(java, files, settings);
}

Result<std::string> TranslateCipherSuites(std::string_view suites) {
  const std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || SSL_CTX_set_cipher_list(context.get(), "ALL") != 1)
    return InternalError("OpenSSL gives no context: " + LastOpenSslError());
  const STACK_OF(SSL_CIPHER)* known = SSL_CTX_get_ciphers(context.get());
  std::string out;
  while (!suites.empty()) {
    const size_t comma = suites.find(',');
    std::string_view name = suites.substr(0, comma);
    suites = comma == std::string_view::npos ? std::string_view() : suites.substr(comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const char* found = nullptr;
    for (int i = 0; i < sk_SSL_CIPHER_num(known) && found == nullptr; ++i) {
      const SSL_CIPHER* cipher = sk_SSL_CIPHER_value(known, i);
      const char* standard = SSL_CIPHER_standard_name(cipher);
      if (standard != nullptr && name == standard) found = SSL_CIPHER_get_name(cipher);
    }
    if (found == nullptr)
      return IllegalOption("Kafka option 'ssl.cipher.suites' names " + std::string(name) +
                           ", which OpenSSL does not have");
    out += (out.empty() ? "" : ":") + std::string(found);
  }
  return out;
}

}  // namespace thalweg::connectors
