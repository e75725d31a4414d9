// SPDX-License-Identifier: Apache-2.0
#include "smd/replica/tls_network.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <optional>

#include "mad/base/parse.h"
#include "smd/tls/ssl.h"

namespace smd::replica {
namespace {

using asio::ip::tcp;
using Stream = tls::ssl::stream<tcp::socket>;
constexpr auto kWait = asio::as_tuple(asio::use_awaitable);

/// Until a connection is made; one that others make may not keep a place for longer than a handshake takes.
constexpr mad::Duration kPatience = std::chrono::seconds(10), kPatienceWithOthers = std::chrono::seconds(3);

std::string text_of(const tcp::endpoint& end) {
  const bool six = end.address().is_v6();
  return fmt::format("{}{}{}:{}", six ? "[" : "", end.address().to_string(), six ? "]" : "", end.port());
}

/// Shared with the operations under way, which outlive the end where that is closed.
struct Connection {
  Connection(tcp::socket socket, tls::ssl::context& context) : stream(std::move(socket), context) {}
  void close() {
    error_code ignored;
    stream.lowest_layer().shutdown(tcp::socket::shutdown_both, ignored);
    stream.lowest_layer().close(ignored);
    open = false;
  }
  Stream stream;
  bool open = true;
  std::string peer;
};
using ConnectionPtr = std::shared_ptr<Connection>;

class TlsStream final : public ByteStream {
 public:
  explicit TlsStream(ConnectionPtr connection) : connection_(std::move(connection)) {}
  ~TlsStream() override { connection_->close(); }

  asio::awaitable<std::vector<std::uint8_t>> read() override {
    const auto connection = connection_;
    std::vector<std::uint8_t> bytes(kRead);
    if (!connection->open) co_return std::vector<std::uint8_t>{};
    const auto [error, count] = co_await connection->stream.async_read_some(asio::buffer(bytes), kWait);
    bytes.resize(error ? 0 : count);
    co_return bytes;
  }
  asio::awaitable<bool> write(std::shared_ptr<const std::vector<std::uint8_t>> bytes) override {
    const auto connection = connection_;
    if (!connection->open) co_return false;
    const auto [error, count] = co_await asio::async_write(connection->stream, asio::buffer(*bytes), kWait);
    co_return !error && connection->open;
  }
  void close() override { connection_->close(); }
  std::string peer() const override { return connection_->peer; }

 private:
  static constexpr std::size_t kRead = std::size_t{64} * 1024;
  ConnectionPtr connection_;
};

std::int64_t seconds_of(mad::Duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

/// The handshake, in time. Empty: it was well.
asio::awaitable<std::string> shake_hands(ConnectionPtr connection, mad::Clock* clock,
                                         tls::ssl::stream_base::handshake_type type) {
  bool late = false;
  const auto patience = type == tls::ssl::stream_base::server ? kPatienceWithOthers : kPatience;
  const auto timer = clock->call_at(clock->now() + patience, [connection, &late] {
    late = true;
    connection->close();
  });
  const auto [error] = co_await connection->stream.async_handshake(type, kWait);
  clock->cancel(timer);
  if (late) co_return fmt::format("no handshake of TLS in {} s", seconds_of(patience));
  if (!error) co_return "";
  const bool refused = error.category() == asio::error::get_ssl_category();
  co_return refused ? error.message() + " (do psk_file, or cert and ca, of both ends belong together?)"
                    : error.message();
}

}  // namespace

struct TlsNetwork::Impl {
  Impl(asio::any_io_executor on, mad::Clock& time, tls::ssl::context in, tls::ssl::context out)
      : executor(std::move(on)),
        clock(time),
        server(std::move(in)),
        client(std::move(out)),
        acceptor(executor) {}
  std::expected<void, std::string> listen(const std::string& text);

