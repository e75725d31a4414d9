// SPDX-License-Identifier: Apache-2.0
#pragma once
// A change that a client asks of a standby: the master does it, over the connection that copies its state.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "smd/store/replica_state.h"

namespace smd::replica {

/// Calls of one standby that the master has not answered; more are told to come again.
inline constexpr std::size_t kMostCalls = 16;
/// Calls without a caller that waits, which a standby tells in a second; they take no place of the others.
inline constexpr std::size_t kMostTold = 4;
/// Bytes of a body: what the API takes of a client.
inline constexpr std::uint32_t kLargestCall = std::uint32_t{4} * 1'048'576;

using Headers = std::vector<std::pair<std::string, std::string>>;  ///< of HTTP; names as clients write them

struct Call {
  std::uint64_t id = 0;    ///< of the standby
  bool has_token = false;  ///< the caller has shown one; else it is a local user of the standby's machine
  std::string caller{};    ///< name of the token, or of the user
  std::string role{};      ///< that the standby has found the caller to have
  std::string address{};   ///< of the client; empty: local
  std::string method{}, target{};
  Headers headers{};
  std::string body{};
  friend bool operator==(const Call&, const Call&) = default;
};

struct CallAnswer {
  std::uint64_t id = 0;      ///< of the call
  std::uint16_t status = 0;  ///< of HTTP; 0: nothing was done, and the body says why in one line
  store::Position at{};      ///< the change is in the master's stream up to here; epoch 0: there is none
  Headers headers{};
  std::string body{};
  friend bool operator==(const CallAnswer&, const CallAnswer&) = default;
};

/// The error is why the master has not answered, in one line.
using CallDone = std::move_only_function<void(std::expected<CallAnswer, std::string>)>;

}  // namespace smd::replica
