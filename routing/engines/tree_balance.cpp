// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/tree_balance.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace smd::routing::inline engines {
namespace {

/// Later rounds find little to move.
constexpr int kRounds = 6;

class Balance {
 public:
  Balance(const RoutingContext& in, const ChannelNet& net, PathTrees& trees, LayerGraph* turns)
      : in_(in),
        net_(net),
        trees_(trees),
        turns_(turns),
        load_(net.size()),
        share_(net.size()),
        flow_(net.switches()),
        hops_(net.switches()),
        up_(net.switches()) {
    const auto& topology = in.topology;
    for (SwitchIndex s = 0; s < net.switches(); ++s) {
      for (std::size_t g = 0; g < net.degree(s); ++g) {
        double capacity = 0;
        for (const auto port : topology.group(s, g).ports) capacity += topology.rate(s, port);
        share_[net.first(s) + g] = 1 / capacity;
      }
    }
  }

  /// Returns the highest load.
  double run() {
    for (const auto to : in_.topology.leaves()) {
      measure(to);
      const double hosts = in_.topology.hosts(to);
      for (const auto s : order_) {
        if (s != to) load_[up_[s].channel] += flow_[s] * hosts;
      }
    }
    bool better = true;
    auto highest = highest_load();
    for (int round = 0; round < kRounds && better; ++round) {
      better = false;
      for (const auto to : in_.topology.leaves()) {
        if (in_.stop.stop_requested()) return 0;
        measure(to);
        for (auto at = order_.size(); at-- > 1;) better = improve(to, order_[at]) || better;
      }
      // Rounds with turns take long, and those that do not lower it any more change little else.
      const auto before = std::exchange(highest, highest_load());
      if (turns_ != nullptr && highest >= before) break;
    }
    return highest;
  }

 private:
  static constexpr NetChannel kNoChannel = ~NetChannel{0};

  /// The way on from a switch in the tree that is looked at.
  struct Up {
    NetChannel channel = kNoChannel;
    SwitchIndex peer = kNoSwitch;
  };

  double highest_load() const {
    double highest = 0;
    for (NetChannel c = 0; c < net_.size(); ++c) highest = std::max(highest, load_[c] * share_[c]);
    return highest;
  }

  /// Sets up_, and order_ to the switches of the tree, the root first, and the hops and the flow of each.
  void measure(SwitchIndex to) {
    for (SwitchIndex s = 0; s < net_.switches(); ++s) {
      const auto next = trees_.next(to, s);
      const auto c = static_cast<NetChannel>(net_.first(s) + next);
      up_[s] = next == PathTrees::kNone ? Up{} : Up{c, net_.head(c)};
    }
    order_.assign(1, to);
    hops_[to] = 0;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const auto s = order_[at];
      for_each_child(s, [&](NetChannel /*c*/, SwitchIndex child) {
        hops_[child] = hops_[s] + 1;
        order_.push_back(child);
      });
    }
    for (const auto s : order_) flow_[s] = in_.topology.hosts(s);
    for (auto at = order_.size(); at-- > 1;) flow_[up_[order_[at]].peer] += flow_[order_[at]];
  }

  /// Calls fn(channel, switch) for the switches whose next one is `s`.
  template <class Fn>
  void for_each_child(SwitchIndex s, const Fn& fn) const {
    for (const auto out : net_.by_port(s)) {
      const auto child = net_.head(out), in = net_.reverse(out);
      if (up_[child].channel == in) fn(in, child);
    }
  }

  /// By how much the sum of cubes grows.
  double cost(NetChannel c, double more) const { return cost(c, load_[c], more); }
  double cost(NetChannel c, double routes, double more) const {
    const auto load = routes * share_[c], added = more * share_[c];
    return added * (3 * load * (load + added) + added * added);
  }

  /// Of the path from `from`, to which its `more` routes would be added again.
  double cost_now(SwitchIndex from, SwitchIndex to, double more) const {
    double sum = 0;
    for (auto s = from; s != to; s = up_[s].peer) {
      const auto c = up_[s].channel;
      sum += cost(c, load_[c] - more, more);
    }
    return sum;
  }

