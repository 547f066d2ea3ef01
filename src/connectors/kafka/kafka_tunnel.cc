#include "connectors/kafka/kafka_tunnel.h"

#include <fcntl.h>
#include <librdkafka/rdkafka.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "base/redact.h"
#include "base/thread.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/kafka_scram.h"

namespace thalweg::connectors {
namespace {

constexpr int kFixedVersion = 0x020601ff;
constexpr int kSetupTimeoutMs = 30'000;  // for connecting, TLS and SASL, each step
constexpr size_t kCarryBytes = 64 << 10;
constexpr int32_t kMostAnswerBytes = 1 << 20;

struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

struct Ended {
  std::atomic<bool>& done;
  ~Ended() { done.store(true); }
};

class OwnedFd {
 public:
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() {
    if (fd_ >= 0) close(fd_);
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

Status TunnelFailed(std::string_view why) {
  return Error("KAFKA_REQUEST_FAILED")
      .With("attempted", "connect to the Kafka broker")
      .With("error", why)
      .Kind(ErrorKind::kEnvironment);
}

std::string TlsError() {
  char text[256] = "connection closed";
  const unsigned long code = ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's type
  if (code != 0) ERR_error_string_n(code, text, sizeof(text));
  ERR_clear_error();
  return text;
}

/// "sasl_ssl://host:9093/1" and "[::1]:9093/bootstrap" give the host.
std::string HostOf(std::string_view broker) {
  if (const size_t scheme = broker.find("://"); scheme != std::string_view::npos)
    broker.remove_prefix(scheme + 3);
  broker = broker.substr(0, broker.find('/'));
  broker = broker.substr(0, broker.rfind(':'));
  if (broker.starts_with('[')) broker = broker.substr(1, broker.find(']') - 1);
  return std::string(broker);
}

/// A connection to a broker, with TLS or without; non-blocking below, blocking with a time-out
/// above.
class BrokerConnection {
 public:
  /// `inside` is watched while waiting: when librdkafka hangs up, so do we.
  BrokerConnection(int fd, int inside) : fd_(fd), inside_(inside) {}

  Status ConnectTo(const sockaddr* address, socklen_t size) {
    if (connect(fd_, address, size) != 0 && errno != EINPROGRESS)
      return TunnelFailed(std::strerror(errno));
    if (!Await(POLLOUT)) return TunnelFailed("no answer");
    int error = 0;
    socklen_t error_size = sizeof(error);
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &error_size);
    if (error != 0) return TunnelFailed(std::strerror(error));
    const int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return Status::OK();
  }

  Status StartTls(SSL_CTX* context, const std::string& host, bool check_host) {
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), fd_);
    X509_VERIFY_PARAM* const verify = SSL_get0_param(ssl_.get());
    if (check_host && X509_VERIFY_PARAM_set1_ip_asc(verify, host.c_str()) != 1)
      SSL_set1_host(ssl_.get(), host.c_str());
    SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    while (true) {
      const int done = SSL_connect(ssl_.get());
      if (done == 1) return Status::OK();
      const short events = Wants(done);
      if (events == 0 || !Await(events)) return TunnelFailed("SSL handshake failed: " + TlsError());
    }
  }

  /// Bytes read (0: none now), or -1 at the end.
  ssize_t ReadSome(char* out, size_t size) {
    const ssize_t count =
        ssl_ ? SSL_read(ssl_.get(), out, static_cast<int>(size)) : recv(fd_, out, size, 0);
    if (count > 0) return count;
    if (ssl_) return Wants(static_cast<int>(count)) != 0 ? 0 : -1;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
  }
  ssize_t WriteSome(const char* bytes, size_t size) {
    const ssize_t count = ssl_ ? SSL_write(ssl_.get(), bytes, static_cast<int>(size))
                               : send(fd_, bytes, size, MSG_NOSIGNAL);
    if (count > 0) return count;
    if (ssl_) return Wants(static_cast<int>(count)) != 0 ? 0 : -1;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
  }
  bool has_decrypted() const { return ssl_ && SSL_pending(ssl_.get()) > 0; }

