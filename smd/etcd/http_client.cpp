// SPDX-License-Identifier: Apache-2.0
#include "smd/etcd/http_client.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <utility>

#include "mad/base/parse.h"
#include "mad/deadline.h"
#include "smd/etcd/messages.h"
#include "smd/tls/handshake.h"

namespace smd::etcd {
namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;
using Post = http::request<http::string_body>;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

/// Of one call, the connection that it may need to make included.
constexpr mad::Duration kPatienceOfCall = std::chrono::seconds(3);
/// Of an answer, and of a line of a watch.
constexpr std::size_t kLongestAnswer = std::size_t{12} << 20U, kLongestLine = std::size_t{1} << 20U,
                      kLongestHeader = 16'384;

/// Shared with the operations under way, which outlive the client where that is closed.
struct Wire {
  Wire(const asio::any_io_executor& executor, tls::ssl::context& context)
      : resolver(executor), stream(executor, context) {}
  void close() {
    error_code ignored;
    resolver.cancel();
    stream.lowest_layer().close(ignored);
    open = false;
  }
  tcp::resolver resolver;
  tls::ssl::stream<tcp::socket> stream;
  boost::beast::flat_buffer buffer;
  std::string peer;
  bool open = true;
};
using WirePtr = std::shared_ptr<Wire>;

Error lost(const WirePtr& wire, std::string_view reason) {
  return {.kind = ErrorKind::unreachable, .text = fmt::format("{}: {}", wire->peer, reason)};
}

auto closing(const WirePtr& wire) {
  return [wire] { wire->close(); };
}

struct Reply {
  unsigned status = 0;
  std::string body;
};

}  // namespace

std::optional<Endpoint> endpoint_of(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  auto where = base::parse_host_port(url);
  if (!where || url.contains('/')) return std::nullopt;
  return Endpoint{
      .host = std::move(where->host), .port = fmt::format("{}", where->port), .shown = std::string(url)};
}

struct HttpClients::Impl {
  Impl(asio::any_io_executor on, mad::Clock& time, tls::ssl::context with)
      : executor(std::move(on)), clock(time), context(std::move(with)) {}
  asio::any_io_executor executor;
  mad::Clock& clock;
  tls::ssl::context context;
  std::vector<Endpoint> endpoints;
  std::size_t next = 0;  ///< to be tried first
};

namespace {

/// `Shared` is what all clients have in common.
template <class Shared>
class HttpClient final : public Client {
 public:
  explicit HttpClient(std::shared_ptr<Shared> all) : all_(std::move(all)) {}
  ~HttpClient() override { HttpClient::close(); }

