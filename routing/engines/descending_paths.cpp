// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/descending_paths.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

namespace smd::routing::inline engines {
namespace {

struct NumberedLid {
  LidKind kind = LidKind::host;
  std::uint32_t number = 0;
  Lid lid;
  SwitchIndex sw = 0;
  friend auto operator<=>(const NumberedLid&, const NumberedLid&) = default;
};

std::vector<NumberedLid> in_order(std::span<const LidRun> runs) {
  std::vector<NumberedLid> all;
  for (const auto& run : runs) {
    for (std::uint16_t i = 0; i < run.length; ++i) {
      const auto lid = static_cast<std::uint16_t>(run.lid + i);
      all.push_back({run.kind, run.number + i, Lid{lid}, run.destination});
    }
  }
  std::ranges::sort(all);
  return all;
}

template <class Cost>
class DescendingPaths {
 public:
  DescendingPaths(const EngineInput& in, const Columns<Cost>& columns, CountingRule rule)
      : in_(in),
        rule_(rule),
        topology_(in.context.topology),
        ranking_(*columns.ranking),
        costs_(*columns.costs),
        column_of_(columns_by_switch(topology_, columns.destinations)),
        all_(topology_.switches()),
        hops_(topology_, std::span(&columns, 1), all_),
        sets_(topology_.switches()),
        meets_(topology_.switches()),
        tops_(topology_.switches()),
        down_(topology_.channels()),
        used_(topology_.channels()),
        routes_(topology_.channels()),
        on_path_(topology_.switches()),
        carries_(topology_.switches()) {
    std::iota(all_.begin(), all_.end(), SwitchIndex{0});
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      rows_.push_back(std::make_shared<LftRow>(in.context.lids.row_size(), kNoRoute));
    }
  }

  std::vector<std::shared_ptr<const LftRow>> route(std::span<const NumberedLid> destinations) {
    auto kind = LidKind::host;
    auto towards = kNoSwitch;
    for (const auto& to : destinations) {
      if (in_.context.stop.stop_requested()) break;
      if (std::exchange(kind, to.kind) != to.kind) forget_counts();
      if (std::exchange(towards, to.sw) != to.sw) look_towards(to.sw);
      descend(to);
      for (const auto s : near_first_) climb(s, to.lid);
    }
    return {rows_.begin(), rows_.end()};
  }

 private:
  static constexpr std::uint32_t kOff = ~std::uint32_t{0};  ///< not on the path down, nor routed yet

  void forget_counts() {
    std::ranges::fill(down_, 0);
    std::ranges::fill(used_, 0);
    std::ranges::fill(tops_, 0);
    std::ranges::fill(routes_, 0);
  }

  unsigned length(SwitchIndex s) const {
    const auto cost = costs_.row(s)[to_column_];
    return cost == Costs<Cost>::kUnreachable ? ~0U : Costs<Cost>::length(cost);
  }

  /// Sets what all destinations of one switch share.
  void look_towards(SwitchIndex to) {
    to_column_ = column_of_[to];
    near_first_.clear();
    for (const auto s : all_) {
      if (s == to || length(s) == ~0U) continue;
      sets_[s] = hops_.towards(s, to);
      near_first_.push_back(s);
    }
    std::ranges::sort(near_first_, {}, [&](SwitchIndex s) { return std::pair(length(s), s); });
  }

  /// A load relative to the rate of the cable.
  std::uint64_t share(std::uint32_t count, SwitchIndex s, PortNum port) const {
    constexpr std::uint64_t kUnit = std::uint64_t{1} << 31;
    return count * kUnit / topology_.rate(s, port);
  }

  /// The path down: from the destination's switch up, each time to the upper switch whose cable leads the
  /// fewest destinations down.
  void descend(const NumberedLid& to) {
    std::ranges::fill(meets_, kOff);
    std::ranges::fill(on_path_, false);
    std::ranges::fill(carries_, false);
    (*rows_[to.sw])[to.lid.value()] = in_.context.lids.destination(to.lid).port.value();
    auto at = to.sw;
    for (std::uint32_t level = 0; at != kNoSwitch; ++level) {
      meets_[at] = level;
      on_path_[at] = true;
      const auto above = upper(at);
      if (above.sw != kNoSwitch) {
        (*rows_[above.sw])[to.lid.value()] = above.port.value();
        ++down_[topology_.channel(above.sw, above.port)];
        ++tops_[above.sw];
      }
      at = above.sw;
    }
  }

  /// Paths down to `s` from one switch above it.
  std::uint64_t used_of(SwitchIndex s, const NeighbourGroup& group) const {
    std::uint64_t paths = 0;
    for (const auto port : group.ports) {
      const auto far = topology_.peer(s, port);
      paths += down_[topology_.channel(far.sw, far.port)];
    }
    return paths;
  }

