// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/rebalance.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <ranges>
#include <utility>

#include "routing/engines/enough_load.h"
#include "routing/engines/loads.h"
#include "routing/topology/rates.h"

namespace smd::routing::inline engines {
namespace {

using Channel = std::uint32_t;

/// Reorders LIDs so that neighbours are far apart: hosts that receive at the same time must not all move to
/// one cable.
std::vector<Lid> scattered(std::span<const Lid> lids) {
  std::vector<Lid> ranking;
  ranking.reserve(lids.size());
  std::size_t step = lids.size() * 5 / 8 + 1;
  while (std::gcd(step, lids.size()) > 1) ++step;
  for (std::size_t i = 0, at = 0; i < lids.size(); ++i, at = (at + step) % lids.size()) {
    ranking.push_back(lids[at]);
  }
  return ranking;
}

template <class Cost>
class Rebalancer {
 public:
  Rebalancer(const EngineInput& in, std::span<const Columns<Cost>> columns, Rows& rows)
      : in_(in),
        topology_(in.context.topology),
        ranking_(*columns.front().ranking),
        all_(in.context.topology.switches()),
        hops_(topology_, columns, all_),
        fixed_(rows),
        fresh_(rows.size()) {
    std::iota(all_.begin(), all_.end(), SwitchIndex{0});
    for (const auto& row : rows) entries_.push_back(row->data());
    for (EndIndex e = 0; e < topology_.end_ports().size(); ++e) {
      const auto& end = topology_.end_ports()[e];
      if (end.kind == EndKind::aggregation || end.sw == kNoSwitch || in.context.lids.of_end(e).count() == 0)
        continue;
      lids_.push_back(in.context.lids.of_end(e).base);
    }
    scattered_ = scattered(lids_);
    std::ranges::sort(lids_);
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      for (unsigned p = 0; p <= topology_.ports(s); ++p) switch_of_.push_back(s);
    }
  }

  HighestLoad run(Rebalance until) {
    load_ = count_loads(topology_, ranking_, lids_, entries_, in_.context.parallel);
    weights_ = route_weights(topology_);
    const auto before = highest();
    chains_ = until == Rebalance::chained;
    const LoadedTree tree{topology_, ranking_, load_, weights_};
    const auto enough = enough_load(tree, until);
    const bool splits = until == Rebalance::damaged && before > enough && routes_to_one_host(tree) > enough;
    move_until(enough);
    return {before, highest(), splits};
  }

 private:
  /// A switch on a path to the overloaded cable, at which the path could branch off.
  struct Feeder {
    SwitchIndex sw = 0;
    unsigned depth = 0;
  };
  struct Move {
    SwitchIndex sw = 0;
    Lid lid;
    std::uint8_t port = kNoRoute;
    Load flow = 0;
    Weight worst = 0;  ///< of the most loaded cable that gains load
  };

  std::uint8_t port_at(SwitchIndex s, Lid lid) const { return entries_[s][lid.value()]; }
  SwitchIndex next(SwitchIndex s, Lid lid) const { return topology_.peer(s, PortNum{port_at(s, lid)}).sw; }
  Channel channel(SwitchIndex s, std::uint8_t port) const {
    return static_cast<Channel>(topology_.channel(s, PortNum{port}));
  }

  Weight weight(Channel c, Load more = 0) const { return weighed(Weight{load_[c]} + more, weights_, c); }

  Weight highest() const {
    Weight most = 0;
    for (Channel c = 0; c < load_.size(); ++c) most = std::max(most, weight(c));
    return most;
  }

  void move_until(Weight enough) {
    for (auto limit = highest(); limit > enough;) {
      limit = std::max(enough, limit - std::max(limit / kSteps, Weight{1}));
      const bool fine = limit_all(limit);
      if (effort_ >= kMostEffort || in_.context.stop.stop_requested()) return;
      if (!fine) break;
    }
    polish(enough);
  }

