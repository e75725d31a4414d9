// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/relief.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

namespace smd::routing {
namespace {

using Channel = std::uint32_t;
using Load = std::uint32_t;

template <class Cost>
class Relief {
 public:
  Relief(const EngineInput& in, std::span<const Columns<Cost>> columns, Rows& rows)
      : in_(in),
        topology_(in.topology),
        all_(in.topology.switches()),
        hops_(topology_, columns, all_),
        fixed_(rows),
        fresh_(rows.size()),
        load_(topology_.channels()) {
    std::iota(all_.begin(), all_.end(), SwitchIndex{0});
    for (const auto& row : rows) entries_.push_back(row->data());
    for (EndIndex e = 0; e < topology_.end_ports().size(); ++e) {
      const auto& end = topology_.end_ports()[e];
      if (end.kind == EndKind::aggregation || end.sw == kNoSwitch || in.lids.of_end(e).count() == 0) continue;
      lids_.push_back(in.lids.of_end(e).base);
    }
    std::ranges::sort(lids_);
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      for (unsigned p = 0; p <= topology_.ports(s); ++p) switch_of_.push_back(s);
    }
  }

  void run() {
    count();
    std::priority_queue<std::pair<Load, Channel>> hottest;
    std::uint64_t sum = 0, used = 0;
    for (Channel c = 0; c < load_.size(); ++c) {
      if (load_[c] == 0) continue;
      hottest.emplace(load_[c], c);
      sum += load_[c];
      ++used;
    }
    while (!hottest.empty() && effort_ < kMostEffort && !in_.stop.stop_requested()) {
      const auto [load, channel] = hottest.top();
      if (load != load_[channel]) {  // an old entry
        hottest.pop();
        continue;
      }
      if (load * used * 4 <= sum * 5 || !relieve(channel)) return;
      for (const auto changed : changed_) hottest.emplace(load_[changed], changed);
    }
  }

 private:
  /// One switch on the way to the cable, whose choice could be another.
  struct Feeder {
    SwitchIndex sw = 0;
    unsigned depth = 0;
  };
  struct Move {
    SwitchIndex sw = 0;
    Lid lid;
    std::uint8_t port = kNoRoute;
    Load flow = 0;
    Load worst = 0;  ///< load of the most used cable that gets more
  };

  std::uint8_t port_at(SwitchIndex s, Lid lid) const { return entries_[s][lid.value()]; }
  SwitchIndex next(SwitchIndex s, Lid lid) const { return topology_.peer(s, PortNum{port_at(s, lid)}).sw; }
  Channel channel(SwitchIndex s, std::uint8_t port) const {
    return static_cast<Channel>(topology_.channel(s, PortNum{port}));
  }

  void count() {
    for (const auto lid : lids_) {
      for (const auto leaf : topology_.leaves()) {
        auto s = leaf;
        for (std::size_t hop = 0; hop < topology_.switches(); ++hop) {
          const auto to = next(s, lid);
          if (to == kNoSwitch) break;
          load_[channel(s, port_at(s, lid))] += topology_.hosts(leaf);
          s = to;
        }
      }
    }
  }

  /// Hosts whose way to the LID leads through the switch.
  Load flow(SwitchIndex s, Lid lid) {
    effort_ += topology_.groups(s);
    Load sum = topology_.hosts(s);
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto peer = topology_.group(s, g).peer;
      if (next(peer, lid) == s) sum += flow(peer, lid);
    }
    return sum;
  }