  /// The port that leads down to `s`, of those above it; no switch if there is none.
  PortPeer upper(SwitchIndex s) const {
    PortPeer best;
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;
    Key least;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      if (!ranking_.up(s, group.peer) || length(group.peer) != length(s) + 1) continue;
      const auto by_switch = rule_.descent == Descent::each_switch ? used_of(s, group) : 0;
      for (const auto port : group.ports) {
        const auto far = topology_.peer(s, port);
        const Key key{by_switch, share(down_[topology_.channel(far.sw, far.port)] + 1, far.sw, far.port),
                      rule_.descent == Descent::least_used_top ? tops_[far.sw] : 0};
        if (best.sw != kNoSwitch && key >= least) continue;
        best = far;
        least = key;
      }
    }
    return best;
  }

  /// The port of a switch beside the path: of those whose routes meet it highest.
  void climb(SwitchIndex s, Lid lid) {
    if (meets_[s] != kOff) return;
    using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;
    Key least;
    auto out = kNoPort;
    const bool together = rule_.ascent == Ascent::together;
    for (std::size_t w = 0; w < sets_[s].words.size(); ++w) {
      for (auto word = sets_[s].words[w]; word != 0; word &= word - 1) {
        const auto group = topology_.group(s, w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
        const auto way = rule_.ascent != Ascent::least_used_port ? most_loaded(group.peer, lid) : 0;
        const std::uint64_t alone = together && !carries_[group.peer] ? 1 : 0;
        for (const auto port : group.ports) {
          const auto used = share(used_[topology_.channel(s, port)] + 1, s, port);
          const Key key{kOff - meets_[group.peer], alone, together ? way : used, together ? used : way};
          if (out != kNoPort && key >= least) continue;
          least = key;
          out = port;
        }
      }
    }
    if (out == kNoPort) return;
    ++used_[topology_.channel(s, out)];
    meets_[s] = meets_[topology_.peer(s, out).sw];
    (*rows_[s])[lid.value()] = out.value();
    if (rule_.ascent != Ascent::least_used_port) add_routes(s, lid);
  }

  PortNum port_at(SwitchIndex s, Lid lid) const { return PortNum{(*rows_[s])[lid.value()]}; }

  /// The highest load from `s` on, as far as the path down, where there is no choice.
  std::uint64_t most_loaded(SwitchIndex s, Lid lid) const {
    std::uint64_t most = 0;
    while (!on_path_[s]) {
      const auto port = port_at(s, lid);
      most = std::max(most, share(routes_[topology_.channel(s, port)], s, port));
      s = topology_.peer(s, port).sw;
    }
    return most;
  }

  void add_routes(SwitchIndex s, Lid lid) {
    const auto hosts = topology_.hosts(s);
    for (auto at = s; hosts != 0 && !on_path_[at]; at = topology_.peer(at, port_at(at, lid)).sw) {
      routes_[topology_.channel(at, port_at(at, lid))] += hosts;
      carries_[at] = true;
    }
  }

  const EngineInput& in_;
  CountingRule rule_;
  const Topology& topology_;
  const SwitchRanking& ranking_;
  const Costs<Cost>& costs_;
  std::vector<std::uint32_t> column_of_;
  std::vector<SwitchIndex> all_;
  NextHops<Cost> hops_;
  std::vector<std::shared_ptr<LftRow>> rows_;
  std::vector<GroupSet> sets_;           ///< by switch its candidates towards the present switch
  std::vector<SwitchIndex> near_first_;  ///< all that reach it
  std::size_t to_column_ = 0;
  std::vector<std::uint32_t> meets_;   ///< by switch the level of the path down at which its route meets it
  std::vector<std::uint32_t> tops_;    ///< by switch: paths down that cross it
  std::vector<std::uint32_t> down_;    ///< by channel: paths down
  std::vector<std::uint32_t> used_;    ///< by channel: destinations that the switch sends by it, beside them
  std::vector<std::uint32_t> routes_;  ///< by channel: routes of hosts, beside them; not with least_used_port
  std::vector<std::uint8_t> on_path_;  ///< by switch: whether it is on the path down
  std::vector<std::uint8_t> carries_;  ///< by switch: whether hosts send by it; where routes_ are counted
};

/// Of LIDs times cables: a second at most for one call, and half a second for several.
constexpr std::uint64_t kMostWork = std::uint64_t{1} << 28, kWorkOfSeveral = std::uint64_t{1} << 26;

}  // namespace

std::size_t descending_passes(const RoutingContext& in) {
  for (EndIndex e = 0; e < in.topology.end_ports().size(); ++e) {
    if (in.lids.of_end(e).lmc != 0) return 0;
  }
  const auto work = in.lids.size() * in.topology.cables();
  return work > kMostWork ? 0 : std::max<std::size_t>(2, kWorkOfSeveral / std::max<std::size_t>(work, 1));
}

template <std::unsigned_integral Cost>
std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths(const EngineInput& in,
                                                                     const Columns<Cost>& columns,
                                                                     std::span<const LidRun> runs,
                                                                     CountingRule rule) {
  return DescendingPaths<Cost>(in, columns, rule).route(in_order(runs));
}

template std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths<std::uint8_t>(
    const EngineInput&, const Columns<std::uint8_t>&, std::span<const LidRun>, CountingRule);
template std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths<std::uint16_t>(
    const EngineInput&, const Columns<std::uint16_t>&, std::span<const LidRun>, CountingRule);

}  // namespace smd::routing::inline engines