  Status WriteAll(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = WriteSome(bytes.data(), bytes.size());
      if (count < 0) return TunnelFailed("connection closed");
      bytes.remove_prefix(static_cast<size_t>(count));
      if (count == 0 && !Await(POLLOUT | POLLIN)) return TunnelFailed("no answer");
    }
    return Status::OK();
  }
  Result<std::string> ReadExactly(size_t size) {
    std::string bytes(size, '\0');
    for (size_t have = 0; have < size;) {
      const ssize_t count = ReadSome(bytes.data() + have, size - have);
      if (count < 0) return TunnelFailed("connection closed");
      have += static_cast<size_t>(count);
      if (count == 0 && !Await(POLLIN)) return TunnelFailed("no answer");
    }
    return bytes;
  }
  int fd() const { return fd_; }

 private:
  short Wants(int result) const {
    const int error = SSL_get_error(ssl_.get(), result);
    return error == SSL_ERROR_WANT_READ ? POLLIN : error == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
  }

  bool Await(short events) const {
    pollfd waits[2] = {{fd_, events, 0}, {inside_, 0, 0}};
    return poll(waits, 2, kSetupTimeoutMs) > 0 && (waits[1].revents & (POLLHUP | POLLERR)) == 0;
  }

  const int fd_;
  const int inside_;
  std::unique_ptr<SSL, SslFree> ssl_;
};

// --- Kafka's SaslHandshake (17, version 1) and SaslAuthenticate (36, version 0) ---

void AppendInt(std::string* out, int64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void AppendText(std::string* out, std::string_view text) {
  AppendInt(out, static_cast<int64_t>(text.size()), 2);
  out->append(text);
}

int64_t IntAt(std::string_view bytes, size_t at, int size) {
  int64_t value = 0;
  for (int i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<size_t>(i)]);
  return value;
}

Result<std::string> AskSasl(BrokerConnection& connection, int16_t api, int16_t version,
                            std::string_view body) {
  std::string request;
  AppendInt(&request, api, 2);
  AppendInt(&request, version, 2);
  AppendInt(&request, 1, 4);  // correlation id
  AppendText(&request, "thalweg");
  request.append(body);
  std::string framed;
  AppendInt(&framed, static_cast<int64_t>(request.size()), 4);
  TW_RETURN_NOT_OK(connection.WriteAll(framed + request));
  TW_ASSIGN_OR_RETURN(const std::string header, connection.ReadExactly(4));
  const auto size = static_cast<int32_t>(IntAt(header, 0, 4));
  if (size < 6 || size > kMostAnswerBytes)
    return TunnelFailed("the broker does not speak Kafka's protocol");
  TW_ASSIGN_OR_RETURN(const std::string answer, connection.ReadExactly(static_cast<size_t>(size)));
  return answer.substr(4);  // behind the correlation id
}

/// One SaslAuthenticate. Errors: the broker's text, with `*refused` set.
Result<std::string> Authenticate(BrokerConnection& connection, std::string_view message,
                                 bool* refused) {
  std::string body;
  AppendInt(&body, static_cast<int64_t>(message.size()), 4);
  body.append(message);
  TW_ASSIGN_OR_RETURN(const std::string answer, AskSasl(connection, 36, 0, body));
  const int64_t code = IntAt(answer, 0, 2);
  if (answer.size() < 4) return TunnelFailed("a short answer");
  const auto text_size = static_cast<int16_t>(IntAt(answer, 2, 2));
  const size_t at = 4 + static_cast<size_t>(std::max<int16_t>(text_size, 0));
  if (code != 0) {
    *refused = true;
    return TunnelFailed("SASL authentication error: " + answer.substr(4, at - 4));
  }
  if (answer.size() < at + 4) return TunnelFailed("a short answer");
  const auto size = static_cast<int32_t>(IntAt(answer, at, 4));
  if (size < 0 || answer.size() < at + 4 + static_cast<size_t>(size))
    return TunnelFailed("a short answer");
  return answer.substr(at + 4, static_cast<size_t>(size));
}

