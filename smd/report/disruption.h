// SPDX-License-Identifier: Apache-2.0
#pragma once
// What writing the decided state would do to traffic: the three things that hurt.

#include <cstddef>
#include <string>
#include <vector>

#include "smd/decide/decided.h"
#include "smd/plan/plan.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

struct Disruption {
  std::size_t lids_changed = 0;  ///< Active end ports whose base LID or LMC changes
  std::size_t entries_in_use =
      0;  ///< known LFT entries of switches that forward, of LIDs of Active end ports
  std::size_t entries_changed = 0;  ///< those of them that get another port
  std::vector<std::string> links;   ///< port_text() of an end of each link that is retrained
  /// Something in use changes.
  bool any() const { return lids_changed != 0 || entries_changed != 0 || !links.empty(); }
};

/// What writing `plan` would change of what is in use. Pure.
Disruption disruption_of(const Subnet& subnet, const Decided& decided, const Plan& plan);

/// Three lines: "LIDs: 0 change", "routes: 0 of N entries of ports in use change", "links taken down: none".
/// Of many links the first are named.
std::string to_string(const Disruption& disruption);

}  // namespace smd::sm::inline reports
