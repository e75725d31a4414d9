// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/positions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace smd::routing::inline cabling {
namespace {

std::uint32_t root(std::vector<std::uint32_t>& parent, std::uint32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/// By switch the number of its set of (rank, uplinks).
std::vector<std::uint32_t> alike_above(const Topology& topology, const SwitchRanking& ranking) {
  std::map<std::pair<std::int32_t, std::vector<SwitchIndex>>, std::uint32_t> known;
  std::vector<std::uint32_t> number(topology.switches());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    std::vector<SwitchIndex> above;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (ranking.rank[group.peer] < ranking.rank[s])
        above.insert(above.end(), group.ports.size(), group.peer);
    }
    const auto fresh = static_cast<std::uint32_t>(known.size());
    number[s] = known.try_emplace(std::pair(ranking.rank[s], std::move(above)), fresh).first->second;
  }
  return number;
}

/// By view, kind of switch and port: the peers, and how often.
using Votes =
    std::map<std::tuple<int, std::int32_t, std::uint32_t, PortNum>, std::map<std::uint32_t, std::size_t>>;

}  // namespace

Pods::Pods(const Topology& topology, const SwitchRanking& ranking) {
  const std::set<std::int32_t> ranks(ranking.rank.begin(), ranking.rank.end());
  ranks_.assign(ranks.begin(), ranks.end());
  std::vector<std::uint32_t> parent(topology.switches());
  std::iota(parent.begin(), parent.end(), 0U);
  parts_.resize(ranks_.size());
  for (auto i = ranks_.size(); i-- > 0;) {
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      for (std::size_t g = 0; ranking.rank[s] == ranks_[i] && g < topology.groups(s); ++g) {
        const auto peer = topology.group(s, g).peer;
        if (ranking.rank[peer] > ranks_[i]) parent[root(parent, peer)] = root(parent, s);
      }
    }
    parts_[i].resize(topology.switches());
    for (SwitchIndex s = 0; s < topology.switches(); ++s) parts_[i][s] = root(parent, s);
  }
}

std::uint32_t Pods::of(SwitchIndex s, std::int32_t rank) const {
  return parts_[static_cast<std::size_t>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin())][s];
}

PortOrder port_order(const Topology& topology, const SwitchRanking& ranking) {
  const auto alike = alike_above(topology, ranking);
  const Pods pods(topology, ranking);
  Votes votes;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto [peer, ports] = topology.group(s, g);
      const auto rank = ranking.rank[s], far = ranking.rank[peer];
      if (far == rank) continue;
      for (const auto port : ports) {
        if (far > rank) {
          ++votes[{2, rank, pods.of(s, rank), port}][pods.of(peer, far)];
          continue;
        }
        ++votes[{0, rank, alike[s], port}][peer];
        ++votes[{1, rank, 0, port}][alike[peer]];
      }
    }
  }
  PortOrder result;
  for (const auto& [kind, places] : votes) {
    std::size_t all = 0, most = 0;
    for (const auto& [place, count] : places) {
      all += count;
      most = std::max(most, count);
    }
    result.ends += all;
    result.odd += all - most;
  }
  return result;
}

}  // namespace smd::routing::inline cabling
