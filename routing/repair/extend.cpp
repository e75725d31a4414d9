// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/extend.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/repair/channel_waits.h"
#include "routing/repair/edited_rows.h"
#include "routing/verify/egress_sets.h"

namespace smd::routing::inline repair {
namespace {

/// Whether old entries that do not arrive count as dependencies. Packets that follow them live on for a
/// while: only if they count can the new entries be written at once.
enum class FailedPaths : std::uint8_t { counts, does_not_count };

class Extension {
 public:
  Extension(const ExtendInput& in, FailedPaths lost)
      : in_(in),
        failed_paths_(lost),
        topology_(in.context.topology),
        waiting_(layers_in_use(in.layers), GrowingWaits(in.context.topology)),
        rows_(in.context, in.old) {}

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
    return rows_.finish(in_.layers);
  }

 private:
  std::uint8_t& at(SwitchIndex s, Lid lid) { return rows_.at(s, lid); }

  /// Adds the dependencies of packets that arrive. False if a connected switch does not reach the LID.
  bool keep(Lid lid) {
    const auto to = in_.context.lids.destination(lid);
    rows_.trace(lid, arrives_);
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
  void keep_failed(GrowingWaits& waiting, SwitchIndex s, Lid lid) {
    const auto out = at(s, lid);
    const auto next = topology_.peer(s, PortNum{out}).sw;
    if (next == kNoSwitch) return;
    const auto then = at(next, lid);
    if (topology_.peer(next, PortNum{then}).sw != kNoSwitch) waiting.add(s, out, then);
  }

  /// Returns a switch that finds no path to an end port and requires one; kNoSwitch: none.
  SwitchIndex attach(Lid lid) {
    const auto to = in_.context.lids.destination(lid);
    rows_.trace(lid, arrives_);
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
    return rows_.lacking(to, arrives_);
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

  const ExtendInput& in_;
  FailedPaths failed_paths_;
  const Topology& topology_;
  std::vector<GrowingWaits> waiting_;  ///< by layer
  EditedRows rows_;
  std::vector<bool> arrives_;  ///< of the current LID
};

}  // namespace

// If possible the cycles include packets still on failed paths; then the new entries need not wait for these.
std::expected<Repaired, RouteError> extend(const ExtendInput& in) {
  std::expected<Repaired, RouteError> result = std::unexpected(RouteError{});
  if (!in.layers.by_pair.empty()) return result;
  for (const auto lost : {FailedPaths::counts, FailedPaths::does_not_count}) {
    std::vector<Lid> first;
    if (lost == FailedPaths::counts && !in.installed) continue;
    for (unsigned tries = 0; !result && tries < in.tries && !in.context.stop.stop_requested(); ++tries)
      result = Extension(in, lost).run(first);
  }
  return result;
}

}  // namespace smd::routing::inline repair