  asio::any_io_executor executor;
  mad::Clock& clock;
  tls::ssl::context server, client;
  tcp::acceptor acceptor;
};

std::expected<void, std::string> TlsNetwork::Impl::listen(const std::string& text) {
  const auto where = base::parse_host_port(text);
  if (!where) return std::unexpected(fmt::format("{}: not ADDRESS:PORT", text));
  error_code error;
  const auto address = asio::ip::make_address(where->host, error);
  const tcp::endpoint end(address, where->port);
  if (!error) acceptor.open(end.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(end, error);
  if (!error) acceptor.listen(128, error);
  if (error) return std::unexpected(fmt::format("{}: {}", text, error.message()));
  return {};
}

TlsNetwork::TlsNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsNetwork::~TlsNetwork() = default;

std::uint16_t TlsNetwork::port() const {
  error_code error;
  const auto end = impl_->acceptor.local_endpoint(error);
  return error ? std::uint16_t{0} : end.port();
}

std::expected<std::unique_ptr<TlsNetwork>, std::string> TlsNetwork::open(asio::any_io_executor executor,
                                                                         mad::Clock& clock,
                                                                         const std::string& listen,
                                                                         const Credentials& credentials) {
  const bool shared = !credentials.psk.empty();
  auto in = shared ? tls::shared_key_context(credentials.psk, tls::End::server)
                   : tls::server_context(credentials.files, tls::Minimum::tls_1_3);
  if (!in) return std::unexpected(in.error());
  auto out = shared ? tls::shared_key_context(credentials.psk, tls::End::client)
                    : tls::client_context(credentials.files, tls::Minimum::tls_1_3);
  if (!out) return std::unexpected(out.error());
  auto impl = std::make_unique<Impl>(std::move(executor), clock, std::move(*in), std::move(*out));
  if (!listen.empty()) {
    const auto listens = impl->listen(listen);
    if (!listens) return std::unexpected(listens.error());
  }
  return std::unique_ptr<TlsNetwork>(new TlsNetwork(std::move(impl)));
}

asio::awaitable<std::expected<ByteStreamPtr, std::string>> TlsNetwork::connect(std::string peer) {
  const auto where = base::parse_host_port(peer);
  if (!where) co_return std::unexpected(fmt::format("{}: not ADDRESS:PORT", peer));
  tcp::resolver resolver(impl_->executor);
  const auto [unknown, ends] =
      co_await resolver.async_resolve(where->host, std::to_string(where->port), kWait);
  if (unknown) co_return std::unexpected(unknown.message());
  std::string reason = "no address";
  for (const auto& end : ends) {
    auto connection = std::make_shared<Connection>(tcp::socket(impl_->executor), impl_->client);
    bool late = false;
    const auto timer = impl_->clock.call_at(impl_->clock.now() + kPatience, [connection, &late] {
      late = true;
      connection->close();
    });
    const auto [error] = co_await connection->stream.lowest_layer().async_connect(end.endpoint(), kWait);
    impl_->clock.cancel(timer);
    if (error) reason = error.message();
    if (late) reason = fmt::format("no answer to TCP in {} s", seconds_of(kPatience));
    if (error || late) continue;
    connection->stream.lowest_layer().set_option(tcp::no_delay(true));
    connection->peer = peer;
    reason = co_await shake_hands(connection, &impl_->clock, tls::ssl::stream_base::client);
    if (reason.empty()) co_return std::make_unique<TlsStream>(std::move(connection));
  }
  co_return std::unexpected(reason);
}

asio::awaitable<std::expected<ByteStreamPtr, std::string>> TlsNetwork::accept() {
  if (!impl_->acceptor.is_open()) {
    bool time = true;
    while (time) time = co_await impl_->clock.sleep(std::chrono::hours(1));
    co_return std::unexpected("[ha] listen is empty");
  }
  auto [error, socket] = co_await impl_->acceptor.async_accept(kWait);
  if (error) co_return std::unexpected(error.message());
  error_code ignored;
  const auto end = socket.remote_endpoint(ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  auto connection = std::make_shared<Connection>(std::move(socket), impl_->server);
  connection->peer = text_of(end);
  const auto reason = co_await shake_hands(connection, &impl_->clock, tls::ssl::stream_base::server);
  if (!reason.empty()) co_return std::unexpected(fmt::format("{}: {}", connection->peer, reason));
  co_return std::make_unique<TlsStream>(std::move(connection));
}

}  // namespace smd::replica
