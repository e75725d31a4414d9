// SPDX-License-Identifier: Apache-2.0
#include "smd/report/disruption.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "smd/sweep/end_ports.h"

namespace smd::sm::inline reports {
namespace {

/// The LIDs that packets are sent to now.
struct UsedLids {
  std::vector<std::uint16_t> lids{};
  std::size_t moved = 0;
};

UsedLids used_lids(const Subnet& subnet, const LidPart& decided) {
  UsedLids used;
  for (const auto& node : subnet.nodes) {
    const std::size_t first = node->is_switch() ? 0 : 1;
    const std::size_t end =
        node->is_switch() ? std::min<std::size_t>(1, node->ports.size()) : node->ports.size();
    for (std::size_t p = first; p < end; ++p) {
      const auto& port = node->ports[p];
      // A switch's port 0 has no link; enhanced or not, it has the LID that it shows.
      const bool in_use = port.known && (p == 0 || port.info.port_state == PortState::active);
      if (!in_use || !port.info.lid.unicast()) continue;
      const unsigned base = port.info.lid.value();
      for (unsigned i = 0; i < 1U << port.info.lmc && base + i < 0xC000; ++i)
        used.lids.push_back(static_cast<std::uint16_t>(base + i));
      const auto* entry = decided.find(port_guid(*node, PortNum{static_cast<std::uint8_t>(p)}));
      if (entry == nullptr || entry->base != port.info.lid || entry->lmc != port.info.lmc) ++used.moved;
    }
  }
  return used;
}

void count_entries(const HeldLft& held, std::span<const std::uint8_t> desired, const UsedLids& used,
                   Disruption& into) {
  for (const auto lid : used.lids) {
    if (lid >= held.row->size() || !held.known.test(lid / routing::kLftBlock)) continue;
    const auto now = (*held.row)[lid];
    if (now == routing::kNoRoute) continue;
    ++into.entries_in_use;
    if (lid >= desired.size() || desired[lid] != now) ++into.entries_changed;
  }
}

}  // namespace

Disruption disruption_of(const Subnet& subnet, const Decided& decided, const Plan& plan) {
  Disruption found;
  const auto used = used_lids(subnet, *decided.lids);
  found.lids_changed = used.moved;
  for (const auto& node : subnet.nodes) {
    const auto* desired = decided.routes->find(node->guid());
    if (!node->forwards() || !node->lft.row || desired == nullptr || !*desired) continue;
    count_entries(node->lft, **desired, used, found);
  }
  for (const auto& item : plan.links_down) {
    found.links.push_back(port_text(*subnet.nodes[item.node], item.port));
  }
  return found;
}

std::string to_string(const Disruption& disruption) {
  constexpr std::size_t kNamed = 5;
  const auto named = std::min(kNamed, disruption.links.size());
  auto links =
      fmt::format("{}", fmt::join(disruption.links.begin(),
                                  disruption.links.begin() + static_cast<std::ptrdiff_t>(named), "; "));
  if (named == 0) links = "none";
  if (named < disruption.links.size()) links += fmt::format("; and {} more", disruption.links.size() - named);
  const auto count = disruption.links.empty() ? std::string() : fmt::format("{}: ", disruption.links.size());
  return fmt::format(
      "LIDs: {} change\nroutes: {} of {} entries of ports in use change\nlinks taken down: {}{}\n",
      disruption.lids_changed, disruption.entries_changed, disruption.entries_in_use, count, links);
}

}  // namespace smd::sm::inline reports
