// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the operator and the fabric have settled for all answers.

#include <cstdint>
#include <vector>

#include "config/config.h"
#include "mad/base/link.h"

namespace smd::sa {

struct Settings {
  std::uint64_t sm_key = 0;  ///< that clients are trusted by (sa_key); 0: none is asked for
  /// PacketLifeTime of paths and groups, 4.096 µs * 2^n.
  std::uint8_t packet_life = 18;
  std::uint32_t queue = 4096;            ///< requests that may wait
  std::uint32_t per_source = 1024;       ///< of them from one LID
  std::uint32_t groups_per_port = 4096;  ///< multicast groups that a port may be in
  std::uint32_t services_per_port = 1024;
  std::uint32_t subscriptions_per_port = 256;
  /// All IPv6 solicited-node groups of a partition share one multicast LID.
  bool consolidate_ipv6_snm = false;
  /// Seconds for which what a port has registered is kept while the port is silent.
  std::int64_t keep_silent = 300;
  /// Seconds for which groups and members of another master stay after a takeover, until they are joined
  /// again.
  std::int64_t grace = 300;
  std::uint8_t max_rate = 0;  ///< no path is told to be faster; 0: as fast as it is
  std::vector<config::PrefixRoute> prefix_routes{};
  Mtu broadcast_mtu = Mtu::none;    ///< of the IPoIB broadcast group; none: the smallest of the ports'
  std::uint8_t broadcast_rate = 0;  ///< its rate's code; 0: the slowest of the ports'
  friend bool operator==(const Settings&, const Settings&) = default;
};

/// What the SA uses of a subnet's configuration.
Settings settings_of(const config::SubnetConfig& config);

}  // namespace smd::sa