  /// Better than the best so far, by how much the most used cable of the new way would carry.
  void try_ports(SwitchIndex s, Lid lid, Move& best) {
    effort_ += topology_.groups(s);
    const auto to = in_.lids.destination(lid).sw;
    const auto set = hops_.towards(s, to);
    const auto now = port_at(s, lid);
    Load through = 0;
    for (std::size_t w = 0; w < set.words.size(); ++w) {
      for (auto word = set.words[w]; word != 0; word &= word - 1) {
        const auto group = topology_.group(s, w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
        for (const auto port : group.ports) {
          if (port.value() == now || load_[channel(s, port.value())] >= best.worst) continue;
          if (through == 0) through = flow(s, lid);
          const auto worst = worst_by(s, lid, port.value(), through);
          if (worst < best.worst) best = {s, lid, port.value(), through, worst};
        }
      }
    }
  }

  /// Where the new way meets the old one nothing changes any more; that must be behind the cable.
  Load worst_by(SwitchIndex s, Lid lid, std::uint8_t port, Load more) {
    old_way_.clear();
    for (auto at = s; at != kNoSwitch; at = next(at, lid)) old_way_.push_back(at);
    Load worst = load_[channel(s, port)] + more;
    auto at = topology_.peer(s, PortNum{port}).sw;
    while (std::ranges::find(old_way_, at) == old_way_.end()) {
      worst = std::max(worst, load_[channel(at, port_at(at, lid))] + more);
      at = next(at, lid);
    }
    const auto meets = std::ranges::find(old_way_, at);
    return std::ranges::find(old_way_, hot_switch_) < meets ? worst : std::numeric_limits<Load>::max();
  }

  bool relieve(Channel hot) {
    const auto sw = hot_switch_ = switch_of_[hot];
    const auto port = static_cast<std::uint8_t>(hot - channel(sw, 0));
    effort_ += lids_.size() / kLidsOfAnEffort;
    Move best;
    best.worst = load_[hot];
    for (const auto lid : lids_) {
      if (port_at(sw, lid) != port) continue;
      feeders_.assign(1, {sw, 0});
      for (std::size_t at = 0; at < feeders_.size(); ++at) {
        const auto [s, depth] = feeders_[at];
        try_ports(s, lid, best);
        if (best.worst < load_[hot] - load_[hot] / kEnough) return apply(best);
        if (depth == kDeepest) continue;
        for (std::size_t g = 0; g < topology_.groups(s); ++g) {
          const auto peer = topology_.group(s, g).peer;
          if (next(peer, lid) == s) feeders_.push_back({peer, depth + 1});
        }
      }
    }
    return best.port != kNoRoute && apply(best);
  }

  bool apply(const Move& move) {
    changed_.clear();
    shift(move, false);
    if (fresh_[move.sw] == nullptr) {
      fresh_[move.sw] = std::make_shared<LftRow>(*fixed_[move.sw]);
      entries_[move.sw] = fresh_[move.sw]->data();
      fixed_[move.sw] = fresh_[move.sw];
    }
    (*fresh_[move.sw])[move.lid.value()] = move.port;
    shift(move, true);
    return true;
  }

  void shift(const Move& move, bool onto) {
    for (auto s = move.sw; next(s, move.lid) != kNoSwitch; s = next(s, move.lid)) {
      const auto at = channel(s, port_at(s, move.lid));
      onto ? load_[at] += move.flow : load_[at] -= move.flow;
      changed_.push_back(at);
    }
  }

  static constexpr unsigned kDeepest = 2;
  /// Neighbours looked at: about a second's work. Trees of 10,000 hosts without a twentieth of their
  /// cables take half of it.
  static constexpr std::uint64_t kMostEffort = std::uint64_t{1} << 25;
  static constexpr std::uint64_t kLidsOfAnEffort = 16;
  static constexpr Load kEnough = 16;  ///< a move that relieves by a sixteenth is taken at once

  const EngineInput& in_;
  const Topology& topology_;
  std::vector<SwitchIndex> all_;
  NextHops<Cost> hops_;
  Rows& fixed_;
  std::vector<std::shared_ptr<LftRow>> fresh_;
  std::vector<const std::uint8_t*> entries_;
  std::vector<Load> load_;
  std::vector<Lid> lids_;
  std::vector<SwitchIndex> switch_of_;  ///< by channel
  std::vector<Channel> changed_;
  std::vector<Feeder> feeders_;
  std::vector<SwitchIndex> old_way_;
  SwitchIndex hot_switch_ = 0;
  std::uint64_t effort_ = 0;
};

}  // namespace

bool even(const Topology& topology, const Order& order, const Shape& shape) {
  const auto has = [&](SwitchIndex s, const UpSlot& slot) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      if (topology.group(s, g).peer == slot.peer) return topology.group(s, g).ports.size() >= slot.cables;
    }
    return false;
  };
  std::map<std::int32_t, std::size_t> width;
  return std::ranges::all_of(shape.families, [&](const Family& family) {
    const auto rank = order.rank[family.members.front()];
    return family.gone.empty() && width.try_emplace(rank, family.width()).first->second == family.width() &&
           std::ranges::all_of(family.members, [&](SwitchIndex s) {
             return std::ranges::all_of(family.slots, [&](const UpSlot& slot) { return has(s, slot); });
           });
  });
}

template <std::unsigned_integral Cost>
void relieve(const EngineInput& in, std::span<const Columns<Cost>> columns, Rows& rows) {
  Relief<Cost>(in, columns, rows).run();
}

template void relieve<std::uint8_t>(const EngineInput&, std::span<const Columns<std::uint8_t>>, Rows&);
template void relieve<std::uint16_t>(const EngineInput&, std::span<const Columns<std::uint16_t>>, Rows&);

}  // namespace smd::routing
