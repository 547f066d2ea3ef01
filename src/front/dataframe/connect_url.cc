#include "front/dataframe/connect_url.h"

namespace thalweg::internal {
namespace {

constexpr std::string_view kScheme = "sc://";
constexpr std::string_view kDefaultPort = ":15002";

bool HasPort(std::string_view place) {
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return false;
  const size_t bracket = place.rfind(']');  // "[::1]" has colons of its own
  return bracket == std::string_view::npos || colon > bracket;
}

bool IsThisMachine(std::string_view place) {
  return place.starts_with("localhost") || place.starts_with("127.") || place.starts_with("[::1]");
}

void SetParameter(const std::string& name, const std::string& value, ConnectUrl* url) {
  if (name == "token") {
    url->token = value;
  } else if (name == "use_ssl") {
    url->tls = value == "true";
  } else if (name == "user_id") {
    url->user = value;
  } else if (name == "session_id") {
    url->session_id = value;
  } else if (name != "user_agent" && !name.starts_with("grpc_")) {
    url->headers[name] = value;
  }
}

}  // namespace

Result<ConnectUrl> ConnectUrl::Parse(std::string_view url) {
  const auto refused = [url](std::string_view reason) {
    return Error("INVALID_CONNECT_URL").With("url", url).With("reason", reason);
  };
  if (!url.starts_with(kScheme)) return refused("it must begin with sc://");
  const std::string_view rest = url.substr(kScheme.size());
  const size_t slash = rest.find('/');
  const std::string_view place = rest.substr(0, slash);
  std::string_view parameters = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  if (!parameters.empty() && !parameters.starts_with(';')) return refused("parameters are written /;name=value");
  if (place.empty()) return refused("it names no host");
  ConnectUrl parsed;
  parsed.target = std::string(place) + std::string(HasPort(place) ? std::string_view() : kDefaultPort);
  while (!parameters.empty()) {
    parameters.remove_prefix(1);
    const size_t end = parameters.find(';');
    const std::string_view pair = parameters.substr(0, end);
    parameters = end == std::string_view::npos ? std::string_view() : parameters.substr(end);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return refused("a parameter has no value");
    SetParameter(std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1)), &parsed);
  }
  if (!parsed.token.empty() && !IsThisMachine(place)) parsed.tls = true;
  return parsed;
}

}  // namespace thalweg::internal
