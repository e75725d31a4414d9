// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports that an operator has disabled: they stay so over sweeps, restarts and takeovers until they are
// enabled.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "mad/base/id.h"

namespace smd::policy {

using PortAt = std::pair<Guid, PortNum>;  ///< node GUID and port number

struct DisabledPort {
  PortAt peer{};           ///< the other end of its cable at that time; GUID 0: there was none
  std::string by;          ///< name of the token, or of the local user
  std::int64_t since = 0;  ///< seconds since 1970
  friend bool operator==(const DisabledPort&, const DisabledPort&) = default;
};
/// By the end that is disabled.
using DisabledPorts = std::map<PortAt, DisabledPort>;

/// The one with this end, whichever it is; end(): there is none.
inline DisabledPorts::const_iterator find_disabled(const DisabledPorts& ports, const PortAt& end) {
  const auto at = ports.find(end);
  if (at != ports.end()) return at;
  for (auto one = ports.begin(); one != ports.end(); ++one) {
    if (one->second.peer == end) return one;
  }
  return ports.end();
}

}  // namespace smd::policy