  Answered<RangeAnswer> range(RangeAsk ask) override {
    const auto reply = co_await call(kRangePath, range_body(ask));
    if (!reply) co_return std::unexpected(reply.error());
    co_return judged(range_answer(reply->status, reply->body));
  }
  Answered<TransactionAnswer> transact(Transaction transaction) override {
    const auto reply = co_await call(kTransactionPath, transaction_body(transaction));
    if (!reply) co_return std::unexpected(reply.error());
    co_return judged(transaction_answer(reply->status, reply->body));
  }
  Answered<std::int64_t> grant(std::chrono::seconds time) override {
    const auto reply = co_await call(kGrantPath, grant_body(time));
    if (!reply) co_return std::unexpected(reply.error());
    co_return judged(grant_answer(reply->status, reply->body));
  }
  Answered<bool> renew(std::int64_t lease) override {
    const auto reply = co_await call(kRenewPath, lease_body(lease));
    if (!reply) co_return std::unexpected(reply.error());
    co_return judged(renew_answer(reply->status, reply->body));
  }
  Answered<bool> revoke(std::int64_t lease) override {
    const auto reply = co_await call(kRevokePath, lease_body(lease));
    if (!reply) co_return std::unexpected(reply.error());
    co_return judged(revoke_answer(reply->status, reply->body));
  }
  Answered<bool> watch(std::string key, std::string end, std::int64_t revision) override {
    const auto body = watch_body(key, end, revision);
    const auto ready = co_await connect();
    if (!ready) co_return std::unexpected(ready.error());
    const auto wire = wire_;
    const mad::Deadline deadline(all_->clock, kPatienceOfCall, closing(wire));
    const auto post = post_of(kWatchPath, body);
    const auto [not_sent, sent] = co_await http::async_write(wire->stream, *post, kAsTuple);
    if (not_sent) co_return std::unexpected(failed(wire, deadline, not_sent));
    lines_ = std::make_shared<Lines>();
    lines_->parser.header_limit(kLongestHeader);
    lines_->parser.body_limit(boost::none);
    const auto lines = lines_;
    const auto [not_read, read] =
        co_await http::async_read_header(wire->stream, wire->buffer, lines->parser, kAsTuple);
    if (not_read) co_return std::unexpected(failed(wire, deadline, not_read));
    const auto status = lines->parser.get().result_int();
    if (status / 100 != 2) co_return std::unexpected(lost(wire, fmt::format("HTTP status {}", status)));
    co_return true;
  }
  Answered<std::int64_t> changed() override {
    const auto wire = wire_;
    const auto lines = lines_;
    if (!wire || !lines) co_return std::unexpected(Error{.text = "no watch"});
    for (;;) {
      const auto end = lines->text.find('\n');
      if (end != std::string::npos) {
        const auto line = lines->text.substr(0, end);
        lines->text.erase(0, end + 1);
        co_return watch_word(line);
      }
      if (lines->text.size() > kLongestLine || lines->parser.is_done() || !wire->open)
        co_return std::unexpected(lost(wire, "the watch has ended"));
      auto& body = lines->parser.get().body();
      body.data = lines->piece.data();
      body.size = lines->piece.size();
      auto [error, read] =
          co_await http::async_read_some(wire->stream, wire->buffer, lines->parser, kAsTuple);
      if (error && error != http::error::need_buffer) co_return std::unexpected(lost(wire, error.message()));
      lines->text.append(lines->piece.data(), lines->piece.size() - lines->parser.get().body().size);
    }
  }
  void close() override {
    closed_ = true;
    if (wire_) wire_->close();
  }

 private:
  struct Lines {
    http::response_parser<http::buffer_body> parser;
    std::array<char, 16'384> piece{};
    std::string text;  ///< that is no whole line yet
  };

  static std::shared_ptr<const Post> post_to(const std::string& host, std::string_view path,
                                             std::string body) {
    auto post = std::make_shared<Post>(http::verb::post, boost::beast::string_view(path.data(), path.size()),
                                       11, std::move(body));
    post->set(http::field::host, host);
    post->set(http::field::user_agent, "smd");
    post->set(http::field::content_type, "application/json");
    post->prepare_payload();
    return post;
  }
  std::shared_ptr<const Post> post_of(std::string_view path, std::string body) const {
    return post_to(wire_->peer, path, std::move(body));
  }
  /// The next connection is to another member.
  void leave(const WirePtr& wire) {
    if (all_->endpoints.at(all_->next).shown == wire->peer)
      all_->next = (all_->next + 1) % all_->endpoints.size();
  }
  /// One without a quorum answers, and says that it can do nothing.
  template <class T>
  std::expected<T, Error> judged(std::expected<T, Error> answer) {
    if (!answer && answer.error().kind == ErrorKind::unreachable) leave(wire_);
    return answer;
  }
  Error failed(const WirePtr& wire, const mad::Deadline& deadline, const error_code& error) {
    leave(wire);
    return lost(wire, deadline.over() ? "no answer in 3 s" : error.message());
  }

