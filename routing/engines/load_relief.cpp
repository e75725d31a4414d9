// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/load_relief.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>

namespace smd::routing::inline engines {
namespace {

class Relief {
 public:
  Relief(const RoutingContext& in, const ChannelNet& net, HostPlanes& trees, const LayersInUse& layers)
      : in_(in),
        net_(net),
        planes_(trees.planes),
        layers_(layers),
        hosts_(planes_.size() * net.switches()),
        load_(net.size()),
        share_(net.size()),
        hops_(net.switches()),
        flow_(net.switches()),
        layers_through_(net.switches()),
        left_(net.size()) {
    const auto& topology = in.topology;
    for (SwitchIndex s = 0; s < net.switches(); ++s) {
      for (std::size_t i = 0; i < topology.end_ports_of(s).size(); ++i) {
        if (topology.end_ports_of(s)[i].kind != EndKind::aggregation)
          ++hosts(trees.of_end[topology.first_end(s) + i], s);
      }
      for (std::size_t g = 0; g < net.degree(s); ++g) {
        double capacity = 0;
        for (const auto port : topology.group(s, g).ports) capacity += topology.rate(s, port);
        share_[net.first(s) + g] = 1 / capacity;
      }
    }
  }

  bool run() {
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      for (const auto to : in_.topology.leaves()) {
        for (const auto from : in_.topology.leaves()) {
          const auto routes = static_cast<double>(in_.topology.hosts(from)) * hosts(p, to);
          for_each_channel(net_, planes_[p], from, to, [&](NetChannel c) { load_[c] += routes; });
        }
      }
    }
    const auto before = highest_load();
    auto highest = before;
    while (highest > 0 && lower(highest * kLess)) highest = highest_load();
    return highest_load() < before * kLess;
  }

 private:
  static constexpr double kLess = 1 - 1e-9;  ///< loads that differ by less are equal
  static constexpr std::uint64_t kMostEffort = std::uint64_t{1} << 22;

  /// Another way of what comes through a switch.
  struct Move {
    double cost = 0;  ///< by which the sum of the cubes of all loads grows: negative
    std::size_t plane = 0;
    SwitchIndex to = 0, from = 0;
    NetChannel channel = 0;
    auto operator<=>(const Move&) const = default;
  };

  std::uint32_t& hosts(std::size_t plane, SwitchIndex to) { return hosts_[plane * net_.switches() + to]; }
  double relative(NetChannel c) const { return load_[c] * share_[c]; }

  double highest_load() const {
    double highest = 0;
    for (NetChannel c = 0; c < net_.size(); ++c) highest = std::max(highest, relative(c));
    return highest;
  }

  /// Whether no link has a load of `limit` any more.
  bool lower(double limit) {
    for (NetChannel c = 0; c < net_.size(); ++c) {
      while (relative(c) >= limit) {
        if (!relieve(c, limit)) return false;
      }
    }
    return true;
  }

  bool relieve(NetChannel link, double limit) {
    moves_.clear();
    const auto s = net_.head(net_.reverse(link));
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      for (const auto to : in_.topology.leaves()) {
        if (hosts(p, to) == 0 || s == to || net_.first(s) + planes_[p].next(to, s) != link) continue;
        if (effort_ >= kMostEffort || in_.stop.stop_requested()) return false;
        explore(p, to, s);
        for (const auto from : behind_) {
          if (flow_[from] != 0) collect(p, to, from, limit);
        }
      }
    }
    std::ranges::sort(moves_);
    return std::ranges::any_of(moves_, [&](const Move& move) { return take(move); });
  }

  bool leads_on(const PathTrees& trees, SwitchIndex to, SwitchIndex s, NetChannel c) const {
    return s != to && net_.first(s) + trees.next(to, s) == c;
  }

  /// Sets behind_ to the switches whose path to `to` comes through `s`, that one first, and the hops and the
  /// flow of each, and the layers of the paths through it.
  void explore(std::size_t plane, SwitchIndex to, SwitchIndex s) {
    const auto& trees = planes_[plane];
    hops_[s] = 0;
    for_each_channel(net_, trees, s, to, [&](NetChannel /*c*/) { ++hops_[s]; });
    behind_.assign(1, s);
    for (std::size_t at = 0; at < behind_.size(); ++at) {
      const auto next = behind_[at];
      effort_ += net_.degree(next);
      flow_[next] = in_.topology.hosts(next);
      layers_through_[next] = 1U << layers_.of_pairs.at(next, to);
      for (const auto out : net_.by_port(next)) {
        const auto child = net_.head(out);
        if (!leads_on(trees, to, child, net_.reverse(out))) continue;
        hops_[child] = hops_[next] + 1;
        behind_.push_back(child);
      }
    }
    for (auto at = behind_.size(); at-- > 1;) {
      const auto child = behind_[at];
      const auto peer = net_.head(static_cast<NetChannel>(net_.first(child) + trees.next(to, child)));
      flow_[peer] += flow_[child];
      layers_through_[peer] |= layers_through_[child];
    }
  }

