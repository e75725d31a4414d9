// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/extend.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/repair/stale_lids.h"
#include "routing/verify/egress_sets.h"

namespace smd::routing::inline repair {
namespace {

/// The dependencies of channels, grown step by step without closing a new cycle.
class Waiting {
 public:
  explicit Waiting(const Topology& topology) : topology_(topology), seen_(topology.channels()) {
    unsigned most = 0;
    for (SwitchIndex s = 0; s < topology.switches(); ++s) most = std::max(most, topology.ports(s));
    words_ = most / 64 + 1;
    waits_.resize(topology.channels() * words_);
  }

  /// A packet that leaves `s` by `out` leaves the next switch by `then`.
  void add(SwitchIndex s, std::uint8_t out, std::uint8_t then) {
    waits_[topology_.channel(s, PortNum{out}) * words_ + then / 64U] |= std::uint64_t{1} << (then % 64U);
  }
  bool has(SwitchIndex s, std::uint8_t out, std::uint8_t then) const {
    return (waits_[topology_.channel(s, PortNum{out}) * words_ + then / 64U] >> (then % 64U) & 1U) != 0;
  }
  /// False, and nothing is added, if it would close a cycle.
  bool try_add(SwitchIndex s, std::uint8_t out, std::uint8_t then) {
    if (has(s, out, then)) return true;
    const auto next = topology_.peer(s, PortNum{out}).sw;
    if (leads({next, then}, topology_.channel(s, PortNum{out}))) return false;
    add(s, out, then);
    return true;
  }

 private:
  struct Channel {
    SwitchIndex sw = 0;
    std::uint8_t out = 0;
  };

  bool leads(Channel from, std::size_t to) {
    ++epoch_;
    open_.assign(1, from);
    while (!open_.empty()) {
      const auto [sw, out] = open_.back();
      open_.pop_back();
      const auto channel = topology_.channel(sw, PortNum{out});
      if (channel == to) return true;
      if (std::exchange(seen_[channel], epoch_) == epoch_) continue;
      const auto next = topology_.peer(sw, PortNum{out}).sw;
      if (next == kNoSwitch) continue;
      for (std::size_t w = 0; w < words_; ++w) {
        for (auto bits = waits_[channel * words_ + w]; bits != 0; bits &= bits - 1)
          open_.push_back(
              {next, static_cast<std::uint8_t>(w * 64 + static_cast<unsigned>(std::countr_zero(bits)))});
      }
    }
    return false;
  }

  const Topology& topology_;
  std::size_t words_ = 1;
  std::vector<std::uint64_t> waits_;  ///< by channel
  std::vector<std::uint32_t> seen_;
  std::uint32_t epoch_ = 0;
  std::vector<Channel> open_;
};

/// Whether old entries that do not arrive count as dependencies. Packets that follow them live on for a
/// while: only if they count can the new entries be written at once.
enum class FailedPaths : std::uint8_t { counts, does_not_count };

class Extension {
 public:
  Extension(const ExtendInput& in, FailedPaths lost)
      : in_(in),
        failed_paths_(lost),
        topology_(in.context.topology),
        waiting_(layers_in_use(in.layers), Waiting(in.context.topology)),
        arrives_(in.context.topology.switches()) {
    for (const auto& row : in.old) {
      rows_.push_back(row ? std::make_shared<LftRow>(*row) : std::make_shared<LftRow>());
      rows_.back()->resize(std::max(rows_.back()->size(), in.context.lids.row_size()), kNoRoute);
    }
  }

