// SPDX-License-Identifier: Apache-2.0
#include "smd/api/tls_listener.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "mad/base/parse.h"
#include "smd/access/guard.h"
#include "smd/tls/ssl.h"

namespace smd::api {
namespace {

using asio::ip::tcp;

/// Connections by client.
using Counts = std::map<std::string, std::size_t>;

/// What helps where it is not the client's certificate that is at fault.
std::string_view action_for(long verified) {
  switch (verified) {
    case X509_V_ERR_UNABLE_TO_GET_CRL:
    case X509_V_ERR_CRL_NOT_YET_VALID:
    case X509_V_ERR_CRL_HAS_EXPIRED:
      return "put a current list of revoked certificates (CRL) of its issuer into [api] client_ca, then "
             "reload: "
             "until then all certificates of this issuer are refused";
    default:
      return {};
  }
}

/// One of a client's connections.
class Counted {
 public:
  Counted(std::shared_ptr<Counts> counts, std::string client)
      : counts_(std::move(counts)), client_(std::move(client)) {
    ++(*counts_)[client_];
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    const auto at = counts_->find(client_);
    if (--at->second == 0) counts_->erase(at);
  }
  /// Whose it is.
  const std::string& client() const { return client_; }

 private:
  std::shared_ptr<Counts> counts_;
  std::string client_;
};

class TlsChannel final : public Channel {
 public:
  TlsChannel(tcp::socket socket, std::shared_ptr<tls::ssl::context> context, std::string address,
             std::unique_ptr<Counted> counted, log::Log log)
      : log_(std::move(log)),
        context_(std::move(context)),
        stream_(std::move(socket), *context_),
        peer_{.local = false, .address = std::move(address), .user = {}},
        counted_(std::move(counted)) {}

  asio::awaitable<bool> open() override {
    const auto [error] = co_await stream_.async_handshake(tls::ssl::stream_base::server, kTuple);
    if (error) tell_of_certificate(error);
    co_return !error;
  }
  asio::awaitable<std::pair<error_code, std::size_t>> read(asio::mutable_buffer into) override {
    const auto [error, bytes] = co_await stream_.async_read_some(into, kTuple);
    // Clients that end without a word of TLS lose nothing: requests have a length.
    const bool cut = error == tls::ssl::error::stream_truncated;
    co_return std::pair(cut ? error_code(asio::error::eof) : error, bytes);
  }
  asio::awaitable<error_code> write(asio::const_buffer bytes) override {
    const auto [error, written] = co_await asio::async_write(stream_, bytes, kTuple);
    co_return error;
  }
  asio::awaitable<void> finish() override {
    if (!stream_.lowest_layer().is_open()) co_return;
    const auto [error] = co_await stream_.async_shutdown(kTuple);  // clients that are gone do not answer
    // One that is still sending would lose the answer to a reset.
    if (error.category() == asio::error::get_ssl_category()) co_await ignore_rest();
    close();
  }
  void close() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }
  const Peer& peer() const override { return peer_; }

 private:
  /// Where the client's is the reason. Handshakes that end otherwise are those of port scanners, too.
  void tell_of_certificate(const error_code& error) {
    const auto verified = SSL_get_verify_result(stream_.native_handle());
    const bool is_missing =
        error.category() == asio::error::get_ssl_category() &&
        ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
    if (verified == X509_V_OK && !is_missing) return;
    auto line = log_.warn("api.refused");
    line.kv("address", peer_.address)
        .kv("reason", is_missing
                          ? std::string("it has shown no certificate")
                          : fmt::format("its certificate: {}", X509_verify_cert_error_string(verified)));
    if (const auto action = action_for(verified); !action.empty()) line.kv("action", action);
    line.subject(counted_->client());
  }
  /// Until the client has read the answer and closes its end, or close().
  asio::awaitable<void> ignore_rest() {
    auto& socket = stream_.next_layer();
    error_code error;
    socket.shutdown(tcp::socket::shutdown_send, error);
    std::array<char, 4096> rest{};
    while (!error) {
      const auto [failed, bytes] = co_await socket.async_read_some(asio::buffer(rest), kTuple);
      error = failed;
    }
  }

  log::Log log_;
  std::shared_ptr<tls::ssl::context> context_;
  tls::ssl::stream<tcp::socket> stream_;
  Peer peer_;
  std::unique_ptr<Counted> counted_;
};

std::optional<tcp::endpoint> endpoint_of(const std::string& text, error_code& error) {
  const auto where = base::parse_host_port(text);
  if (!where) return std::nullopt;
  const auto address = asio::ip::make_address(where->host, error);
  return error ? std::nullopt : std::optional(tcp::endpoint(address, where->port));
}

std::string text_of(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  return address.to_string();
}

}  // namespace

