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

/// What a subnet says that has not done it.
struct SubnetError {
  std::string subnet;
  std::string text;
  /// How much of what was asked for the subnet has. 0: not the node that was named.
  unsigned has = 0;
};
/// Texts of those that have most, each with its subnets before it unless it begins so. Not empty.
std::string joined(const std::vector<SubnetError>& errors);
/// Whether an error says that its subnet does not have the node or port that was named.
bool is_elsewhere(std::string_view error);

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
  /// `code`: set to that of another refusal, where it has one; may be null.
  std::expected<std::optional<boost::json::value>, std::string> find(const std::string& target,
                                                                     std::string* why,
                                                                     std::string* code = nullptr) const;
  using Act = std::function<Done(const std::string& name, bool several)>;
  /// Calls `act` for the subnet that was named, else for all that have a name yet: what one cannot do keeps
  /// none of the others from it. Where there are several, errors name their subnets, but for one that all
  /// have. `code`: as of subnets().
  Done each(const Act& act, std::string* code = nullptr) const { return each_that_has(act, {}, code); }
  /// SubnetError::has of an error, which `act` has returned.
  using Has = std::function<unsigned(const std::string& name, const std::string& error)>;
  /// The same: what a subnet says that has less of what was asked for than another does not count. `has` may
  /// be null.
  Done each_that_has(const Act& act, const Has& has, std::string* code = nullptr) const;
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
