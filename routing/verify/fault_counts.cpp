// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/fault_counts.h"

#include <algorithm>
#include <bit>

namespace smd::routing::inline verify {

void FaultCounts::add(const LidBlock& block, Verification& found) {
  LidBits misrouted = 0;
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
    misrouted |= block.routed(s) & ~block.arrive(s);
    const auto unreached = block.lids().connected(s) & ~block.arrive(s);
    if (unreached != 0) add_unreached(block.lids(), s, block.routed(s), unreached, found);
  }
  for (; misrouted != 0; misrouted &= misrouted - 1) {
    add_misrouted(block, static_cast<unsigned>(std::countr_zero(misrouted)), found);
  }
}

void FaultCounts::add_unreached(const BlockLids& lids, SwitchIndex s, LidBits routed, LidBits unreached,
                                Verification& found) {
  const bool leaf = topology_.leaf(s);
  // Hosts use all end ports, aggregation nodes use the hosts.
  const auto used = leaf ? lids.end_ports() : topology_.end_ports_of(s).empty() ? LidBits{0} : lids.hosts();
  const auto others = unreached & ~used;
  if (leaf) {
    found.unreachable_switch_pairs += static_cast<unsigned>(std::popcount(others));
  } else {
    found.unrouted_by_rule += static_cast<unsigned>(std::popcount(others & ~routed));
  }
  for (auto rest = unreached & used; rest != 0; rest &= rest - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(rest));
    add_pairs(s, lids.lid(bit), (routed >> bit & 1U) != 0, found);
  }
}

/// Counts pairs that miss the LID of an end port: hosts of the switch, and aggregation nodes of it if the LID
/// is a host's.
void FaultCounts::add_pairs(SwitchIndex s, Lid lid, bool routed, Verification& found) {
  const auto to = lids_.destination(lid);
  const bool by_rule = route_need(topology_, s, to.end) == RouteNeed::by_rule;
  if (by_rule && !routed) ++found.unrouted_by_rule;
  if (counted_before(s, to, lids_.of_end(to.end))) return;
  const auto& end = topology_.end_ports()[to.end];
  const bool to_host = end.kind != EndKind::aggregation;
  std::uint64_t between_hosts = 0, with_aggregation = 0;
  const auto sources = topology_.end_ports_of(s);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool from_host = sources[i].kind != EndKind::aggregation;
    if (topology_.first_end(s) + i == to.end || (!from_host && !to_host)) continue;
    const bool required = (from_host && to_host) || end.sw == s;
    ++(required ? between_hosts : with_aggregation);
    if (required || !found.aggregation_example.empty()) continue;
    found.aggregation_example = trace(s, lid);
    found.aggregation_pair = {sources[i].guid, end.guid};
  }
  if (between_hosts != 0 && found.unreachable_example.empty()) found.unreachable_example = trace(s, lid);
  found.host_pairs_unreachable += between_hosts;
  found.aggregation_pairs_unreachable += with_aggregation;
}

/// Whether a LID of the same port with a smaller offset is unreachable too, and was counted.
bool FaultCounts::counted_before(SwitchIndex s, const Destination& to, LidRange range) {
  for (unsigned i = 0; i < to.offset; ++i) {
    const auto lid = Lid{static_cast<std::uint16_t>(range.base.value() + i)};
    if (lids_.destination(lid).end != to.end) continue;
    auto at = s;
    auto result = Outcome::unknown;
    for (std::size_t hops = 0; result == Outcome::unknown && hops <= topology_.switches(); ++hops) {
      result = step(at, lid);
    }
    if (result != Outcome::arrives) return true;
  }
  return false;
}

void FaultCounts::add_misrouted(const LidBlock& block, unsigned bit, Verification& found) {
  const auto lid = block.lids().lid(bit);
  std::ranges::fill(outcome_, Outcome::unknown);
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
    if (((block.routed(s) & ~block.arrive(s)) >> bit & 1U) == 0) continue;
    const bool loops = outcome(s, lid) == Outcome::loops;
    ++(loops ? found.loops : found.dead_ends);
    auto& example = loops ? found.loop_example : found.dead_end_example;
    if (example.empty()) example = trace(s, lid);
  }
}

/// Takes one hop; unknown while packets are still on their path.
FaultCounts::Outcome FaultCounts::step(SwitchIndex& s, Lid lid) const {
  const auto* const row = s < routes_.rows.size() ? routes_.rows[s].get() : nullptr;
  const auto port = PortNum{entry(row, lid)};
  const auto to = lids_.destination(lid);
  const auto peer = topology_.peer(s, port);
  if (peer.sw != kNoSwitch) {
    s = peer.sw;
    return Outcome::unknown;
  }
  return to.sw == s && to.port == port ? Outcome::arrives : Outcome::discarded;
}

/// Stores the outcome of all switches on the path.
FaultCounts::Outcome FaultCounts::outcome(SwitchIndex s, Lid lid) {
  std::vector<SwitchIndex> set;
  auto result = Outcome::unknown;
  while (result == Outcome::unknown) {
    if (outcome_[s] != Outcome::unknown) {
      result = outcome_[s];
      break;
    }
    outcome_[s] = Outcome::loops;  // unless the path turns out to end
    set.push_back(s);
    result = step(s, lid);
  }
  for (const auto passed : set) outcome_[passed] = result;
  return result;
}

std::vector<Hop> FaultCounts::trace(SwitchIndex s, Lid lid) const {
  std::vector<Hop> set;
  std::vector<bool> seen(topology_.switches());
  while (!seen[s]) {
    seen[s] = true;
    const auto* const row = s < routes_.rows.size() ? routes_.rows[s].get() : nullptr;
    set.push_back({s, PortNum{entry(row, lid)}, lid});
    if (step(s, lid) != Outcome::unknown) break;
  }
  return set;
}

}  // namespace smd::routing::inline verify