  /// The other ways of `from`, one of behind_, by which no load gets up to `limit` and the sum of the cubes
  /// of all loads gets smaller: that of the most loaded link alone says little of how even the others are.
  void collect(std::size_t plane, SwitchIndex to, SwitchIndex from, double limit) {
    const auto& trees = planes_[plane];
    const auto more = flow_[from] * hosts(plane, to);
    double saved = 0;
    for_each_channel(net_, trees, from, to, [&](NetChannel c) {
      left_[c] = 1;
      saved += cost(c, load_[c] - more, more);
    });
    for (auto c = net_.first(from); c < net_.first(from + 1); ++c) {
      if (leads_on(trees, to, from, c)) continue;
      const auto sum = cost_of_way(plane, to, c, more, limit);
      if (sum && *sum < saved) moves_.push_back({*sum - saved, plane, to, from, c});
    }
    for_each_channel(net_, trees, from, to, [&](NetChannel c) { left_[c] = 0; });
  }

  double cost(NetChannel c, double routes, double more) const {
    const auto load = routes * share_[c], added = more * share_[c];
    return added * (3 * load * (load + added) + added * added);
  }

  /// Of the way on by `first`; nothing where it is longer than now, or comes by the link that is relieved.
  std::optional<double> cost_of_way(std::size_t plane, SwitchIndex to, NetChannel first, double more,
                                    double limit) {
    const auto most_hops = hops_[net_.head(net_.reverse(first))];
    std::uint32_t hops = 0;
    double sum = 0;
    for (auto c = first;; ++hops) {
      ++effort_;
      const bool stays = left_[c] != 0;
      if (hops == most_hops || (!stays && (load_[c] + more) * share_[c] >= limit)) return std::nullopt;
      sum += cost(c, stays ? load_[c] - more : load_[c], more);
      const auto s = net_.head(c);
      if (s == to) return sum;
      const auto next = planes_[plane].next(to, s);
      if (s == behind_.front() || next == PathTrees::kNone) return std::nullopt;
      c = static_cast<NetChannel>(net_.first(s) + next);
    }
  }

  /// Whether its layers take it.
  bool take(const Move& move) {
    const auto to = move.to, from = move.from;
    auto& trees = planes_[move.plane];
    explore(move.plane, to, from);
    for (auto layers = layers_through_[from]; layers != 0; layers &= layers - 1) {
      if (!fits(move, static_cast<unsigned>(std::countr_zero(layers)))) return false;
    }
    const auto more = flow_[from] * hosts(move.plane, to);
    for_each_channel(net_, trees, from, to, [&](NetChannel c) { load_[c] -= more; });
    trees.next(to, from) = static_cast<std::uint8_t>(move.channel - net_.first(from));
    for_each_channel(net_, trees, from, to, [&](NetChannel c) { load_[c] += more; });
    return true;
  }

  /// Adds the dependencies of the paths of this layer.
  bool fits(const Move& move, unsigned layer) {
    const auto& trees = planes_[move.plane];
    waits_.clear();
    for (const auto out : net_.by_port(move.from)) {
      const auto child = net_.head(out), in = net_.reverse(out);
      if (leads_on(trees, move.to, child, in) && ((layers_through_[child] >> layer) & 1U) != 0)
        waits_.push_back(net_.pair(in, move.channel));
    }
    auto before = move.channel;
    for_each_channel(net_, trees, net_.head(move.channel), move.to, [&](NetChannel c) {
      waits_.push_back(net_.pair(before, c));
      before = c;
    });
    effort_ += waits_.size();
    return layer < layers_.graphs.size() && layers_.graphs[layer].add(waits_);
  }

  const RoutingContext& in_;
  const ChannelNet& net_;
  std::vector<PathTrees>& planes_;
  LayersInUse layers_;
  std::vector<std::uint32_t> hosts_;           ///< by plane and switch: its hosts in that plane
  std::vector<double> load_;                   ///< by channel: routes of hosts, whole numbers
  std::vector<double> share_;                  ///< by channel: 1 by the sum of its cables' rates
  std::vector<SwitchIndex> behind_;            ///< see explore()
  std::vector<std::uint32_t> hops_;            ///< by switch of behind_, here and below
  std::vector<double> flow_;                   ///< hosts whose paths come through it, its own included
  std::vector<std::uint32_t> layers_through_;  ///< a bit each
  std::vector<std::uint8_t> left_;             ///< scratch: by channel
  std::vector<Move> moves_;                    ///< scratch
  std::vector<ChannelPair> waits_;             ///< scratch
  std::uint64_t effort_ = 0;
};

}  // namespace

bool relieve_links(const RoutingContext& in, const ChannelNet& net, HostPlanes& trees,
                   const LayersInUse& layers) {
  return Relief(in, net, trees, layers).run();
}

}  // namespace smd::routing::inline engines
