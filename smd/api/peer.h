// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is at the other end of a connection.

#include <optional>
#include <string>

#include "smd/access/token.h"

namespace smd::api {

/// A request that a standby hands on.
struct HandedOn {
  std::string subnet;      ///< over whose link it comes, as it is named here
  std::string by;          ///< port GUID of the standby's SM
  std::string caller;      ///< name of the token, or of the local user
  bool has_token = false;  ///< of `caller`
  access::Role role{};     ///< that the standby has found
  friend bool operator==(const HandedOn&, const HandedOn&) = default;
};

struct Peer {
  bool local = true;                    ///< on the Unix socket, which only root and the group smd may use
  std::string address{};                ///< IP address; empty: local
  std::string user{};                   ///< of a local one: "root" or "uid 1000"
  std::optional<HandedOn> handed_on{};  ///< the client is another SM's
};

}  // namespace smd::api