std::expected<void, std::string> TlsIdentity::load(const tls::Files& files) {
  auto context = tls::server_context(files, tls::Minimum::tls_1_2);
  if (!context) return std::unexpected(std::move(context.error()));
  context_ = std::make_shared<tls::ssl::context>(std::move(*context));
  return {};
}

struct TlsListener::Impl {
  Impl(asio::io_context& io, mad::Clock& time, std::shared_ptr<const TlsIdentity> who, log::Log to,
       TlsLimits most)
      : acceptor(io),
        clock(time),
        identity(std::move(who)),
        log(std::move(to)),
        limits(most),
        allowed(most.handshakes),
        counted_at(time.now()) {}
  std::expected<void, std::string> listen(const std::string& text);
  std::unique_ptr<Channel> take(tcp::socket socket);
  bool may_shake_hands();

  tcp::acceptor acceptor;
  mad::Clock& clock;
  std::shared_ptr<const TlsIdentity> identity;
  log::Log log;
  TlsLimits limits;
  double allowed;  ///< handshakes that may begin now
  mad::TimePoint counted_at;
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();
};

std::expected<void, std::string> TlsListener::Impl::listen(const std::string& text) {
  error_code error;
  const auto end = endpoint_of(text, error);
  if (!end) return std::unexpected(fmt::format("{}: not ADDRESS:PORT", text));
  acceptor.open(end->protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(*end, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  return std::unexpected(fmt::format("{}: {}", text, error.message()));
}

bool TlsListener::Impl::may_shake_hands() {
  const auto now = clock.now();
  const std::chrono::duration<double> passed = now - std::exchange(counted_at, now);
  allowed = std::min<double>(limits.handshakes, allowed + passed.count() * limits.handshakes);
  if (allowed < 1) return false;
  allowed -= 1;
  return true;
}

/// Null: one too many.
std::unique_ptr<Channel> TlsListener::Impl::take(tcp::socket socket) {
  error_code error;
  const auto end = socket.remote_endpoint(error);
  if (error) return nullptr;
  auto address = text_of(end.address());
  const auto client = access::client_of(address);
  const auto at = counts->find(client);
  const bool many = at != counts->end() && at->second >= limits.connections_of_address;
  if (many || !may_shake_hands()) {
    log.warn("api.refused")
        .kv("address", address)
        .kv("reason", many ? "it has as many connections as one address may have"
                           : "more new connections than a second allows")
        .subject(client);
    return nullptr;
  }
  socket.set_option(tcp::no_delay(true), error);
  return std::make_unique<TlsChannel>(std::move(socket), identity->context(), std::move(address),
                                      std::make_unique<Counted>(counts, client), log);
}

TlsListener::TlsListener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsListener::~TlsListener() = default;

std::expected<std::unique_ptr<TlsListener>, std::string> TlsListener::open(
    asio::io_context& io, mad::Clock& clock, const std::string& listen,
    std::shared_ptr<const TlsIdentity> identity, log::Log log, TlsLimits limits) {
  auto impl = std::make_unique<Impl>(io, clock, std::move(identity), std::move(log), limits);
  if (auto listens = impl->listen(listen); !listens) return std::unexpected(std::move(listens.error()));
  return std::unique_ptr<TlsListener>(new TlsListener(std::move(impl)));
}

asio::awaitable<std::unique_ptr<Channel>> TlsListener::next() {
  for (;;) {
    auto [error, socket] = co_await impl_->acceptor.async_accept(kTuple);
    if (error == asio::error::operation_aborted || !impl_->acceptor.is_open()) co_return nullptr;
    if (!error) {
      if (auto channel = impl_->take(std::move(socket))) co_return channel;
      continue;
    }
    // No descriptors left, mostly: some will be free again.
    const bool time = co_await impl_->clock.sleep(std::chrono::milliseconds(100));
    if (!time) co_return nullptr;
  }
}

void TlsListener::close() {
  error_code ignored;
  impl_->acceptor.close(ignored);
}

std::uint16_t TlsListener::port() const {
  error_code error;
  const auto end = impl_->acceptor.local_endpoint(error);
  return error ? std::uint16_t{0} : end.port();
}

}  // namespace smd::api
