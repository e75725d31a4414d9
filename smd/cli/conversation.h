// SPDX-License-Identifier: Apache-2.0
#pragma once
// One conversation with a running daemon over its Unix socket.

#include <boost/json/value.hpp>
#include <chrono>
#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/api/client.h"

namespace smd::cli {

/// The error is one line for people.
using Done = std::expected<void, std::string>;

/// In the place of a refusal's code: the daemon does not answer.
inline constexpr std::string_view kNoAnswer = "no_answer";
/// The same: the daemon answers, and none of its subnets has a name yet.
inline constexpr std::string_view kNoSubnet = "no_subnet";

class Conversation {
 public:
  /// An empty `socket` is the usual one, an empty `subnet` all of them. Nothing is asked yet. `timeout`: of
  /// a daemon that sends nothing.
  Conversation(const std::string& socket, std::string subnet,
               std::chrono::seconds timeout = api::kUsualTimeout);

  const std::filesystem::path& socket() const { return socket_; }
  std::chrono::seconds timeout() const { return timeout_; }
  /// This one with a timeout of its own.
  Conversation within(std::chrono::seconds timeout) const;
  /// The body of a good answer; else what the daemon says of it. `code`: set to that of a refusal, where it
  /// has one, and to kNoAnswer where a daemon is there and does not answer in time; may be null.
  std::expected<boost::json::value, std::string> call(std::string_view method, const std::string& target,
                                                      const std::string& body = {},
                                                      std::string* code = nullptr) const;
  /// As call() with GET; nothing where the daemon says that it is not there (404), and `why` it says so.
  std::expected<std::optional<boost::json::value>, std::string> find(const std::string& target,
                                                                     std::string* why) const;
  /// Calls `act` for the subnet that was named, else for all that have a name yet: what one cannot do keeps
  /// none of the others from it. `code`: as of subnets().
  Done each(const std::function<Done(const std::string& name, bool several)>& act,
            std::string* code = nullptr) const;
  /// The subnet that was named, else all that have a name yet; at least one. `code`: set as by call(), and to
  /// kNoSubnet where none has; may be null.
  std::expected<std::vector<std::string>, std::string> subnets(std::string* code = nullptr) const;
  /// One was named: this.
  bool names_subnet() const { return !subnet_.empty(); }
  const std::string& named() const { return subnet_; }
  /// The subnet that was named, else the only one.
  std::expected<std::string, std::string> only_subnet() const;

 private:
  std::filesystem::path socket_;
  std::string subnet_;
  std::chrono::seconds timeout_;
};

/// "/v1/subnets/SUBNET/WHAT"
std::string path_of(const std::string& subnet, std::string_view what);
/// The message of the error in its body, escaped for a terminal; "status 503" where it has none.
std::string message_of(const api::Reply& reply);

}  // namespace smd::cli