  asio::awaitable<std::expected<Reply, Error>> call(std::string_view path, std::string body) {
    const auto ready = co_await connect();
    if (!ready) co_return std::unexpected(ready.error());
    const auto wire = wire_;
    const mad::Deadline deadline(all_->clock, kPatienceOfCall, closing(wire));
    const auto post = post_of(path, std::move(body));
    const auto [not_sent, sent] = co_await http::async_write(wire->stream, *post, kAsTuple);
    if (not_sent) co_return std::unexpected(failed(wire, deadline, not_sent));
    http::response_parser<http::string_body> answer;
    answer.header_limit(kLongestHeader);
    answer.body_limit(kLongestAnswer);
    const auto [not_read, read] = co_await http::async_read(wire->stream, wire->buffer, answer, kAsTuple);
    if (not_read) co_return std::unexpected(failed(wire, deadline, not_read));
    if (!answer.get().keep_alive()) wire->close();
    co_return Reply{.status = answer.get().result_int(), .body = std::move(answer.get().body())};
  }

  /// Where there is no connection, one to the first member that takes it.
  Answered<bool> connect() {
    if (closed_) co_return std::unexpected(Error{.text = "closed"});
    if (wire_ && wire_->open) co_return true;
    Error error{.text = "no member"};
    for (std::size_t i = 0; i < all_->endpoints.size(); ++i) {
      const auto& endpoint = all_->endpoints.at(all_->next);
      const auto wire = std::make_shared<Wire>(all_->executor, all_->context);
      wire->peer = endpoint.shown;
      wire_ = wire;
      const auto reason = co_await shake_hands(wire, endpoint);
      if (reason.empty() && !closed_) co_return true;
      wire->close();
      error = lost(wire, reason);
      if (closed_) break;
      leave(wire);
    }
    co_return std::unexpected(std::move(error));
  }

  /// Empty: there is a connection.
  asio::awaitable<std::string> shake_hands(WirePtr wire, Endpoint endpoint) {
    const mad::Deadline deadline(all_->clock, kPatienceOfCall, closing(wire));
    const auto [unknown, ends] =
        co_await wire->resolver.async_resolve(endpoint.host, endpoint.port, kAsTuple);
    if (unknown)
      co_return deadline.over() ? std::string("its name is not resolved in 3 s") : unknown.message();
    const auto [refused, end] = co_await asio::async_connect(wire->stream.next_layer(), ends, kAsTuple);
    if (refused) co_return deadline.over() ? std::string("no connection in 3 s") : refused.message();
    error_code error;
    wire->stream.next_layer().set_option(tcp::no_delay(true), error);
    const auto not_known = co_await tls::shake_hands_with(&wire->stream, endpoint.host);
    if (not_known)
      co_return deadline.over() ? std::string("no handshake of TLS in 3 s") : not_known.message();
    co_return std::string();
  }

  std::shared_ptr<Shared> all_;
  WirePtr wire_;
  std::shared_ptr<Lines> lines_;
  bool closed_ = false;
};

}  // namespace

HttpClients::HttpClients(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClients::~HttpClients() = default;

std::expected<std::unique_ptr<HttpClients>, std::string> HttpClients::open(
    asio::any_io_executor executor, mad::Clock& clock, const std::vector<std::string>& urls,
    const tls::Files& files) {
  auto context = tls::client_context(files, tls::Minimum::tls_1_2);
  if (!context) return std::unexpected(context.error());
  auto impl = std::make_shared<Impl>(std::move(executor), clock, std::move(*context));
  for (const auto& url : urls) {
    const auto endpoint = endpoint_of(url);
    if (!endpoint) return std::unexpected(fmt::format("{}: not \"https://HOST:PORT\"", url));
    impl->endpoints.push_back(*endpoint);
  }
  return std::unique_ptr<HttpClients>(new HttpClients(std::move(impl)));
}

ClientPtr HttpClients::make() { return std::make_shared<HttpClient<Impl>>(impl_); }

}  // namespace smd::etcd
