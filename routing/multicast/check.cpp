// SPDX-License-Identifier: Apache-2.0
#include "routing/multicast/check.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace smd::routing::inline multicast {
namespace {

const PortMask* mask_of(const McTree& tree, SwitchIndex s) {
  const auto found = std::ranges::lower_bound(tree, s, {}, &McMask::sw);
  return found != tree.end() && found->sw == s ? &found->ports : nullptr;
}

}  // namespace

McDelivery deliver(const Topology& topology, const McTree& tree, std::span<const McMember> members,
                   const McMember& sender) {
  using Place = std::pair<SwitchIndex, unsigned>;
  McDelivery result;
  std::map<Place, unsigned> copies;
  std::set<Place> entered{{sender.sw, sender.port.value()}};
  std::vector<Place> open{*entered.begin()};
  while (!open.empty()) {
    const auto [s, in] = open.back();
    open.pop_back();
    const auto* mask = mask_of(tree, s);
    for (unsigned p = 0; mask != nullptr && p <= topology.ports(s); ++p) {
      if (!(*mask)[p] || p == in) continue;
      const auto peer = topology.peer(s, PortNum{static_cast<std::uint8_t>(p)});
      if (peer.sw == kNoSwitch) {
        ++copies[{s, p}];
        continue;
      }
      ++result.hops;
      const Place next{peer.sw, peer.port.value()};
      if (entered.insert(next).second) {
        open.push_back(next);
      } else {
        result.loop = true;
      }
    }
  }
  for (const auto& member : members) {
    const auto got = copies.find({member.sw, member.port.value()});
    const unsigned count = got == copies.end() ? 0 : got->second;
    if (count > 1) result.twice.push_back(member);
    const bool self = member.sw == sender.sw && member.port == sender.port;
    const bool connected = member.sw < topology.switches() && sender.sw < topology.switches() &&
                           topology.component(member.sw) == topology.component(sender.sw);
    if (count == 0 && member.receives && !self && connected) result.missed.push_back(member);
    if (got != copies.end() && member.receives) copies.erase(got);
  }
  for (const auto& [place, count] : copies) result.strays += count;
  return result;
}

}  // namespace smd::routing::inline multicast