  /// Of the path on from `from`, added to `sum`; at least `limit`, if it gets so much or comes through `s`.
  double cost_of_path(SwitchIndex to, SwitchIndex from, double more, double sum, SwitchIndex s,
                      double limit) const {
    while (from != to && sum < limit) {
      if (from == s) return limit;
      sum += cost(up_[from].channel, more);
      from = up_[from].peer;
    }
    return sum;
  }

  void move(SwitchIndex to, SwitchIndex from, double flow, double hosts) {
    for (auto s = from; s != to;) {
      load_[up_[s].channel] += flow * hosts;
      s = up_[s].peer;
      flow_[s] += flow;
    }
  }

  /// Whether all that comes through `s` may leave it by `c`.
  bool takes(SwitchIndex to, SwitchIndex s, NetChannel c) {
    if (turns_ == nullptr) return true;
    waits_.clear();
    for_each_child(s, [&](NetChannel in, SwitchIndex /*child*/) { waits_.push_back(net_.pair(in, c)); });
    if (const auto peer = net_.head(c); peer != to) waits_.push_back(net_.pair(c, up_[peer].channel));
    return turns_->add(waits_);
  }

  /// Collects in better_ the other channels of `s` that cost less than `now` by themselves.
  void collect(SwitchIndex s, double more, double now) {
    better_.clear();
    for (auto c = net_.first(s); c < net_.first(s + 1); ++c) {
      if (c == up_[s].channel || (turns_ == nullptr && hops_[net_.head(c)] >= hops_[s])) continue;
      if (const auto alone = cost(c, more); alone < now) better_.emplace_back(alone, c);
    }
  }

  /// Whether the switch has another path now.
  bool improve(SwitchIndex to, SwitchIndex s) {
    if (flow_[s] == 0) return false;
    const double hosts = in_.topology.hosts(to), flow = flow_[s], more = flow * hosts;
    const auto now = cost_now(s, to, more);
    collect(s, more, now);
    if (better_.empty()) return false;
    move(to, s, -flow, hosts);
    for (auto& [cost, c] : better_) cost = cost_of_path(to, net_.head(c), more, cost, s, now);
    std::erase_if(better_, [&](const auto& b) { return b.first >= now; });
    std::ranges::sort(better_);
    const auto chosen = std::ranges::find_if(better_, [&](const auto& b) { return takes(to, s, b.second); });
    if (chosen != better_.end()) {
      const auto c = chosen->second;
      trees_.next(to, s) = static_cast<std::uint8_t>(c - net_.first(s));
      up_[s] = {c, net_.head(c)};
      hops_[s] = hops_[up_[s].peer] + 1;
    }
    move(to, s, flow, hosts);
    return chosen != better_.end();
  }

  const RoutingContext& in_;
  const ChannelNet& net_;
  PathTrees& trees_;
  LayerGraph* turns_;
  std::vector<double> load_;         ///< by channel: routes of hosts, whole numbers
  std::vector<double> share_;        ///< by channel: 1 by the sum of its cables' rates
  std::vector<double> flow_;         ///< by switch: hosts behind it, its own included
  std::vector<std::uint32_t> hops_;  ///< by switch, in the current tree
  std::vector<Up> up_;               ///< by switch, in the current tree; the root has none
  std::vector<SwitchIndex> order_;
  std::vector<std::pair<double, NetChannel>> better_;  ///< scratch
  std::vector<ChannelPair> waits_;                     ///< scratch
};

}  // namespace

double balance_trees(const RoutingContext& in, const ChannelNet& net, PathTrees& trees, LayerGraph* turns) {
  return Balance(in, net, trees, turns).run();
}

PathTrees balanced_trees(const RoutingContext& in, const ChannelNet& net) {
  auto trees = breadth_first_trees(in, net);
  balance_trees(in, net, trees, nullptr);
  return trees;
}

}  // namespace smd::routing::inline engines