  /// `first`: the LIDs that search first, in this order; gains the LID that found no path, for the next try.
  std::expected<Repaired, RouteError> run(std::vector<Lid>& first) {
    std::array<std::vector<Lid>, kLidKinds> of_kind;
    for (std::size_t value = 1; value < in_.context.lids.row_size() && !in_.context.stop.stop_requested();
         ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = in_.context.lids.destination(lid);
      if (to.sw != kNoSwitch && !keep(lid))
        of_kind[static_cast<std::size_t>(kind_of(topology_, to))].push_back(lid);
    }
    std::vector<Lid> broken;
    for (const auto& lids : of_kind) broken.insert(broken.end(), lids.begin(), lids.end());
    for (const auto lid : first) {
      const auto at = std::ranges::find(broken, lid);
      std::rotate(broken.begin(), at, at + 1);
    }
    for (const auto lid : broken) {
      if (in_.context.stop.stop_requested()) return std::unexpected(RouteError{});
      const auto lost = attach(lid);
      if (lost != kNoSwitch) {
        first.push_back(lid);
        const auto to = in_.context.lids.destination(lid).sw;
        return std::unexpected(
            RouteError{RouteError::Cause::no_legal_path, {topology_.guid(lost), topology_.guid(to)}});
      }
    }
    return finish();
  }

 private:
  std::uint8_t& at(SwitchIndex s, Lid lid) { return (*rows_[s])[lid.value()]; }

  /// Adds the dependencies of packets that arrive. False if a connected switch does not reach the LID.
  bool keep(Lid lid) {
    const auto to = in_.context.lids.destination(lid);
    trace(lid);
    auto& waiting = waiting_[in_.layers.to(lid)];
    bool whole = at(to.sw, lid) == to.port.value();
    for (SwitchIndex s = 0; s < rows_.size(); ++s) {
      if (s == to.sw) continue;
      if (!arrives_[s]) {
        whole = whole && topology_.component(s) != topology_.component(to.sw);
        if (failed_paths_ == FailedPaths::counts) keep_failed(waiting, s, lid);
        continue;
      }
      const auto next = topology_.peer(s, PortNum{at(s, lid)}).sw;
      if (next != to.sw) waiting.add(s, at(s, lid), at(next, lid));
    }
    return whole;
  }

  /// Adds those of packets towards a link that is down, or in a forwarding loop that existed before.
  void keep_failed(Waiting& waiting, SwitchIndex s, Lid lid) {
    const auto out = at(s, lid);
    const auto next = topology_.peer(s, PortNum{out}).sw;
    if (next == kNoSwitch) return;
    const auto then = at(next, lid);
    if (topology_.peer(next, PortNum{then}).sw != kNoSwitch) waiting.add(s, out, then);
  }

  /// Finds the switches from which the LID arrives by the current entries.
  void trace(Lid lid) {
    const auto to = in_.context.lids.destination(lid).sw;
    enum class Seen : std::uint8_t { no, now, before };
    std::vector<Seen> seen(rows_.size(), Seen::no);
    arrives_.assign(rows_.size(), false);
    arrives_[to] = true;
    seen[to] = Seen::before;
    std::vector<SwitchIndex> path;
    for (SwitchIndex start = 0; start < rows_.size(); ++start) {
      path.clear();
      auto s = start;
      while (s != kNoSwitch && seen[s] == Seen::no) {
        seen[s] = Seen::now;
        path.push_back(s);
        s = topology_.peer(s, PortNum{at(s, lid)}).sw;
      }
      const bool there = s != kNoSwitch && arrives_[s];
      for (const auto passed : path) {
        seen[passed] = Seen::before;
        arrives_[passed] = there;
      }
    }
  }

  /// Returns a switch that finds no path to an end port and requires one; kNoSwitch: none.
  SwitchIndex attach(Lid lid) {
    const auto to = in_.context.lids.destination(lid);
    trace(lid);
    at(to.sw, lid) = to.port.value();
    std::vector<SwitchIndex> front;
    for (SwitchIndex s = 0; s < rows_.size(); ++s) {
      if (arrives_[s]) {
        front.push_back(s);
      } else {
        at(s, lid) = kNoRoute;
      }
    }
    if (in_.added == AddedPaths::known) sort_by_hops(front, lid);
    grow(front, lid);
    if (to.end == kNoEnd) return kNoSwitch;
    for (SwitchIndex s = 0; s < rows_.size(); ++s) {
      if (arrives_[s] || topology_.component(s) != topology_.component(to.sw)) continue;
      if (route_need(topology_, s, to.end) == RouteNeed::required) return s;
    }
    return kNoSwitch;
  }

