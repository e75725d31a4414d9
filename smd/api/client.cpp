// SPDX-License-Identifier: Apache-2.0
#include "smd/api/client.h"

#include <fmt/format.h>
#include <poll.h>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "mad/asio.h"
#include "mad/base/ownership.h"
#include "smd/api/listen.h"

namespace smd::api {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

/// Of the socket's two ends only one is foreign: a daemon of ours sends no more than it has.
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The packaged daemon's socket where it cannot be looked at.
std::string who_may_ask(const std::filesystem::path& socket) {
  const auto ownership = base::ownership_of(socket);
  return fmt::format("root and members of group {} may ask", ownership ? ownership->group : "smd");
}

ClientError failure_of(const std::filesystem::path& socket, const error_code& error) {
  if (error.value() == ENOENT || error.value() == ECONNREFUSED)
    return {.no_daemon = true, .text = fmt::format("no daemon at {}", socket.string())};
  auto text = fmt::format("{}: {}", socket.string(), error.message());
  if (error.value() == EACCES) text += ": " + who_may_ask(socket);
  return {.no_daemon = false, .text = std::move(text)};
}

/// A socket whose reads and writes end with timed_out when nothing moves for so long.
class PatientSocket {
 public:
  explicit PatientSocket(asio::io_context& io) : socket_(io) {}
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }  ///< negative: none

  /// A stopped daemon's queue of clients may be full.
  void connect(const Protocol::endpoint& endpoint, error_code& error) {
    constexpr std::chrono::milliseconds kPause{20};
    const auto end = std::chrono::steady_clock::now() + timeout_;
    socket_.open(endpoint.protocol(), error);
    if (!error) socket_.non_blocking(true, error);
    while (!error) {
      socket_.connect(endpoint, error);
      if (error != asio::error::would_block) return;
      error = {};
      ::poll(nullptr, 0, static_cast<int>(kPause.count()));
      if (std::chrono::steady_clock::now() >= end) error = asio::error::timed_out;
    }
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& into, error_code& error) {
    await(POLLIN, error);
    return error ? 0 : socket_.read_some(into, error);
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& from, error_code& error) {
    await(POLLOUT, error);
    return error ? 0 : socket_.write_some(from, error);
  }
  /// Throwing forms, which Beast's concepts ask for.
  template <class Buffers>
  std::size_t read_some(const Buffers& into) {
    return checked([&](error_code& error) { return read_some(into, error); });
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& from) {
    return checked([&](error_code& error) { return write_some(from, error); });
  }

 private:
  template <class Act>
  static std::size_t checked(const Act& act) {
    error_code error;
    const auto bytes = act(error);
    if (error) throw boost::system::system_error(error);
    return bytes;
  }
  void await(short events, error_code& error) {
    pollfd poll{.fd = socket_.native_handle(), .events = events, .revents = 0};
    int ready = 0;
    do {
      ready = ::poll(&poll, 1, static_cast<int>(timeout_.count()));
    } while (ready < 0 && errno == EINTR);
    error = ready > 0 ? error_code{} : error_code(asio::error::timed_out);
  }

  Protocol::socket socket_;
  std::chrono::milliseconds timeout_ = kUsualTimeout;
};

class Conversation {
 public:
  Conversation(const std::filesystem::path& path, std::chrono::seconds timeout)
      : path_(path), timeout_(timeout), socket_(io_) {}

  /// `patient`: between the pieces of the body there is no limit.
  std::expected<Reply, ClientError> ask(const http::request<http::string_body>& request, const BodySink& sink,
                                        bool patient) {
    const auto endpoint = endpoint_of(path_);
    if (!endpoint) return std::unexpected(ClientError{.no_daemon = false, .text = endpoint.error()});
    error_code error;
    socket_.set_timeout(timeout_);
    socket_.connect(*endpoint, error);
    if (!error) http::write(socket_, request, error);
    http::response_parser<http::buffer_body> parser;
    parser.body_limit(kNoLimit);
    if (!error) http::read_header(socket_, buffer_, parser, error);
    if (error) return std::unexpected(failed(error));
    if (patient) socket_.set_timeout(std::chrono::milliseconds(-1));
    return read_body(parser, sink);
  }

 private:
  std::expected<Reply, ClientError> read_body(http::response_parser<http::buffer_body>& parser,
                                              const BodySink& sink) {
    Reply reply{.status = parser.get().result_int(), .body = {}};
    const bool to_sink = sink && reply.status / 100 == 2;
    std::vector<char> piece(std::size_t{256} * 1024);
    while (!parser.is_done()) {
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      error_code error;
      http::read_some(socket_, buffer_, parser, error);  // what has come is handed over at once
      if (error == http::error::need_buffer) error = {};
      if (error) return std::unexpected(failed(error));
      const std::string_view bytes(piece.data(), piece.size() - parser.get().body().size);
      if (!to_sink) {
        reply.body += bytes;
      } else if (auto taken = sink(bytes); !taken) {
        return std::unexpected(ClientError{.no_daemon = false, .text = std::move(taken.error())});
      }
    }
    return reply;
  }
  ClientError failed(const error_code& error) const {
    if (error != asio::error::timed_out) return failure_of(path_, error);
    return {
        .timed_out = true,
        .text = fmt::format("{}: the daemon has not answered within {} s", path_.string(), timeout_.count())};
  }

  const std::filesystem::path& path_;
  std::chrono::seconds timeout_;
  asio::io_context io_;
  PatientSocket socket_;
  beast::flat_buffer buffer_;
};

}  // namespace

namespace {

http::request<http::string_body> plain_request(std::string_view method, std::string_view target) {
  http::request<http::string_body> request;
  request.method_string({method.data(), method.size()});
  request.target({target.data(), target.size()});
  request.version(11);
  request.set(http::field::host, "smd");
  request.set(http::field::connection, "close");
  return request;
}

}  // namespace

std::expected<Reply, ClientError> ask(const std::filesystem::path& socket, std::string_view method,
                                      std::string_view target, std::string_view body, const BodySink& sink,
                                      std::chrono::seconds timeout) {
  auto request = plain_request(method, target);
  if (!body.empty()) request.set(http::field::content_type, "application/json");
  request.body() = body;
  request.prepare_payload();
  return Conversation(socket, timeout).ask(request, sink, false);
}

std::expected<Reply, ClientError> follow(const std::filesystem::path& socket, std::string_view target,
                                         const std::string& last_id, const BodySink& sink,
                                         std::chrono::seconds timeout) {
  auto request = plain_request("GET", target);
  request.set(http::field::accept, "text/event-stream");
  if (!last_id.empty()) request.set("Last-Event-ID", last_id);
  return Conversation(socket, timeout).ask(request, sink, true);
}

}  // namespace smd::api
