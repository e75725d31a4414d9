// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/stale_lids.h"

#include <algorithm>
#include <array>
#include <bit>

#include "routing/verify/egress_sets.h"

namespace smd::routing::inline repair {
namespace {

LidBits unassigned(const LidMap& lids, std::size_t block) {
  LidBits bits = 0;
  for (std::size_t i = block == 0 ? 1 : 0; i < 64; ++i) {
    const auto lid = Lid{static_cast<std::uint16_t>(block * 64 + i)};
    if (lids.destination(lid).sw == kNoSwitch) bits |= LidBits{1} << i;
  }
  return bits;
}

bool loops(const Topology& topology, const Routes& routes, Lid lid) {
  enum class Seen : std::uint8_t { no, now, before };
  std::vector<Seen> seen(topology.switches(), Seen::no);
  std::vector<SwitchIndex> path;
  for (SwitchIndex start = 0; start < seen.size(); ++start) {
    path.clear();
    auto s = start;
    while (s != kNoSwitch && seen[s] == Seen::no) {
      seen[s] = Seen::now;
      path.push_back(s);
      s = topology.peer(s, PortNum{entry(routes.rows[s].get(), lid)}).sw;
    }
    if (s != kNoSwitch && seen[s] == Seen::now) return true;
    for (const auto passed : path) seen[passed] = Seen::before;
  }
  return false;
}

/// LIDs of a block whose entries must be removed.
LidBits looping(const Topology& topology, const LidMap& lids, const Routes& routes, std::size_t block) {
  auto rest = unassigned(lids, block);
  if (rest == 0) return 0;
  LidBits used = 0;
  std::array<std::uint8_t, 64> padded;
  for (const auto& row : routes.rows) used |= ~equal_to(block_of(row.get(), block * 64, padded), kNoRoute);
  LidBits bad = 0;
  for (rest &= used; rest != 0; rest &= rest - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(rest));
    if (loops(topology, routes, Lid{static_cast<std::uint16_t>(block * 64 + bit)})) {
      bad |= LidBits{1} << bit;
    }
  }
  return bad;
}

}  // namespace

void drop_looping_stale_lids(const RoutingContext& in, Repaired& repaired) {
  const auto& topology = in.topology;
  const auto& lids = in.lids;
  auto& routes = repaired.routes;
  std::vector<LidBits> bad(lids.row_size() / 64);
  in.parallel.for_each(bad.size(), [&](std::size_t b) { bad[b] = looping(topology, lids, routes, b); });
  if (std::ranges::all_of(bad, [](LidBits bits) { return bits == 0; })) return;
  for (auto& row : routes.rows) {
    auto fresh = std::make_shared<LftRow>(*row);
    for (std::size_t b = 0; b < bad.size(); ++b) {
      for (auto rest = bad[b]; rest != 0; rest &= rest - 1) {
        auto& entry = (*fresh)[b * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
        repaired.withdrawn += entry != kNoRoute ? 1 : 0;
        entry = kNoRoute;
      }
    }
    row = std::move(fresh);
  }
}

}  // namespace smd::routing::inline repair
