// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Subnet without a fabric to ask: what a sweep would have found if the file's devices had just been
// powered on.

#include <map>
#include <vector>

#include "config/config.h"
#include "mad/base/fabric.h"
#include "mad/base/id.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline offline {

/// Data VLs, and entries of each arbitration table, that every port of the simulator has.
inline constexpr unsigned kOfflineVls = 8;

/// The devices are those of the simulator (mad/sim): same attributes, links up in Init, tables empty, LIDs
/// as in the file. Ports have VLs and arbitration entries for `vls` VLs (1 to 15), and kOfflineVls at least:
/// routes with more layers than the ports keep apart have credit loops. Our own port is the first linked CA
/// port, else port 0 of the first switch. Where several nodes have one GUID the first is in service and the
/// others are in `duplicates`.
Subnet offline_subnet(const base::Fabric& fabric, unsigned vls = kOfflineVls);

/// The file's node GUIDs in its order, each once: what numbers hosts in quality figures.
std::vector<Guid> file_order(const base::Fabric& fabric);

/// The same switches with the forwarding tables of `routes`, all of them known; one that has no row there
/// stays as it is.
Subnet with_tables(Subnet subnet, const RoutePart& routes);

/// The same devices after every Set of a bring-up was acknowledged: LIDs, tables, linked ports Active.
Subnet settled(const Subnet& subnet, const Decided& decided);

}  // namespace smd::sm::inline offline
