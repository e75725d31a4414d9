// SPDX-License-Identifier: Apache-2.0
#include "smd/api/server.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>
#include <fstream>
#include <utility>
#include <vector>

#include "smd/api/router.h"
#include "smd/api/tar.h"

namespace smd::api {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

/// Ends what a socket waits for when the time is over.
class Deadline {
 public:
  Deadline(mad::Clock& clock, Protocol::socket& socket, mad::Duration time)
      : clock_(clock), timer_(clock.call_at(clock.now() + time, [&socket] {
          error_code ignored;
          socket.close(ignored);
        })) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { clock_.cancel(timer_); }

 private:
  mad::Clock& clock_;
  mad::Clock::TimerId timer_;
};

/// While a piece is being sent: since when.
class Sending {
 public:
  Sending(std::optional<mad::TimePoint>& since, mad::TimePoint now) : since_(since) { since_ = now; }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  ~Sending() { since_.reset(); }

 private:
  std::optional<mad::TimePoint>& since_;
};

bool is_http_error(const error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_version).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

Answer refusal_of(const error_code& error) {
  if (error == http::error::body_limit) return error_of(413, "too_large", "the body is too large");
  if (error == http::error::header_limit) return error_of(431, "too_large", "the header is too large");
  return error_of(400, "not_http", error.message());
}

std::uint64_t length_of(const Answer& answer) {
  if (!answer.bundle) return answer.body.size();
  std::uint64_t length = kTarEnd;
  for (const auto& file : answer.bundle->files()) length += kTarBlock + file.size + tar_padding(file.size);
  return length;
}

http::response<http::empty_body> header_of(const Answer& answer, unsigned version, bool keep) {
  http::response<http::empty_body> header;
  header.version(version);
  header.result(answer.status);
  header.set(http::field::server, "smd");
  header.set(http::field::content_type, answer.bundle ? "application/x-tar" : "application/json");
  header.set(http::field::cache_control, "no-store");
  if (!answer.allow.empty()) header.set(http::field::allow, answer.allow);
  header.content_length(length_of(answer));
  header.keep_alive(keep);
  return header;
}

}  // namespace

Server::Server(asio::io_context& io, mad::Clock& clock, sm::Compute& compute, Backend& backend,
               ServerLimits limits)
    : clock_(clock),
      compute_(compute),
      backend_(backend),
      limits_(limits),
      acceptor_(io),
      tasks_(io.get_executor()) {}

void Server::start(Protocol::acceptor acceptor, std::filesystem::path path) {
  acceptor_ = std::move(acceptor);
  path_ = std::move(path);
  tasks_.spawn(accept());
}

void Server::close() {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
  error_code ignored;
  acceptor_.close(ignored);
}

asio::awaitable<void> Server::stop() {
  close();
  co_await tasks_.stop();
}

asio::awaitable<void> Server::accept() {
  for (;;) {
    auto [error, socket] = co_await acceptor_.async_accept(kTuple);
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) co_return;
    if (error) {  // no descriptors left, mostly: some will be free again
      const bool time = co_await clock_.sleep(std::chrono::milliseconds(100));
      if (!time) co_return;
      continue;
    }
    while (connections_.size() >= limits_.connections) {
      const auto next = make_room();
      mad::Clock::TimerId timer = 0;
      if (next) timer = clock_.call_at(*next, [this] { room_.wake_one(); });
      const bool woken = co_await room_.wait();
      if (next) clock_.cancel(timer);
      if (!woken) co_return;
    }
    const auto place = connections_.emplace(connections_.end(), std::move(socket),
                                            std::size_t{limits_.header} + limits_.body);
    tasks_.spawn(serve(place));
  }
}

/// Closes one connection for a new one. Where none may be closed yet: when to try again.
std::optional<mad::TimePoint> Server::make_room() {
  if (gives_way_) return std::nullopt;
  // Idle connections stand in the order in which they became idle.
  if (const auto idle = std::ranges::find(connections_, true, &Connection::idle);
      idle != connections_.end()) {
    give_way(*idle);
    return std::nullopt;
  }
  Connection* oldest = nullptr;
  for (auto& one : connections_) {
    if (one.sends_since && (oldest == nullptr || *one.sends_since < *oldest->sends_since)) oldest = &one;
  }
  const auto stuck = (oldest != nullptr ? *oldest->sends_since : clock_.now()) + limits_.stuck;
  if (clock_.now() < stuck) return stuck;
  give_way(*oldest);
  return std::nullopt;
}

