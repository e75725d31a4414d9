// SPDX-License-Identifier: Apache-2.0
#include "smd/api/local_listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

namespace smd::api {
namespace {

/// Without a look at the system's list of users, which may be far away.
std::string user_of(Protocol::socket& socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return "local";
  return who.uid == 0 ? "root" : fmt::format("uid {}", who.uid);
}

class LocalChannel final : public Channel {
 public:
  explicit LocalChannel(Protocol::socket socket)
      : socket_(std::move(socket)), peer_{.local = true, .address = {}, .user = user_of(socket_)} {}

  asio::awaitable<bool> open() override { co_return true; }
  asio::awaitable<std::pair<error_code, std::size_t>> read(asio::mutable_buffer into) override {
    const auto [error, bytes] = co_await socket_.async_read_some(into, kTuple);
    co_return std::pair(error, bytes);
  }
  asio::awaitable<error_code> write(asio::const_buffer bytes) override {
    const auto [error, written] = co_await asio::async_write(socket_, bytes, kTuple);
    co_return error;
  }
  asio::awaitable<void> finish() override {
    error_code ignored;
    socket_.shutdown(Protocol::socket::shutdown_both, ignored);
    co_return;
  }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }
  const Peer& peer() const override { return peer_; }

 private:
  Protocol::socket socket_;
  Peer peer_;
};

}  // namespace

LocalListener::LocalListener(Protocol::acceptor acceptor, std::filesystem::path path, mad::Clock& clock)
    : acceptor_(std::move(acceptor)), path_(std::move(path)), clock_(clock) {}

asio::awaitable<std::unique_ptr<Channel>> LocalListener::next() {
  for (;;) {
    auto [error, socket] = co_await acceptor_.async_accept(kTuple);
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) co_return nullptr;
    if (!error) co_return std::make_unique<LocalChannel>(std::move(socket));
    // No descriptors left, mostly: some will be free again.
    const bool time = co_await clock_.sleep(std::chrono::milliseconds(100));
    if (!time) co_return nullptr;
  }
}

void LocalListener::close() {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
  error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace smd::api