  /// Calls fn(neighbour) for each neighbour that sends the LID to the switch. What leaves upwards came from
  /// below.
  template <class Fn>
  void for_each_feeder(SwitchIndex s, Lid lid, const Fn& fn) {
    const auto to = next(s, lid);
    const bool from_below = to != kNoSwitch && ranking_.up(s, to);
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto peer = topology_.group(s, g).peer;
      if (from_below && ranking_.up(s, peer)) continue;
      ++effort_;
      if (next(peer, lid) == s) fn(peer);
    }
  }

  /// Number of hosts whose route to the LID crosses the switch.
  Load flow(SwitchIndex s, Lid lid) {
    Load sum = topology_.hosts(s);
    for_each_feeder(s, lid, [&](SwitchIndex peer) { sum += flow(peer, lid); });
    return sum;
  }

  /// Whether another cable in the direction of the port carries less: a cheap test that excludes most
  /// candidates.
  bool any_below(SwitchIndex s, std::uint8_t port, Weight limit) const {
    const auto peer = topology_.peer(s, PortNum{port}).sw;
    if (peer == kNoSwitch) return false;
    const bool up = ranking_.up(s, peer);
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      if (ranking_.up(s, group.peer) != up) continue;
      for (const auto other : group.ports) {
        if (other.value() != port && weight(channel(s, other.value())) < limit) return true;
      }
    }
    return false;
  }

  /// Updates `best` if a port gives a lower load on the most loaded cable of the new path.
  void try_ports(SwitchIndex s, Lid lid, Move& best) {
    effort_ += topology_.groups(s);
    const auto to = in_.context.lids.destination(lid).sw;
    const auto now = port_at(s, lid);
    if (!any_below(s, now, best.worst)) return;
    Load through = 0;
    for_each_port(s, to, [&](std::uint8_t port) {
      if (port == now || weight(channel(s, port)) >= best.worst) return;
      if (through == 0) through = flow(s, lid);
      const auto worst = worst_by(s, lid, port, through);
      if (worst < best.worst) best = {s, lid, port, through, worst};
    });
  }

  /// Calls fn(port) for each that leads towards the switch.
  template <class Fn>
  void for_each_port(SwitchIndex s, SwitchIndex to, const Fn& fn) {
    const auto set = hops_.towards(s, to);
    for (std::size_t w = 0; w < set.words.size(); ++w) {
      for (auto word = set.words[w]; word != 0; word &= word - 1) {
        const auto group = topology_.group(s, w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
        for (const auto port : group.ports) fn(port.value());
      }
    }
  }

  /// As worst_by(), without the cable at the port itself.
  Weight worst_behind(SwitchIndex s, Lid lid, std::uint8_t port, Load more, bool past_hot) {
    const auto first = channel(s, port);
    const auto load = std::exchange(load_[first], 0);
    const auto hot = std::exchange(hot_switch_, past_hot ? hot_switch_ : s);
    const auto worst = worst_by(s, lid, port, more);
    load_[first] = load;
    hot_switch_ = hot;
    return worst;
  }

  /// Behind the point where the new path meets the old one nothing changes. That point must be behind the
  /// overloaded cable.
  Weight worst_by(SwitchIndex s, Lid lid, std::uint8_t port, Load more) {
    old_path_.clear();
    for (auto at = s; at != kNoSwitch; at = next(at, lid)) old_path_.push_back(at);
    auto worst = weight(channel(s, port), more);
    auto at = topology_.peer(s, PortNum{port}).sw;
    while (std::ranges::find(old_path_, at) == old_path_.end()) {
      worst = std::max(worst, weight(channel(at, port_at(at, lid)), more));
      at = next(at, lid);
    }
    const auto meets = std::ranges::find(old_path_, at);
    return std::ranges::find(old_path_, hot_switch_) < meets ? worst : std::numeric_limits<Weight>::max();
  }

  /// Calls fn(switch, lid) for each switch near the cable whose route to the LID crosses it, until fn returns
  /// false.
  template <class Fn>
  bool for_each_choice(Channel hot, const Fn& fn) {
    const auto sw = hot_switch_ = switch_of_[hot];
    const auto port = static_cast<std::uint8_t>(hot - channel(sw, 0));
    effort_ += lids_.size() / kLidsOfAnEffort;
    for (const auto lid : scattered_) {
      if (port_at(sw, lid) != port) continue;
      feeders_.assign(1, {sw, 0});
      for (std::size_t at = 0; at < feeders_.size(); ++at) {
        const auto [s, depth] = feeders_[at];
        if (!fn(s, lid)) return false;
        if (port_at(sw, lid) != port) break;
        if (depth == kDeepest) continue;
        for_each_feeder(s, lid, [&](SwitchIndex peer) { feeders_.push_back({peer, depth + 1}); });
      }
    }
    return true;
  }

  /// Reduces all cables to the limit, most loaded first, as far as no other cable exceeds it. Returns whether
  /// it succeeded.
  bool limit_all(Weight limit) {
    std::vector<std::pair<Weight, Channel>> hot;
    for (Channel c = 0; c < load_.size(); ++c) {
      if (weight(c) > limit) hot.emplace_back(weight(c), c);
    }
    std::ranges::sort(hot, std::ranges::greater{});
    bool all = true;
    for (const auto& [before, c] : hot) {
      if (effort_ >= kMostEffort || in_.context.stop.stop_requested()) return false;
      for_each_choice(c, [&](SwitchIndex s, Lid lid) {
        Move best;
        best.worst = limit + 1;
        try_ports(s, lid, best);
        if (best.port != kNoRoute) apply(best);
        return weight(c) > limit && effort_ < kMostEffort;
      });
      all = all && weight(c) <= limit;
    }
    return all;
  }

  /// Relieves the most loaded cable by its best move, repeatedly.
  void polish(Weight enough) {
    std::priority_queue<std::pair<Weight, Channel>> hottest;
    for (Channel c = 0; c < load_.size(); ++c) {
      if (weight(c) > enough) hottest.emplace(weight(c), c);
    }
    while (!hottest.empty() && effort_ < kMostEffort && !in_.context.stop.stop_requested()) {
      const auto [load, channel] = hottest.top();
      if (load != weight(channel)) {  // outdated entry
        hottest.pop();
        continue;
      }
      changed_.clear();
      if (load <= enough || (!rebalance(channel) && (!chains_ || !rebalance_by_chain(channel)))) return;
      for (const auto changed : changed_) hottest.emplace(weight(changed), changed);
    }
  }

  bool rebalance(Channel hot) {
    Move best;
    best.worst = weight(hot);
    for_each_choice(hot, [&](SwitchIndex s, Lid lid) {
      try_ports(s, lid, best);
      return best.worst >= weight(hot) - weight(hot) / kEnough;
    });
    if (best.port != kNoRoute) apply(best);
    return best.port != kNoRoute;
  }

  /// Relieves the cable by a chain of moves at one switch, each of which makes room for the one before.
  bool rebalance_by_chain(Channel hot) {
    std::vector<SwitchIndex> tried;
    bool done = false;
    for_each_choice(hot, [&](SwitchIndex s, Lid lid) {
      if (std::ranges::find(tried, s) != tried.end()) return true;
      tried.push_back(s);
      done = apply_chain(find_chain(s, lid, weight(hot)), hot);
      return !done && effort_ < kMostEffort;
    });
    return done;
  }

  /// Breadth first over the ports of `s`, from that of `lid`, which crosses the most loaded cable: empty if
  /// no chain ends at a port with room.
  std::vector<Move> find_chain(SwitchIndex s, Lid lid, Weight most) {
    struct Step {
      std::uint8_t port = kNoRoute;
      std::size_t before = 0;
      Move move;
    };
    std::vector<Step> steps{{port_at(s, lid), 0, {}}};
    std::vector<bool> seen(std::size_t{topology_.ports(s)} + 1);
    seen[steps.front().port] = true;
    std::optional<std::size_t> last;
    const auto go_on = [&](std::size_t at, Lid moved) {
      effort_ += topology_.groups(s);
      for_each_port(s, in_.context.lids.destination(moved).sw, [&](std::uint8_t port) {
        if (last || seen[port]) return;
        const auto through = flow(s, moved);
        if (through == 0 || worst_behind(s, moved, port, through, at == 0) >= most) return;
        seen[port] = true;
        steps.push_back({port, at, {s, moved, port, through, 0}});
        if (weight(channel(s, port), through) < most) last = steps.size() - 1;
      });
    };
    for (std::size_t at = 0; at < steps.size() && !last; ++at) {
      const auto port = steps[at].port;
      for (const auto other : scattered_) {
        if (port_at(s, other) == port && !last) go_on(at, other);
      }
    }
    std::vector<Move> chain;
    for (auto at = last.value_or(0); at != 0; at = steps[at].before) chain.push_back(steps[at].move);
    return chain;
  }

  /// Takes it back if `hot` or some other cable would carry as much as `hot` now.
  bool apply_chain(const std::vector<Move>& chain, Channel hot) {
    const auto most = weight(hot);
    std::vector<Move> back;
    changed_.clear();
    for (const auto& move : chain) {
      back.push_back({move.sw, move.lid, port_at(move.sw, move.lid), move.flow, 0});
      apply(move);
    }
    const bool good = !chain.empty() && weight(hot) < most &&
                      std::ranges::all_of(changed_, [&](Channel c) { return weight(c) < most; });
    for (const auto& move : back | std::views::reverse) {
      if (!good) apply(move);
    }
    return good;
  }

  void apply(const Move& move) {
    shift(move, false);
    if (fresh_[move.sw] == nullptr) {
      fresh_[move.sw] = std::make_shared<LftRow>(*fixed_[move.sw]);
      entries_[move.sw] = fresh_[move.sw]->data();
      fixed_[move.sw] = fresh_[move.sw];
    }
    (*fresh_[move.sw])[move.lid.value()] = move.port;
    shift(move, true);
  }

  void shift(const Move& move, bool onto) {
    for (auto s = move.sw; next(s, move.lid) != kNoSwitch; s = next(s, move.lid)) {
      const auto at = channel(s, port_at(s, move.lid));
      onto ? load_[at] += move.flow : load_[at] -= move.flow;
      changed_.push_back(at);
    }
  }

  static constexpr unsigned kDeepest = 3;
  /// In neighbours examined: half a second of work for trees of 10,000 hosts, two seconds for 40,000.
  static constexpr std::uint64_t kMostEffort = std::uint64_t{1} << 25;
  static constexpr std::uint64_t kLidsOfAnEffort = 16;
  static constexpr Weight kEnough = 16;  ///< a move that removes a sixteenth is taken at once
  static constexpr Weight kSteps = 16;   ///< limits decrease by a sixteenth

  const EngineInput& in_;
  const Topology& topology_;
  const SwitchRanking& ranking_;
  std::vector<SwitchIndex> all_;
  NextHops<Cost> hops_;
  Rows& fixed_;
  std::vector<std::shared_ptr<LftRow>> fresh_;
  std::vector<const std::uint8_t*> entries_;
  std::vector<Load> load_;
  std::vector<std::uint32_t> weights_;
  std::vector<Lid> lids_, scattered_;
  std::vector<SwitchIndex> switch_of_;  ///< by channel
  std::vector<Channel> changed_;
  std::vector<Feeder> feeders_;
  std::vector<SwitchIndex> old_path_;
  SwitchIndex hot_switch_ = 0;
  bool chains_ = false;
  std::uint64_t effort_ = 0;
};

}  // namespace

template <std::unsigned_integral Cost>
HighestLoad rebalance(const EngineInput& in, std::span<const Columns<Cost>> columns, Rows& rows,
                      Rebalance until) {
  return Rebalancer<Cost>(in, columns, rows).run(until);
}

template HighestLoad rebalance<std::uint8_t>(const EngineInput&, std::span<const Columns<std::uint8_t>>,
                                             Rows&, Rebalance);
template HighestLoad rebalance<std::uint16_t>(const EngineInput&, std::span<const Columns<std::uint16_t>>,
                                              Rows&, Rebalance);

}  // namespace smd::routing::inline engines
