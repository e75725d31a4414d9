// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd check --host`: whether this machine lets smd do what its configuration says.

#include <chrono>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace smd::cli {

/// What a systemd unit lets its service do on the network.
struct UnitNetwork {
  bool known = false;                  ///< false: there is no such unit
  bool ipv4 = true, ipv6 = true;       ///< sockets of these
  bool denies = false;                 ///< all addresses that are not in `allowed`
  std::vector<std::string> allowed{};  ///< "10.0.0.0/8"
  friend bool operator==(const UnitNetwork&, const UnitNetwork&) = default;
};

/// From what `systemctl show` prints of LoadState, RestrictAddressFamilies, IPAddressAllow and IPAddressDeny.
UnitNetwork parse_unit(std::string_view shown);

/// Where configuration and unit disagree, and what to do, a line each. Names of hosts are not resolved.
/// `good`: nothing keeps smd from what is configured.
std::vector<std::string> disagreements(const config::Config& config, const UnitNetwork& unit,
                                       std::string_view unit_name, bool* good);

/// Asks systemd, and reads the certificates. 0: all is well, 3: something of it keeps smd from its work.
int check_host(const config::Config& config, const std::string& unit, std::ostream& out);

}  // namespace smd::cli
