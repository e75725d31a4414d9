// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adaptive routing of NVIDIA switches, as an SM of theirs may leave it behind.

#include <map>
#include <optional>
#include <vector>

#include "mad/base/id.h"
#include "mad/wire/ar_info.h"

namespace smd::sim {

/// What a switch routes adaptively by; its linear forwarding table counts for all other LIDs.
struct AdaptiveTables {
  wire::ArInfo info;
  std::map<Lid, std::vector<PortNum>> groups;  ///< ports that packets to the LID may leave by; never empty
};

/// As after a reset: off, without groups.
AdaptiveTables fresh_adaptive();

/// The group by which packets of this SL to the LID go; null: the linear forwarding table counts.
/// `datagram`: UD, as management datagrams are.
const std::vector<PortNum>* adaptive_group(const AdaptiveTables& tables, Lid lid, Sl sl, bool datagram);

}  // namespace smd::sim