  /// `front`: the switches that arrive; those attached to them follow.
  void grow(std::vector<SwitchIndex>& front, Lid lid) {
    const bool known_first = in_.added == AddedPaths::known;
    for (std::size_t next = 0, tried = 0; tried < front.size();) {
      if (next < front.size()) {
        while (attach_one(front, front[next], lid, known_first)) {
        }
        ++next;
      } else if (!known_first || !attach_one(front, front[tried], lid, false)) {
        ++tried;
      }
    }
  }

  /// Attaches a neighbour of `s`; `known`: without new dependencies. False if there is none.
  bool attach_one(std::vector<SwitchIndex>& front, SwitchIndex s, Lid lid, bool known) {
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      if (arrives_[group.peer] || !attach_to(group, s, lid, known)) continue;
      arrives_[group.peer] = true;
      front.push_back(group.peer);
      return true;
    }
    return false;
  }

  void sort_by_hops(std::vector<SwitchIndex>& front, Lid lid) {
    const auto to = in_.context.lids.destination(lid).sw;
    std::vector<std::pair<std::size_t, SwitchIndex>> hops;
    for (const auto start : front) {
      std::size_t count = 0;
      for (auto s = start; s != to; ++count) s = topology_.peer(s, PortNum{at(s, lid)}).sw;
      hops.emplace_back(count, start);
    }
    std::ranges::sort(hops);
    for (std::size_t i = 0; i < front.size(); ++i) front[i] = hops[i].second;
  }

  /// Attaches the group's switch by one of its cables to `s`.
  bool attach_to(const NeighbourGroup& group, SwitchIndex s, Lid lid, bool known) {
    const bool last = s == in_.context.lids.destination(lid).sw;
    const auto count = group.ports.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto ours = group.ports[(std::size_t{lid.value()} + group.peer + i) % count];
      const auto port = topology_.peer(s, ours).port.value();
      auto& waiting = waiting_[in_.layers.to(lid)];
      if (!last && !(known ? waiting.has(group.peer, port, at(s, lid))
                           : waiting.try_add(group.peer, port, at(s, lid))))
        continue;
      at(group.peer, lid) = port;
      return true;
    }
    return false;
  }

  Repaired finish() {
    Repaired result;
    result.routes.layers = in_.layers;
    for (std::size_t s = 0; s < rows_.size(); ++s) {
      const auto& old = in_.old[s];
      for (std::size_t value = 0; value < rows_[s]->size(); ++value) {
        const Lid lid{static_cast<std::uint16_t>(value)};
        const auto was = entry(old.get(), lid), is = (*rows_[s])[value];
        if (was == is) continue;
        ++(is == kNoRoute ? result.withdrawn : was == kNoRoute ? result.added : result.replaced);
      }
      const bool same = old && *old == *rows_[s];
      result.routes.rows.push_back(same ? old : std::shared_ptr<const LftRow>(rows_[s]));
    }
    drop_looping_stale_lids(in_.context, result);
    return result;
  }

  const ExtendInput& in_;
  FailedPaths failed_paths_;
  const Topology& topology_;
  std::vector<std::shared_ptr<LftRow>> rows_;
  std::vector<Waiting> waiting_;  ///< by layer
  std::vector<bool> arrives_;     ///< of the current LID
};

}  // namespace

// If possible the cycles include packets still on failed paths; then the new entries need not wait for these.
std::expected<Repaired, RouteError> extend(const ExtendInput& in) {
  std::expected<Repaired, RouteError> result = std::unexpected(RouteError{});
  for (const auto lost : {FailedPaths::counts, FailedPaths::does_not_count}) {
    std::vector<Lid> first;
    if (lost == FailedPaths::counts && !in.installed) continue;
    for (unsigned tries = 0; !result && tries < in.tries && !in.context.stop.stop_requested(); ++tries)
      result = Extension(in, lost).run(first);
  }
  return result;
}

}  // namespace smd::routing::inline repair
