// SPDX-License-Identifier: Apache-2.0
// The keys of [api].
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/blocks.h"
#include "config/rows.h"
#include "config/scalars.h"

namespace smd::config {
namespace {

Key socket() {
  // As long as the system lets a socket's path be (sun_path of unix(7), with the zero at its end).
  static constexpr std::size_t kLongest = 107;
  Codec<std::string> path;
  path.allowed = fmt::format("a path of at most {} bytes, with a '/'", kLongest);
  path.read = [allowed = path.allowed](const Value& value, const Spot& spot) -> std::optional<std::string> {
    if (value.kind == Value::Kind::text && value.text.empty()) return value.text;
    const bool is_path = value.kind == Value::Kind::text && value.text.find('/') != std::string::npos &&
                         !value.text.ends_with('/') && value.text.find('\0') == std::string::npos;
    if (is_path) {
      auto resolved = spot.resolve(value.text).string();
      if (resolved.size() <= kLongest) return resolved;
    }
    spot.wrong(value, allowed);
    return std::nullopt;
  };
  path.show = [](const std::string& value) { return toml_quoted(value); };
  return row(
      {.table = "api",
       .name = "socket",
       .opensm = "",
       .doc = "The Unix socket at which `smd status` and its like ask. Without it /run/smd/smd.sock (under "
              "systemd in the unit's RuntimeDirectory), where that cannot be written "
              "$XDG_RUNTIME_DIR/smd.sock."},
      [](auto& settings) -> auto& { return settings.api.socket; }, std::move(path));
}

template <class T>
Key api_row(std::string_view name, T ApiConfig::* member, Codec<T> codec, std::string_view doc) {
  return row(
      {.table = "api", .name = name, .opensm = "", .doc = doc},
      [=](auto& settings) -> auto& { return settings.api.*member; }, std::move(codec));
}

/// "https://HOST", then perhaps a port and a path; no user, no blanks.
bool is_web_address(const std::string& url) {
  const auto scheme = url.starts_with("https://") ? 8U : url.starts_with("http://") ? 7U : 0U;
  if (scheme == 0 || url.size() > 2'000) return false;
  const auto rest = std::string_view(url).substr(scheme);
  const auto host = rest.substr(0, rest.find('/'));
  const bool plain = std::ranges::all_of(rest, [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
  const auto after = host.substr(host.rfind(']') + 1);  // a colon within brackets begins no port
  const bool with_port = after.find(':') != std::string_view::npos;
  return plain && !host.empty() && host.find('@') == std::string_view::npos &&
         host.find('?') == std::string_view::npos && (!with_port || is_address(host));
}

Codec<std::vector<std::string>> patterns() {
  using Patterns = std::vector<std::string>;
  Codec<Patterns> codec;
  codec.form = Form::list;
  codec.allowed = "a list of patterns, as in [\"link.*\", \"node.gone\"]";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Patterns> {
    if (value.kind != Value::Kind::list) {
      spot.wrong(value, allowed);
      return std::nullopt;
    }
    Patterns found;
    const auto one = text("a pattern of names", [](const std::string& name) { return !name.empty(); });
    const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
      if (auto pattern = one.read(item, at)) found.push_back(*std::move(pattern));
    });
    return good ? std::optional(std::move(found)) : std::nullopt;
  };
  codec.show = [](const Patterns& value) {
    std::vector<std::string> quoted;
    for (const auto& one : value) quoted.push_back(toml_quoted(one));
    return fmt::format("[{}]", fmt::join(quoted, ", "));
  };
  return explained(std::move(codec), Patterns(), "all events");
}

Codec<std::vector<WebhookConfig>> webhooks() {
  return explained(
      blocks<WebhookConfig>(
          {block_key(
               {.name = "url",
                .doc = "Where events are posted to, at least once each and in order, as JSON (docs/api.md, "
                       "'Webhooks').",
                .example = "\"https://alerts.example/smd\"",
                .required = true,
                .unique = true},
               &WebhookConfig::url,
               text("\"https://HOST:PORT/PATH\" or \"http://...\", without user and password",
                    is_web_address)),
           block_key({.name = "secret_file",
                      .doc = "A file whose content, without white space at its ends, signs what is sent: "
                             "HMAC-SHA256 in the header X-SMD-Signature. At least 16 bytes.",
                      .example = "\"/etc/smd/webhook.secret\"",
                      .required = true},
                     &WebhookConfig::secret_file, path("a file's name", false)),
           block_key(
               {.name = "ca_file",
                .doc =
                    "The CA of the receiver's certificate, in PEM. Nothing: those that the system trusts."},
               &WebhookConfig::ca_file, path("a file's name", true)),
           block_key({.name = "events",
                      .doc = "Names of events, with * and ?. Nothing: all of level info and above.",
                      .example = "[\"link.*\", \"node.*\"]"},
                     &WebhookConfig::events, patterns())}),
      std::vector<WebhookConfig>{}, "none");
}

}  // namespace

std::vector<Key> api_keys() {
  const auto listen = text("\"ADDRESS:PORT\", or nothing",
                           [](const std::string& value) { return value.empty() || is_address(value); });
  return {
      socket(),
      api_row(
          "listen", &ApiConfig::listen, listen,
          "Where the API is served over TLS: an address of this machine and a port, \"[::]:8443\" for all. "
          "Nothing: on the Unix socket only. Who calls it needs a token (`smd token`). Needs cert and key, "
          "and "
          "a systemd unit that lets smd use the network."),
      api_row(
          "cert", &ApiConfig::cert, path("a file's name", true),
          "The certificate of the API, in PEM, with those between it and the CA after it. It is read again "
          "at each reload. `smd api cert --self-signed` makes one."),
      api_row("key", &ApiConfig::key, path("a file's name", true),
              "Its private key, in PEM, which user smd can read."),
      api_row(
          "client_ca", &ApiConfig::client_ca, path("a file's name", true),
          "Where it is given, clients need a certificate that is signed by one of this file, in PEM, beside "
          "their token. Lists of revoked certificates (CRL) may follow there: then a current one of each CA "
          "that signs clients' certificates."),
      api_row(
          "max_connections", &ApiConfig::max_connections, whole<unsigned>(1, 65'535),
          "Connections over the network at a time, and 64 of them for one address. Where all are taken, the "
          "one that has been idle longest is closed. The Unix socket has places of its own."),
      api_row("webhook", &ApiConfig::webhook, webhooks(), "A receiver of events over HTTP."),
  };
}

}  // namespace smd::config
