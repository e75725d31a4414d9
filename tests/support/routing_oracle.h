// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slow and simple verification and quality, to compare the fast ones with.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/report.h"

namespace smd::routing::oracle {

using Channel = std::pair<SwitchIndex, unsigned>;

struct Trip {
  enum class End { arrives, loops, dies } end = End::dies;
  std::vector<Channel> channels;
};

inline Trip travel(const Topology& topology, const LidMap& lids, const Routes& routes, SwitchIndex s,
                   Lid lid) {
  Trip trip;
  std::set<SwitchIndex> seen;
  const auto to = lids.destination(lid);
  while (true) {
    const bool again = !seen.insert(s).second;
    const auto port = PortNum{entry(routes.rows[s].get(), lid)};
    const auto peer = topology.peer(s, port);
    if (peer.sw == kNoSwitch) {
      if (to.sw == s && to.port == port) trip.end = Trip::End::arrives;
      return trip;
    }
    trip.channels.emplace_back(s, port.value());
    if (again) {  // the channel that closes the loop is counted twice: the loop waits for itself
      trip.end = Trip::End::loops;
      return trip;
    }
    s = peer.sw;
  }
}

using Edges = std::map<Channel, std::set<Channel>>;

inline void add_edges(const Trip& trip, Edges& edges) {
  for (std::size_t i = 0; i + 1 < trip.channels.size(); ++i) {
    edges[trip.channels[i]].insert(trip.channels[i + 1]);
  }
}

/// Takes away what waits for nothing until nothing changes.
inline bool has_cycle(Edges edges) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = edges.begin(); it != edges.end();) {
      std::erase_if(it->second, [&](const Channel& next) { return !edges.contains(next); });
      changed = changed || it->second.empty();
      it = it->second.empty() ? edges.erase(it) : std::next(it);
    }
  }
  return !edges.empty();
}

struct Found {
  std::uint64_t host_pairs_unreachable = 0, aggregation_pairs_unreachable = 0, unrouted_by_rule = 0,
                unreachable_switch_pairs = 0, loops = 0, dead_ends = 0;
  bool credit_loop = false;      ///< of traffic between end ports
  bool any_credit_loop = false;  ///< of traffic from every switch to every LID
};

inline bool host(const Topology& topology, EndIndex e) {
  return topology.end_ports()[e].kind != EndKind::aggregation;
}

inline Found verify(const Topology& topology, const LidMap& lids, const Routes& routes) {
  Found found;
  Edges all, end_to_end;
  std::set<std::pair<SwitchIndex, EndIndex>> pairs;
  for (std::uint32_t value = 1; value <= lids.top().value(); ++value) {
    const auto lid = Lid{static_cast<std::uint16_t>(value)};
    const auto to = lids.destination(lid);
    if (to.sw == kNoSwitch) continue;
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      const auto trip = travel(topology, lids, routes, s, lid);
      const bool routed = entry(routes.rows[s].get(), lid) != kNoRoute;
      add_edges(trip, all);
      if (to.end != kNoEnd && !topology.end_ports_of(s).empty()) add_edges(trip, end_to_end);
      if (trip.end == Trip::End::arrives) continue;
      if (routed) ++(trip.end == Trip::End::loops ? found.loops : found.dead_ends);
      if (topology.component(s) != topology.component(to.sw)) continue;
      const auto hosts = topology.hosts(s);
      const auto nodes = topology.end_ports_of(s).size() - hosts;
      if (to.end != kNoEnd && to.sw == s) {
        const bool to_host = host(topology, to.end);
        if (hosts == 0) found.unrouted_by_rule += routed ? 0 : 1;
        if (!pairs.emplace(s, to.end).second) continue;
        found.host_pairs_unreachable += to_host ? hosts - 1 + nodes : hosts;
      } else if (to.end != kNoEnd && host(topology, to.end) && hosts + nodes != 0) {
        if (hosts == 0) found.unrouted_by_rule += routed ? 0 : 1;
        if (!pairs.emplace(s, to.end).second) continue;
        found.host_pairs_unreachable += hosts;
        found.aggregation_pairs_unreachable += nodes;
      } else if (to.end != kNoEnd && hosts != 0) {
        found.unrouted_by_rule += routed ? 0 : 1;
        if (!pairs.emplace(s, to.end).second) continue;
        found.aggregation_pairs_unreachable += hosts;
      } else if (hosts != 0) {
        ++found.unreachable_switch_pairs;
      } else {
        found.unrouted_by_rule += routed ? 0 : 1;
      }
    }
  }
  found.any_credit_loop = has_cycle(std::move(all));
  found.credit_loop = has_cycle(std::move(end_to_end));
  return found;
}

/// Routes between hosts over each channel.
inline std::map<Channel, std::uint64_t> link_paths(const Topology& topology, const LidMap& lids,
                                                   const Routes& routes) {
  std::map<Channel, std::uint64_t> paths;
  const auto ends = topology.end_ports();
  for (EndIndex a = 0; a < ends.size(); ++a) {
    for (EndIndex b = 0; b < ends.size(); ++b) {
      if (a == b || !host(topology, a) || !host(topology, b)) continue;
      if (ends[a].sw == kNoSwitch || ends[b].sw == kNoSwitch) continue;
      const auto trip = travel(topology, lids, routes, ends[a].sw, lids.of_end(b).base);
      if (trip.end != Trip::End::arrives) continue;
      for (const auto& channel : trip.channels) ++paths[channel];
    }
  }
  return paths;
}

/// Switches that `s` has an up-then-down path to.
inline std::vector<bool> reachable_up_down(const Topology& topology, const SwitchRanking& order,
                                           SwitchIndex s) {
  std::vector<bool> up(topology.switches()), any(topology.switches());
  std::vector<std::pair<SwitchIndex, bool>> work{{s, true}};
  while (!work.empty()) {
    const auto [at, rising] = work.back();
    work.pop_back();
    auto& seen = rising ? up : any;
    if (seen[at]) continue;
    seen[at] = true;
    any[at] = any[at] || rising;
    for (std::size_t g = 0; g < topology.groups(at); ++g) {
      const auto peer = topology.group(at, g).peer;
      if (!order.up(at, peer)) {
        work.emplace_back(peer, false);
      } else if (rising) {
        work.emplace_back(peer, true);
      }
    }
  }
  return any;
}

}  // namespace smd::routing::oracle
