// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/path_planes.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace smd::routing::inline engines {
namespace {

/// How good a way is; less is better.
using Merit = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // shared switches, links, load

/// Makes a copy of the first trees differ from those before it.
class OtherPlane {
 public:
  OtherPlane(const RoutingContext& in, const ChannelNet& net, const std::vector<PathTrees>& before,
             std::vector<std::uint64_t>& load, LayerGraph* turns)
      : in_(in),
        net_(net),
        before_(before),
        trees_(before.front()),
        load_(load),
        turns_(turns),
        hops_(net.switches()),
        crossed_(net.switches()),
        taken_(net.size()) {}

  PathTrees run() {
    for (SwitchIndex to = 0; to < net_.switches() && !in_.stop.stop_requested(); ++to) {
      if (in_.topology.end_ports_of(to).empty()) continue;  // switches have one LID
      measure(to);
      for (std::size_t at = 1; at < order_.size(); ++at) choose(to, order_[at]);
    }
    return std::move(trees_);
  }

 private:
  NetChannel channel(const PathTrees& trees, SwitchIndex to, SwitchIndex from) const {
    return static_cast<NetChannel>(net_.first(from) + trees.next(to, from));
  }

  template <class Fn>
  void for_each_child(SwitchIndex to, SwitchIndex s, const Fn& fn) const {
    for (const auto out : net_.by_port(s)) {
      const auto child = net_.head(out);
      if (child != to && trees_.next(to, child) != PathTrees::kNone &&
          channel(trees_, to, child) == net_.reverse(out))
        fn(net_.reverse(out), child);
    }
  }

  /// The switches of the tree, near ones first: the path on from each is settled before it.
  void measure(SwitchIndex to) {
    order_.assign(1, to);
    hops_[to] = 0;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      for_each_child(to, order_[at], [&](NetChannel /*c*/, SwitchIndex child) {
        hops_[child] = hops_[order_[at]] + 1;
        order_.push_back(child);
      });
    }
  }

  Merit merit(SwitchIndex to, NetChannel c) const {
    std::uint32_t switches = 0, links = taken_[c];
    auto load = load_[c];
    if (net_.head(c) != to) switches += crossed_[net_.head(c)];
    for_each_channel(net_, trees_, net_.head(c), to, [&](NetChannel on) {
      if (net_.head(on) != to) switches += crossed_[net_.head(on)];
      links += taken_[on];
      load = std::max(load, load_[on]);
    });
    return {switches, links, load};
  }

  /// Counts what the paths from `s` take in the planes before; `add`: 1, or -1 to take it back.
  void mark(SwitchIndex to, SwitchIndex s, std::uint32_t add) {
    for (const auto& plane : before_) {
      for_each_channel(net_, plane, s, to, [&](NetChannel c) {
        taken_[c] += add;
        crossed_[net_.head(c)] += add;
      });
    }
  }

  bool takes(SwitchIndex to, SwitchIndex s, NetChannel c) {
    if (turns_ == nullptr) return true;
    waits_.clear();
    for_each_child(to, s, [&](NetChannel in, SwitchIndex /*child*/) { waits_.push_back(net_.pair(in, c)); });
    if (const auto peer = net_.head(c); peer != to) waits_.push_back(net_.pair(c, channel(trees_, to, peer)));
    return turns_->add(waits_);
  }

  void choose(SwitchIndex to, SwitchIndex s) {
    const auto old = channel(trees_, to, s);
    mark(to, s, 1);
    ways_.clear();
    for (auto c = net_.first(s); c < net_.first(s + 1); ++c) {
      const auto peer = net_.head(c);
      const bool reaches = peer == to || trees_.next(to, peer) != PathTrees::kNone;
      if (reaches && hops_[peer] < hops_[s]) ways_.emplace_back(merit(to, c), c);
    }
    mark(to, s, ~std::uint32_t{0});
    std::ranges::sort(ways_);
    for (const auto& [merit, c] : ways_) {
      if (c != old && !takes(to, s, c)) continue;
      trees_.next(to, s) = static_cast<std::uint8_t>(c - net_.first(s));
      hops_[s] = hops_[net_.head(c)] + 1;
      break;
    }
    const std::uint64_t routes = std::uint64_t{in_.topology.hosts(s)} * in_.topology.hosts(to);
    if (routes != 0) for_each_channel(net_, trees_, s, to, [&](NetChannel c) { load_[c] += routes; });
  }

  const RoutingContext& in_;
  const ChannelNet& net_;
  const std::vector<PathTrees>& before_;
  PathTrees trees_;
  std::vector<std::uint64_t>& load_;  ///< by channel: routes of hosts in this plane and those before
  LayerGraph* turns_;
  std::vector<std::uint32_t> hops_;             ///< by switch, in the current tree
  std::vector<std::uint32_t> crossed_, taken_;  ///< by switch and channel: paths of planes before
  std::vector<SwitchIndex> order_;
  std::vector<std::pair<Merit, NetChannel>> ways_;  ///< scratch
  std::vector<ChannelPair> waits_;                  ///< scratch
};

}  // namespace

unsigned most_lids(const RoutingContext& in) {
  unsigned most = 1;
  for (EndIndex e = 0; e < in.topology.end_ports().size(); ++e)
    most = std::max(most, in.lids.of_end(e).count());
  return most;
}

std::vector<PathTrees> path_planes(const RoutingContext& in, const ChannelNet& net, PathTrees trees,
                                   unsigned planes, LayerGraph* turns) {
  std::vector<PathTrees> all;
  all.reserve(planes);
  all.push_back(std::move(trees));
  if (planes == 1) return all;
  std::vector<std::uint64_t> load(net.size());
  for (const auto to : in.topology.leaves()) {
    for (const auto from : in.topology.leaves()) {
      const auto routes = std::uint64_t{in.topology.hosts(from)} * in.topology.hosts(to);
      for_each_channel(net, all.front(), from, to, [&](NetChannel c) { load[c] += routes; });
    }
  }
  while (all.size() < planes) all.push_back(OtherPlane(in, net, all, load, turns).run());
  return all;
}

}  // namespace smd::routing::inline engines
