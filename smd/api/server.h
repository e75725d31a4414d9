// SPDX-License-Identifier: Apache-2.0
#pragma once
// HTTP/1.1 on the Unix socket.

#include <boost/beast/core/flat_buffer.hpp>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "smd/api/backend.h"
#include "smd/api/listen.h"
#include "smd/api/request.h"
#include "smd/base/compute.h"

namespace smd::api {

struct ServerLimits {
  /// Where all are taken, the one that has been idle longest gives way; where none is idle, the one whose
  /// client has not read a piece of its answer for longest.
  std::size_t connections = 64;
  std::uint32_t header = 16'384;                     ///< bytes
  std::uint64_t body = 1'048'576;                    ///< bytes
  mad::Duration request = std::chrono::seconds(10);  ///< to send a request, and between two of them
  mad::Duration piece = std::chrono::seconds(30);    ///< to take a piece of the answer
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

  /// Serves what comes to `acceptor`, which listens at `path`.
  void start(Protocol::acceptor acceptor, std::filesystem::path path);
  /// Removes the socket's file and accepts no further client.
  void close();
  /// The same, and ends every connection.
  asio::awaitable<void> stop();
  std::size_t connections() const { return connections_.size(); }

 private:
  struct Connection {
    Connection(Protocol::socket opened, std::size_t most) : socket(std::move(opened)), buffer(most) {}
    Protocol::socket socket;
    boost::beast::flat_buffer buffer;
    bool idle = true;  ///< no request of it is being answered
    /// When the piece was begun that is being sent; nothing: none is.
    std::optional<mad::TimePoint> sends_since{};
  };
  using Place = std::list<Connection>::iterator;

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(Place place);
  asio::awaitable<bool> one(Place place);
  asio::awaitable<bool> reply(Place place, std::shared_ptr<const Answer> answer, unsigned version, bool keep);
  asio::awaitable<bool> send_bundle(Place place, std::shared_ptr<const Answer> answer);
  asio::awaitable<bool> write(Place place, asio::const_buffer bytes);
  std::optional<mad::TimePoint> make_room();
  void give_way(Connection& connection);

  mad::Clock& clock_;
  sm::Compute& compute_;
  Backend& backend_;
  ServerLimits limits_;
  std::filesystem::path path_;
  Protocol::acceptor acceptor_;
  std::list<Connection> connections_;
  mad::WaitList room_;
  bool gives_way_ = false;  ///< a connection was closed for a new one, and has not ended yet
  mad::TaskGroup tasks_;
};

}  // namespace smd::api
