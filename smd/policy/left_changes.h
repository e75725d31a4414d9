// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an SM loses that was master and copies another master from now on.

#include <cstdint>
#include <string>
#include <vector>

#include "smd/policy/policies.h"

namespace smd::policy {

/// Changes of the API that count no longer: names, in their order.
struct LeftChanges {
  std::vector<std::string> partitions{};  ///< which the master has otherwise or not at all
  /// Ends of ports, as GUID/port, that are disabled by an order of one of both only.
  std::vector<std::string> ports{};
  std::vector<std::string> tokens{};  ///< valid at one of both only, or otherwise
};

/// `ours`: of the SM that was master; `masters`: what it copies. What has expired at `now` (seconds since
/// 1970) and when a token was used last are no difference. Pure.
LeftChanges left_changes(const Policies& ours, const Policies& masters, std::int64_t now);

}  // namespace smd::policy