Status AuthenticateByScram(BrokerConnection& connection, const std::string& mechanism,
                           const std::string& user, const std::string& password, bool* refused) {
  std::string body;
  AppendText(&body, mechanism);
  TW_ASSIGN_OR_RETURN(const std::string handshake, AskSasl(connection, 17, 1, body));
  if (IntAt(handshake, 0, 2) != 0) {
    *refused = true;
    return TunnelFailed("the broker does not offer " + mechanism);
  }
  ScramClient scram(mechanism, user, password, MakeScramNonce());
  TW_ASSIGN_OR_RETURN(const std::string first,
                      Authenticate(connection, scram.FirstMessage(), refused));
  TW_ASSIGN_OR_RETURN(const std::string final_message, scram.FinalMessage(first));
  TW_ASSIGN_OR_RETURN(const std::string last, Authenticate(connection, final_message, refused));
  *refused = true;  // a server that does not know the password either
  return scram.CheckServer(last);
}

/// Carries bytes both ways until one side closes.
void Carry(BrokerConnection& broker, int inside) {
  std::string to_broker, to_inside;
  std::vector<char> block(kCarryBytes);
  while (true) {
    const short inside_events = static_cast<short>((to_broker.size() < kCarryBytes ? POLLIN : 0) |
                                                   (to_inside.empty() ? 0 : POLLOUT));
    const short broker_events = static_cast<short>((to_inside.size() < kCarryBytes ? POLLIN : 0) |
                                                   (to_broker.empty() ? 0 : POLLOUT));
    pollfd waits[2] = {{inside, inside_events, 0}, {broker.fd(), broker_events, 0}};
    if (poll(waits, 2, broker.has_decrypted() ? 0 : -1) < 0 && errno != EINTR) return;
    if ((waits[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && to_broker.size() < kCarryBytes) {
      const ssize_t count = recv(inside, block.data(), block.size(), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return;
      if (count > 0) to_broker.append(block.data(), static_cast<size_t>(count));
    }
    if (to_inside.size() < kCarryBytes &&
        ((waits[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0 || broker.has_decrypted())) {
      const ssize_t count = broker.ReadSome(block.data(), block.size());
      if (count < 0) return;
      to_inside.append(block.data(), static_cast<size_t>(count));
    }
    if (!to_broker.empty()) {
      const ssize_t count = broker.WriteSome(to_broker.data(), to_broker.size());
      if (count < 0) return;
      to_broker.erase(0, static_cast<size_t>(count));
    }
    if (!to_inside.empty()) {
      const ssize_t count =
          send(inside, to_inside.data(), to_inside.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN && errno != EINTR) return;
      if (count > 0) to_inside.erase(0, static_cast<size_t>(count));
    }
  }
}

Status AddAuthorities(SSL_CTX* context, const KafkaClientSettings& settings) {
  const std::string location = settings.Get("ssl.ca.location").value_or(""),
                    pem = settings.Get("ssl.ca.pem").value_or("");
  if (location.empty() && pem.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    return Status::OK();
  }
  if (!location.empty()) {
    if (SSL_CTX_load_verify_locations(context, location.c_str(), nullptr) == 1) return Status::OK();
    return IllegalOption("Kafka option 'ssl.truststore.location': " + TlsError());
  }
  BIO* const text = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  int count = 0;
  while (X509* certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr)) {
    count += X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate);
    X509_free(certificate);
  }
  BIO_free(text);
  ERR_clear_error();
  return count > 0
             ? Status::OK()
             : IllegalOption("Kafka option 'ssl.truststore.certificates' holds no certificate");
}

Result<std::shared_ptr<SSL_CTX>> MakeTls(const KafkaClientSettings& settings) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (context == nullptr) return InternalError("OpenSSL gives no context: " + TlsError());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  TW_RETURN_NOT_OK(AddAuthorities(context.get(), settings));
  if (const auto suites = settings.Get("ssl.cipher.suites");
      suites && SSL_CTX_set_cipher_list(context.get(), suites->c_str()) != 1)
    return IllegalOption("Kafka option 'ssl.cipher.suites': " + TlsError());
  if (settings.Get("ssl.keystore.location") || settings.Get("ssl.key.pem") ||
      settings.Get("ssl.key.location"))
    return IllegalOption(
        "Kafka option 'ssl.keystore.location' together with SCRAM is not supported with this "
        "librdkafka: the "
        "password suffices, remove the key store");
  return context;
}

}  // namespace

struct KafkaTunnels::Tunnel {
  std::atomic<bool> done{false};
  std::jthread thread;  // last: joins first
};

bool KafkaTunnels::Wanted(const KafkaClientSettings& settings) {
  return settings.Get("sasl.mechanism").value_or("").starts_with("SCRAM-") &&
         rd_kafka_version() < kFixedVersion;
}

Result<std::unique_ptr<KafkaTunnels>> KafkaTunnels::Make(
    KafkaClientSettings* settings, std::function<void(bool, const std::string&)> on_error) {
  std::unique_ptr<KafkaTunnels> tunnels(new KafkaTunnels());
  tunnels->on_error_ = std::move(on_error);
  tunnels->credentials_ = {*settings->Get("sasl.mechanism"),
                           settings->Get("sasl.username").value_or(""),
                           settings->Get("sasl.password").value_or("")};
  tunnels->check_host_ =
      settings->Get("ssl.endpoint.identification.algorithm").value_or("https") != "none";
  if (settings->Get("security.protocol") == "sasl_ssl") {
    TW_ASSIGN_OR_RETURN(tunnels->tls_, MakeTls(*settings));
  }
  std::erase_if(settings->properties, [](const auto& property) {
    return property.first.starts_with("ssl.") || property.first.starts_with("sasl.") ||
           property.first == "security.protocol" || property.first == "socket.nagle.disable" ||
           property.first == "socket.keepalive.enable";
  });
  return tunnels;
}

KafkaTunnels::~KafkaTunnels() {
  std::list<std::unique_ptr<Tunnel>> ending;  // librdkafka has closed its ends
  const MutexLock lock(mutex_);
  for (const auto& [theirs, ours] : peers_) close(ours);
  ending.swap(tunnels_);
}

void KafkaTunnels::Reap() {
  std::erase_if(tunnels_,
                [](const std::unique_ptr<Tunnel>& tunnel) { return tunnel->done.load(); });
}

int KafkaTunnels::OpenSocket() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  const MutexLock lock(mutex_);
  const auto old = peers_.find(pair[0]);
  if (old != peers_.end()) close(old->second);  // of a socket that never connected
  peers_[pair[0]] = pair[1];
  return pair[0];
}

