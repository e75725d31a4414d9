// SPDX-License-Identifier: Apache-2.0
#pragma once
// Asking a running daemon, from a program that has nothing else to do meanwhile.

#include <chrono>
#include <expected>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace smd::api {

struct ClientError {
  bool no_daemon = false;  ///< there is no daemon at the socket
  bool timed_out = false;  ///< there is one, and it has sent nothing for as long as was allowed
  std::string text;        ///< one line
};

struct Reply {
  unsigned status = 0;
  std::string body;  ///< empty where `sink` took it
};

/// Takes a piece of a long answer; says what is wrong with it.
using BodySink = std::function<std::expected<void, std::string>(std::string_view)>;

/// How long a daemon may send nothing before it counts as unresponsive.
inline constexpr std::chrono::seconds kUsualTimeout{60};

/// One request. With a sink the body of a good answer goes there in pieces.
std::expected<Reply, ClientError> ask(const std::filesystem::path& socket, std::string_view method,
                                      std::string_view target, std::string_view body = {},
                                      const BodySink& sink = {},
                                      std::chrono::seconds timeout = kUsualTimeout);

/// Server-sent events, as they come, until the daemon ends them or `sink` has an error. Only the first event
/// after `last_id` and later ones where it is not empty. `timeout`: until the answer begins; between events
/// there is no limit.
std::expected<Reply, ClientError> follow(const std::filesystem::path& socket, std::string_view target,
                                         const std::string& last_id, const BodySink& sink,
                                         std::chrono::seconds timeout = kUsualTimeout);

}  // namespace smd::api
