// SPDX-License-Identifier: Apache-2.0
#include "smd/api/client.h"

#include <fmt/format.h>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
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

ClientError failed(const std::filesystem::path& socket, const error_code& error) {
  if (error.value() == ENOENT || error.value() == ECONNREFUSED)
    return {.no_daemon = true, .text = fmt::format("no daemon at {}", socket.string())};
  auto text = fmt::format("{}: {}", socket.string(), error.message());
  if (error.value() == EACCES) text += ": " + who_may_ask(socket);
  return {.no_daemon = false, .text = std::move(text)};
}

class Conversation {
 public:
  explicit Conversation(const std::filesystem::path& path) : path_(path), socket_(io_) {}

  std::expected<Reply, ClientError> ask(const http::request<http::string_body>& request,
                                        const BodySink& sink) {
    const auto endpoint = endpoint_of(path_);
    if (!endpoint) return std::unexpected(ClientError{.no_daemon = false, .text = endpoint.error()});
    error_code error;
    socket_.connect(*endpoint, error);
    if (!error) http::write(socket_, request, error);
    http::response_parser<http::buffer_body> parser;
    parser.body_limit(kNoLimit);
    if (!error) http::read_header(socket_, buffer_, parser, error);
    if (error) return std::unexpected(failed(path_, error));
    Reply reply{.status = parser.get().result_int(), .body = {}};
    const bool to_sink = sink && reply.status / 100 == 2;
    std::vector<char> piece(std::size_t{256} * 1024);
    while (!parser.is_done()) {
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      http::read_some(socket_, buffer_, parser, error);  // what has come is handed over at once
      if (error == http::error::need_buffer) error = {};
      if (error) return std::unexpected(failed(path_, error));
      const std::string_view bytes(piece.data(), piece.size() - parser.get().body().size);
      if (!to_sink) {
        reply.body += bytes;
      } else if (auto taken = sink(bytes); !taken) {
        return std::unexpected(ClientError{.no_daemon = false, .text = std::move(taken.error())});
      }
    }
    return reply;
  }

 private:
  const std::filesystem::path& path_;
  asio::io_context io_;
  Protocol::socket socket_;
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
                                      std::string_view target, std::string_view body, const BodySink& sink) {
  auto request = plain_request(method, target);
  if (!body.empty()) request.set(http::field::content_type, "application/json");
  request.body() = body;
  request.prepare_payload();
  return Conversation(socket).ask(request, sink);
}

std::expected<Reply, ClientError> follow(const std::filesystem::path& socket, std::string_view target,
                                         const BodySink& sink) {
  auto request = plain_request("GET", target);
  request.set(http::field::accept, "text/event-stream");
  return Conversation(socket).ask(request, sink);
}

}  // namespace smd::api