int KafkaTunnels::Connect(int socket_fd, const sockaddr* address, int address_size,
                          const std::string& broker) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  const std::string target(reinterpret_cast<const char*>(address),
                           static_cast<size_t>(address_size));
  const MutexLock lock(mutex_);
  Reap();
  const auto peer = peers_.find(socket_fd);
  if (peer == peers_.end()) {
    close(fd);
    return EBADF;
  }
  const int inside = peer->second;
  peers_.erase(peer);
  auto tunnel = std::make_unique<Tunnel>();
  Tunnel* const raw = tunnel.get();
  tunnel->thread = StartThread("kafka tunnel", [this, raw, fd, inside, target, broker,
                                                host = HostOf(broker)](const std::stop_token&) {
    const Ended ended{raw->done};  // declared first: the sockets are closed before
    const OwnedFd outside_owner(fd), inside_owner(inside);
    BrokerConnection connection(fd, inside);
    bool refused = false;
    Status status = connection.ConnectTo(reinterpret_cast<const sockaddr*>(target.data()),
                                         static_cast<socklen_t>(target.size()));
    if (status.ok() && tls_ != nullptr) {
      status = connection.StartTls(tls_.get(), host, check_host_);
      refused = !status.ok() && status.message().find("certificate") != std::string::npos;
    }
    if (status.ok())
      status = AuthenticateByScram(connection, credentials_.mechanism, credentials_.user,
                                   credentials_.password, &refused);
    if (status.ok()) {
      Carry(connection, inside);
    } else {
      const std::string text = broker + ": " + status.message_text();
      TW_LOG(kWarn, "kafka client", {"facility", "TUNNEL"}, {"text", RedactText(text)});
      on_error_(refused, text);
    }
  });
  tunnels_.push_back(std::move(tunnel));
  return 0;
}

}  // namespace thalweg::connectors
