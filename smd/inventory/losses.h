// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is missing or slow, for the API and the log.

#include <optional>
#include <vector>

#include "smd/inventory/update.h"

namespace smd::sm::inline inventory {

/// "2 switches, 3 links, 1 host"; empty where nothing is lost.
std::string counts_text(const Inventory::Counts& lost);

/// The link that a port had and has no more; nothing where it has one, or never had.
std::optional<KnownLink> lost_link(const Inventory* known, const Node& node, PortNum port);

/// Never had a link, and has none: nothing is wrong with it.
bool is_unused(const Inventory* known, const Node& node, PortNum port);

/// Links that run slower or narrower than both their ends support and have enabled, each once.
struct DegradedLink {
  LinkEnd end, peer;
  LinkRate rate, best;
  /// The width, not (only) the speed, is below the best.
  bool is_narrow() const { return rate.width != best.width; }
};
/// From the host's switch, between switches from the smaller end; ascending. Links of unknown speed are left
/// out.
std::vector<DegradedLink> degraded_links(const Subnet& subnet);
/// The one that has an end at this port; nothing: its link is none of them, or it has none.
std::optional<DegradedLink> degraded_link(const Subnet& subnet, const Node& node, PortNum port);

}  // namespace smd::sm::inline inventory
