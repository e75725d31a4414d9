// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/path_trees.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "routing/engines/destination_order.h"
#include "routing/engines/port_selection.h"

namespace smd::routing::inline engines {

void BreadthFirst::search(SwitchIndex root) {
  std::ranges::fill(hops_, kFar);
  order_.assign(1, root);
  hops_[root] = 0;
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const auto s = order_[at];
    place_[s] = static_cast<std::uint32_t>(at);
    for (const auto c : net_.by_port(s)) {
      const auto peer = net_.head(c);
      if (hops_[peer] != kFar) continue;
      hops_[peer] = hops_[s] + 1;
      order_.push_back(peer);
    }
  }
}

namespace {

/// `fill` sets the steps to one switch, for which it has the search from there.
template <class Fn>
PathTrees trees_by(const RoutingContext& in, const ChannelNet& net, const Fn& fill) {
  PathTrees trees(net.switches());
  for_ranges(in.parallel, net.switches(), 16, [&](std::size_t begin, std::size_t end) {
    BreadthFirst search(net);
    for (auto to = static_cast<SwitchIndex>(begin); to < end && !in.stop.stop_requested(); ++to) {
      search.search(to);
      fill(search, to, trees);
    }
  });
  return trees;
}

}  // namespace

PathTrees breadth_first_trees(const RoutingContext& in, const ChannelNet& net) {
  return trees_by(in, net, [&](const BreadthFirst& search, SwitchIndex to, PathTrees& trees) {
    for (const auto s : search.order()) {
      for (const auto c : net.by_port(s)) {
        const auto from = net.head(c);
        auto& next = trees.next(to, from);
        if (search.hops(from) != search.hops(s) + 1 || next != PathTrees::kNone) continue;
        next = static_cast<std::uint8_t>(net.reverse(c) - net.first(from));
      }
    }
  });
}

PathTrees lowest_port_trees(const RoutingContext& in, const ChannelNet& net) {
  return trees_by(in, net, [&](const BreadthFirst& search, SwitchIndex to, PathTrees& trees) {
    for (const auto from : std::span(search.order()).subspan(1)) {
      const auto ways = net.by_port(from);
      const auto way = std::ranges::find_if(
          ways, [&](NetChannel c) { return search.hops(net.head(c)) + 1 == search.hops(from); });
      trees.next(to, from) = static_cast<std::uint8_t>(*way - net.first(from));
    }
  });
}

namespace {

/// The ports of one switch, with the number of LIDs of each kind that take them.
class PortShares {
 public:
  PortShares(const Topology& topology, SwitchIndex s) : topology_(topology), switch_(s) { turn_.fill(s); }

  std::uint8_t take(std::size_t group, LidKind kind) {
    const auto cables = topology_.group(switch_, group).ports;
    if (cables.size() == 1) return cables.front().value();
    std::array<std::uint8_t, 256> ports{};
    for (std::size_t i = 0; i < cables.size(); ++i) ports[i] = cables[i].value();
    const auto k = static_cast<std::size_t>(kind);
    const auto from = std::span(ports).first(cables.size());
    const auto port = from[least_used(topology_, switch_, from, used_[k], turn_[k]++ % cables.size())];
    ++used_[k][port];
    return port;
  }

 private:
  const Topology& topology_;
  SwitchIndex switch_;
  std::array<std::size_t, kLidKinds> turn_{};
  std::array<std::array<std::uint32_t, 256>, kLidKinds> used_{};
};

}  // namespace

std::vector<std::shared_ptr<const LftRow>> tables_along(const RoutingContext& in,
                                                        std::span<const PathTrees> planes,
                                                        std::span<const std::uint8_t> plane_of_end) {
  const auto& [topology, lids, parallel, stop] = in;
  const auto trees_of = [&](const Destination& to) -> const PathTrees& {
    if (plane_of_end.empty()) return planes[to.offset % planes.size()];
    return planes[to.end == kNoEnd ? 0 : plane_of_end[to.end]];
  };
  std::vector<std::shared_ptr<const LftRow>> rows(topology.switches());
  parallel.for_each(rows.size(), [&](std::size_t i) {
    const auto s = static_cast<SwitchIndex>(i);
    auto row = std::make_shared<LftRow>(lids.row_size(), kNoRoute);
    PortShares shares(topology, s);
    for (std::size_t value = 1; value < row->size() && !stop.stop_requested(); ++value) {
      const auto to = lids.destination(Lid{static_cast<std::uint16_t>(value)});
      if (to.sw == kNoSwitch) continue;
      if (to.sw == s) {
        (*row)[value] = to.port.value();
      } else if (const auto group = trees_of(to).next(to.sw, s); group != PathTrees::kNone) {
        (*row)[value] = shares.take(group, kind_of(topology, to));
      }
    }
    rows[i] = std::move(row);
  });
  return rows;
}

}  // namespace smd::routing::inline engines
