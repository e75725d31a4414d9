// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports in words: what each is, and why it is not Active.

#include <string>
#include <string_view>

#include "mad/base/id.h"
#include "mad/base/link.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Why this port does not carry data; empty for an Active one. `partitions` may be null.
std::string why_not_active(const Subnet& subnet, const Node& node, PortNum port,
                           const PartitionPart* partitions = nullptr);

/// PortInfo.PortPhysicalState as the IB tools print it.
std::string_view to_string(PhysState state);

}  // namespace smd::sm::inline reports
