// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clients keep the SL of a path until they are asked to register again.

#include <vector>

#include "mad/base/id.h"
#include "smd/sa/directory.h"

namespace smd::sa {

/// Ports of adapters and routers with a path to another one whose SL is not the one of `before`: paths as
/// IPoIB asks for them, by P_Key alone, of P_Keys that both ends have in both. Not those that came or have
/// moved to another switch. In the order of now.end_ports(). Pure; O(ports), and with layers O(pairs of their
/// switches).
std::vector<Guid> ports_of_moved_sls(const Directory& before, const Directory& now);

}  // namespace smd::sa
