// SPDX-License-Identifier: Apache-2.0
// Answers in pieces: those that are long, and those without an end.
#include <fmt/format.h>

#include <string_view>

#include "smd/api/server.h"
#include "smd/base/unix_time.h"

namespace smd::api {
namespace {

/// Between two looks whether the client may still see what it gets.
constexpr mad::Duration kLook = std::chrono::milliseconds(400);
/// After so long without a byte the client gets a comment, and a client that is gone is found out.
constexpr mad::Duration kQuiet = std::chrono::seconds(15);

constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// A chunk of HTTP/1.1; of HTTP/1.0 the bytes themselves.
std::string chunk_of(std::string piece, bool chunked) {
  return chunked ? fmt::format("{:x}\r\n{}\r\n", piece.size(), piece) : std::move(piece);
}

}  // namespace

/// The body and its rest, made piece by piece as the client takes them.
asio::awaitable<bool> Server::send_rest(Place place, std::shared_ptr<const Answer> answer, std::string header,
                                        bool keep) {
  const bool chunked = header.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos;
  header += chunk_of(answer->body, chunked);
  const bool begun = co_await write(place, asio::buffer(header));
  if (!begun) co_return false;
  for (;;) {
    auto piece = std::make_shared<std::optional<std::string>>();
    co_await compute_.execute([&] { *piece = answer->rest->next(sm::unix_now(), false); });
    if (!*piece) break;
    const auto bytes = chunk_of(*std::move(*piece), chunked);
    const bool taken = co_await write(place, asio::buffer(bytes));
    if (!taken) co_return false;
  }
  if (!chunked) co_return false;
  const bool ended = co_await write(place, asio::buffer(kLastChunk));
  co_return ended&& keep;
}

/// One of the streams; wakes those that wait.
class Server::Streaming {
 public:
  explicit Streaming(Server& server) : server_(server) { ++server_.streams_; }
  Streaming(const Streaming&) = delete;
  Streaming& operator=(const Streaming&) = delete;
  ~Streaming() { --server_.streams_; }

 private:
  Server& server_;
};

bool Server::has_room_for_stream() const { return streams_ < limits_.connections / 2; }

/// From start() on: news are what streams wait for.
void Server::listen_to_events() {
  const events::Wants wants{.kinds = events::kinds_of<events::NamedLogEvent>};
  heard_by_.emplace(executor_, backend_.events(), wants,
                    events::Subscriber::Calls{.event = [this](const events::Event&) {
                      ++heard_;
                      news_.wake_all();
                    }});
}

/// Wakes streams now and then, as long as there are any.
asio::awaitable<void> Server::look_at_streams() {
  while (streams_ != 0) {
    const bool time = co_await clock_.sleep(kLook);
    if (!time) co_return;
    news_.wake_all();
  }
  looking_ = false;
}

asio::awaitable<void> Server::send_stream(Place place, std::shared_ptr<Stream> stream) {
  const Streaming one(*this);
  if (!std::exchange(looking_, true)) tasks_.spawn(look_at_streams());
  auto sent = clock_.now();
  for (;;) {
    const auto heard = heard_;
    const bool quiet = clock_.now() - sent >= kQuiet;
    auto piece = std::make_shared<std::optional<std::string>>();
    co_await compute_.execute([&] { *piece = stream->next(sm::unix_now(), quiet); });
    if (!*piece) co_return;
    if (!(*piece)->empty()) {
      const bool taken = co_await write(place, asio::buffer(**piece));
      if (!taken) co_return;
      sent = clock_.now();
      continue;
    }
    if (heard_ != heard) continue;
    const bool woken = co_await news_.wait();
    if (!woken) co_return;
  }
}

}  // namespace smd::api