void Server::give_way(Connection& connection) {
  gives_way_ = true;
  error_code ignored;
  connection.socket.close(ignored);
}

asio::awaitable<void> Server::serve(Place place) {
  bool more = true;
  while (more) {
    place->idle = true;
    connections_.splice(connections_.end(), connections_, place);
    more = co_await one(place);
    more = more && room_.empty();  // a new client waits for a place
  }
  error_code ignored;
  place->socket.shutdown(Protocol::socket::shutdown_both, ignored);
  connections_.erase(place);
  gives_way_ = false;
  room_.wake_one();
}

/// One request and its answer. False: no more after it.
asio::awaitable<bool> Server::one(Place place) {
  http::request_parser<http::string_body> parser;
  parser.header_limit(limits_.header);
  parser.body_limit(limits_.body);
  error_code failed;
  {
    const Deadline deadline(clock_, place->socket, limits_.request);
    const auto [error, bytes] = co_await http::async_read(place->socket, place->buffer, parser, kTuple);
    failed = error;
  }
  place->idle = false;
  if (failed && is_http_error(failed)) {
    const auto refused = std::make_shared<const Answer>(refusal_of(failed));
    co_await reply(place, refused, 11, false);
    co_return false;
  }
  if (failed) co_return false;
  const auto message = parser.release();
  const Request request{.method = std::string(message.method_string()),
                        .target = std::string(message.target()),
                        .body = message.body()};
  auto answered = std::make_shared<Answer>();
  co_await compute_.execute([&] { *answered = answer(request, backend_); });
  co_return co_await reply(place, answered, message.version(), message.keep_alive());
}

asio::awaitable<bool> Server::reply(Place place, std::shared_ptr<const Answer> answer, unsigned version,
                                    bool keep) {
  auto header = header_of(*answer, version, keep);
  http::response_serializer<http::empty_body> serializer(header);
  error_code failed;
  {
    const Deadline deadline(clock_, place->socket, limits_.piece);
    const Sending sending(place->sends_since, clock_.now());
    const auto [error, bytes] = co_await http::async_write_header(place->socket, serializer, kTuple);
    failed = error;
  }
  if (failed) co_return false;
  if (answer->bundle) {
    const bool sent = co_await send_bundle(place, answer);
    co_return sent&& keep;
  }
  constexpr std::size_t kPiece = std::size_t{256} * 1024;
  for (std::size_t at = 0; at < answer->body.size(); at += kPiece) {
    const auto size = std::min(kPiece, answer->body.size() - at);
    const bool sent = co_await write(place, asio::buffer(answer->body.data() + at, size));
    if (!sent) co_return false;
  }
  co_return keep;
}

asio::awaitable<bool> Server::send_bundle(Place place, std::shared_ptr<const Answer> answer) {
  std::vector<char> piece(std::size_t{256} * 1024);
  for (const auto& file : answer->bundle->files()) {
    const auto header = tar_header(file.name, file.size);
    const bool begun = co_await write(place, asio::buffer(header));
    if (!begun) co_return false;
    std::ifstream in(file.path, std::ios::binary);
    auto left = file.size;
    while (left != 0) {
      const auto size = std::min<std::uint64_t>(left, piece.size());
      if (!in.read(piece.data(), static_cast<std::streamsize>(size))) co_return false;
      const bool sent = co_await write(place, asio::buffer(piece.data(), size));
      if (!sent) co_return false;
      left -= size;
    }
    const std::array<char, kTarBlock> zeros{};
    const bool padded = co_await write(place, asio::buffer(zeros.data(), tar_padding(file.size)));
    if (!padded) co_return false;
  }
  const std::array<char, kTarEnd> end{};
  co_return co_await write(place, asio::buffer(end));
}

asio::awaitable<bool> Server::write(Place place, asio::const_buffer bytes) {
  const Deadline deadline(clock_, place->socket, limits_.piece);
  const Sending sending(place->sends_since, clock_.now());
  const auto [error, written] = co_await asio::async_write(place->socket, bytes, kTuple);
  co_return !error;
}

}  // namespace smd::api
