// SPDX-License-Identifier: Apache-2.0
#pragma once
// HTTP/1.1 for the clients of one listener.

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "smd/api/backend.h"
#include "smd/api/channel.h"
#include "smd/api/large_bodies.h"
#include "smd/api/listen.h"
#include "smd/api/request.h"
#include "smd/base/compute.h"
#include "smd/events/subscriber.h"

namespace smd::api {

struct ServerLimits {
  /// Where all are taken, the one that has been idle longest gives way; where none is idle, the one whose
  /// client has not read a piece of its answer for longest.
  std::size_t connections = 64;
  std::uint32_t header = 16'384;                      ///< bytes
  std::uint64_t body = std::uint64_t{4} * 1'048'576;  ///< bytes
  std::uint64_t body_of_stranger = 16'384;            ///< read of a client before its token is looked at
  mad::Duration handshake = std::chrono::seconds(5);  ///< before the first request
  mad::Duration idle = std::chrono::seconds(10);      ///< between two requests
  mad::Duration request = std::chrono::seconds(10);   ///< to send a request, once it has begun
  mad::Duration piece = std::chrono::seconds(30);     ///< to take a piece of the answer
  /// A client that takes longer for a piece gives way to a new one.
  mad::Duration stuck = std::chrono::milliseconds(100);
};

/// On one io_context's thread; answers are made by `compute`, so that a large answer delays no other client.
/// stop() must have ended before it dies.
class Server {
 public:
  /// Listens nowhere yet. All references outlive it.
  Server(asio::io_context& io, mad::Clock& clock, sm::Compute& compute, Backend& backend,
         ServerLimits limits = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves the clients of `listener`.
  void start(std::unique_ptr<Listener> listener);
  /// Serves what comes to `acceptor`, which listens at `path`.
  void start(Protocol::acceptor acceptor, std::filesystem::path path);
  /// Accepts no further client, and removes the file of a Unix socket.
  void close();
  /// The same, and ends every connection.
  asio::awaitable<void> stop();
  /// Clients that are connected now.
  std::size_t connections() const { return connections_.size(); }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  struct Connection {
    Connection(std::unique_ptr<Channel> opened, std::size_t most)
        : channel(std::move(opened)), buffer(most) {}
    std::unique_ptr<Channel> channel;
    boost::beast::flat_buffer buffer;
    bool idle = true;  ///< no request of it is being answered
    /// When the piece was begun that is being sent; nothing: none is.
    std::optional<mad::TimePoint> sends_since{};
  };
  using Place = std::list<Connection>::iterator;
  /// One request, as far as it has come.
  struct Reading {
    Parser parser;
    LargeBodies::PlacePtr large;      ///< null: the body is not large
    std::optional<Answer> refused{};  ///< by the header: the body is not read
  };
  class Streaming;

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(Place place);
  asio::awaitable<bool> one(Place place);
  asio::awaitable<error_code> read_request(Place place, Reading* reading);
  asio::awaitable<error_code> read_more(Place place);
  std::optional<Answer> refused_unread(Parser& parser, const Connection& connection);
  Request without_body(const Parser& parser, const Connection& connection) const;
  asio::awaitable<Answer> later(std::shared_ptr<const Later> begin);
  asio::awaitable<bool> reply(Place place, std::shared_ptr<const Answer> answer, std::string header,
                              bool keep);
  asio::awaitable<bool> send_rest(Place place, std::shared_ptr<const Answer> answer, std::string header,
                                  bool keep);
  asio::awaitable<bool> send_bundle(Place place, std::shared_ptr<const Answer> answer);
  asio::awaitable<bool> write(Place place, asio::const_buffer bytes);
  // server_stream.cpp
  bool has_room_for_stream() const;
  void listen_to_events();
  asio::awaitable<void> look_at_streams();
  asio::awaitable<void> send_stream(Place place, std::shared_ptr<Stream> stream);
  std::optional<mad::TimePoint> make_room();
  void give_way(Connection& connection);

  asio::any_io_executor executor_;
  mad::Clock& clock_;
  sm::Compute& compute_;
  Backend& backend_;
  ServerLimits limits_;
  std::unique_ptr<Listener> listener_;
  std::list<Connection> connections_;
  mad::WaitList room_;
  std::size_t streams_ = 0;  ///< half of the places at most
  std::uint64_t heard_ = 0;  ///< events
  bool looking_ = false;     ///< look_at_streams() runs
  mad::WaitList news_;       ///< streams that have sent all there is
  std::optional<events::Subscriber> heard_by_;
  bool gives_way_ = false;  ///< a connection was closed for a new one, and has not ended yet
  LargeBodies large_bodies_;
  mad::TaskGroup tasks_;
};

}  // namespace smd::api
