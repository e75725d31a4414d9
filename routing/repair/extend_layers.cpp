// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/extend_layers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/repair/channel_waits.h"
#include "routing/repair/edited_rows.h"

namespace smd::routing::inline repair {
namespace {

using LayerMask = std::uint32_t;

/// A path that is tried: what it has added is taken back unless it is kept.
struct AddedWait {
  unsigned layer = 0;
  SwitchIndex sw = 0;
  std::uint8_t out = 0, then = 0;
};

class LayeredExtension {
 public:
  LayeredExtension(const ExtendLayersInput& in, bool failed_paths_count)
      : in_(in),
        failed_paths_count_(failed_paths_count),
        topology_(in.context.topology),
        waits_(in.most_layers, GrowingWaits(in.context.topology)),
        rows_(in.context, in.old),
        layers_(topology_.switches()),
        lids_(topology_.switches()),
        loads_(topology_.channels()) {
    for (std::size_t a = 0; a < topology_.switches(); ++a) {
      for (std::size_t b = 0; b <= a; ++b) layers_.set(a, b, first_layer(a, b));
    }
    for (const auto& [sw, out, then] : in.reserved) waits_[0].add(sw, out.value(), then.value());
  }

  std::expected<Repaired, RouteError> run() {
    std::array<std::vector<Lid>, kLidKinds> broken;
    for (std::size_t value = 1; value < in_.context.lids.row_size(); ++value) {
      if (in_.context.stop.stop_requested()) return std::unexpected(RouteError{});
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = in_.context.lids.destination(lid);
      if (to.sw == kNoSwitch) continue;
      lids_[to.sw].push_back(lid);
      if (!keep(lid)) broken[static_cast<std::size_t>(kind_of(topology_, to))].push_back(lid);
    }
    if (!place_kept()) return std::unexpected(RouteError{RouteError::Cause::no_legal_path, {}});
    for (const auto& lids : broken) {
      for (const auto lid : lids) {
        if (in_.context.stop.stop_requested()) return std::unexpected(RouteError{});
        const auto lost = attach(lid);
        if (lost == kNoSwitch) continue;
        const auto to = in_.context.lids.destination(lid).sw;
        return std::unexpected(
            RouteError{RouteError::Cause::no_legal_path, {topology_.guid(lost), topology_.guid(to)}});
      }
    }
    return finish();
  }

 private:
  std::uint8_t& at(SwitchIndex s, Lid lid) { return rows_.at(s, lid); }
  SwitchIndex next(SwitchIndex s, Lid lid) { return topology_.peer(s, PortNum{at(s, lid)}).sw; }

  unsigned first_layer(std::size_t a, std::size_t b) const {
    if (a == b) return 0;
    const auto now = in_.now.at(a, b), home = in_.home.at(a, b);
    const auto layer = now != kNoLayer ? now : home;
    return layer < in_.most_layers ? layer : kNoLayer;
  }

  /// Adds the dependencies of the packets of each pair. False if a connected switch does not reach the LID.
  bool keep(Lid lid) {
    const auto to = in_.context.lids.destination(lid);
    rows_.trace(lid, arrives_);
    bool whole = at(to.sw, lid) == to.port.value();
    mask_.assign(rows_.size(), 0);
    arriving_.assign(rows_.size(), 0);
    for (SwitchIndex s = 0; s < rows_.size(); ++s) {
      if (s == to.sw) continue;
      const bool connected = topology_.component(s) == topology_.component(to.sw);
      if (!arrives_[s]) whole = whole && !connected && at(s, lid) == kNoRoute;
      if (!arrives_[s] && !failed_paths_count_) continue;
      const auto layer = layers_.at(s, to.sw);
      if (layer != kNoLayer) mask_[s] = LayerMask{1} << layer;
      if (const auto peer = next(s, lid); peer != kNoSwitch) ++arriving_[peer];
      if (arrives_[s]) ++loads_[topology_.channel(s, PortNum{at(s, lid)})];
    }
    flow(lid, to.sw);
    return whole;
  }

  /// From switches that no path enters to the end. Old forwarding loops are left out.
  void flow(Lid lid, SwitchIndex to) {
    std::vector<SwitchIndex> idle;
    for (SwitchIndex s = 0; s < rows_.size(); ++s) {
      if (arriving_[s] == 0 && s != to && (arrives_[s] || failed_paths_count_)) idle.push_back(s);
    }
    for (std::size_t i = 0; i < idle.size(); ++i) {
      const auto s = idle[i], peer = next(s, lid);
      if (peer == kNoSwitch) continue;
      const bool onwards = peer != to && next(peer, lid) != kNoSwitch;
      for (auto bits = onwards ? mask_[s] : 0; bits != 0; bits &= bits - 1)
        waits_[static_cast<std::size_t>(std::countr_zero(bits))].add(s, at(s, lid), at(peer, lid));
      mask_[peer] |= mask_[s];
      if (--arriving_[peer] == 0 && peer != to) idle.push_back(peer);
    }
  }

  /// Layers for pairs that have paths and no layer: of an SM that did not say. False if a path fits nowhere.
  bool place_kept() {
    for (std::size_t a = 0; a < topology_.switches(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (layers_.at(a, b) != kNoLayer) continue;
        const auto one = static_cast<SwitchIndex>(a), other = static_cast<SwitchIndex>(b);
        if (!move_to_any(one, other)) return false;
      }
    }
    return true;
  }

  /// Whether the path from `s` closes no cycle in `layer`; then its dependencies are added.
  bool add_path(SwitchIndex s, Lid lid, unsigned layer, std::vector<AddedWait>& added) {
    const auto to = in_.context.lids.destination(lid).sw;
    auto& waits = waits_[layer];
    for (auto peer = next(s, lid); peer != to; s = peer, peer = next(s, lid)) {
      const auto out = at(s, lid), then = at(peer, lid);
      if (waits.has(s, out, then)) continue;
      if (!waits.try_add(s, out, then)) return false;
      added.push_back({layer, s, out, then});
    }
    return true;
  }

  void take_back(std::vector<AddedWait>& added) {
    for (const auto& wait : added) waits_[wait.layer].remove(wait.sw, wait.out, wait.then);
    added.clear();
  }

  bool path_arrives(SwitchIndex s, Lid lid) {
    const auto to = in_.context.lids.destination(lid).sw;
    for (std::size_t hops = 0; s != to && s != kNoSwitch; s = next(s, lid)) {
      if (++hops > rows_.size()) return false;
    }
    return s == to;
  }

  /// All paths of the pair that there are, in both directions.
  bool move_pair(SwitchIndex a, SwitchIndex b, unsigned layer) {
    std::vector<AddedWait> added;
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      for (const auto lid : lids_[to]) {
        if (!path_arrives(from, lid) || add_path(from, lid, layer, added)) continue;
        take_back(added);
        return false;
      }
    }
    layers_.set(a, b, layer);
    return true;
  }

  /// Its layer at home first.
  bool move_to_any(SwitchIndex a, SwitchIndex b) {
    const auto home = in_.home.at(a, b), was = layers_.at(a, b);
    if (home < in_.most_layers && home != was && move_pair(a, b, home)) return true;
    for (unsigned layer = 0; layer < in_.most_layers; ++layer) {
      if (layer != was && layer != home && move_pair(a, b, layer)) return true;
    }
    return false;
  }

  /// Returns a switch that finds no path to an end port and requires one; kNoSwitch: none.
  SwitchIndex attach(Lid lid) {
    const auto to = in_.context.lids.destination(lid);
    rows_.trace(lid, arrives_);
    at(to.sw, lid) = to.port.value();
    old_.assign(rows_.size(), kNoRoute);
    for (SwitchIndex s = 0; s < rows_.size(); ++s) {
      if (!arrives_[s]) old_[s] = std::exchange(at(s, lid), kNoRoute);
    }
    lead_round(lid);
    for (const bool may_move : {false, true}) grow(lid, may_move);
    return rows_.lacking(to, arrives_);
  }

  /// Switches before a fault get that way round it by which most of those that lead to them keep their
  /// entries.
  void lead_round(Lid lid) {
    for (SwitchIndex s = 0; s < rows_.size(); ++s) {
      const bool before_fault =
          !arrives_[s] && old_[s] != kNoRoute && topology_.peer(s, PortNum{old_[s]}).sw == kNoSwitch;
      if (!before_fault) continue;
      std::size_t most = 0;
      PortNum best;
      for (const auto& way : ways_of(s, lid, arrives_)) {
        Trial trial;
        const auto kept = lead_by(s, lid, way.out, trial);
        take_back(lid, trial);
        if (kept > most) most = kept, best = way.out;
      }
      Trial chosen;
      if (most != 0) lead_by(s, lid, best, chosen);
      for (const auto there : chosen.attached) ++loads_[topology_.channel(there, PortNum{at(there, lid)})];
    }
  }

  /// What a way round brings, and has added.
  struct Trial {
    std::vector<SwitchIndex> attached;
    std::vector<AddedWait> added;
  };

  /// `s` uses `out`, and those that led to it before keep their entries where their paths fit. Returns how
  /// many arrive then; 0: not even `s`.
  std::size_t lead_by(SwitchIndex s, Lid lid, PortNum out, Trial& trial) {
    const auto to = in_.context.lids.destination(lid).sw;
    const auto keep_one = [&](SwitchIndex from, PortNum port) {
      std::vector<AddedWait> added;
      at(from, lid) = port.value();
      const bool good = add_path(from, lid, layers_.at(from, to), added);
      if (!good) take_back(added);
      trial.added.insert(trial.added.end(), added.begin(), added.end());
      if (!good) at(from, lid) = kNoRoute;
      if (good) arrives_[from] = true, trial.attached.push_back(from);
      return good;
    };
    if (!keep_one(s, out)) return 0;
    for (std::size_t next = 0; next < trial.attached.size(); ++next) {
      const auto there = trial.attached[next];
      for (std::size_t g = 0; g < topology_.groups(there); ++g) {
        const auto peer = topology_.group(there, g).peer;
        const PortNum port{old_[peer]};
        if (!arrives_[peer] && topology_.peer(peer, port).sw == there) keep_one(peer, port);
      }
    }
    return trial.attached.size();
  }

  void take_back(Lid lid, Trial& trial) {
    take_back(trial.added);
    for (const auto s : trial.attached) {
      at(s, lid) = kNoRoute;
      arrives_[s] = false;
    }
  }

  /// By distance: switches that arrive, and those that are attached to them.
  void grow(Lid lid, bool may_move) {
    std::vector<std::vector<SwitchIndex>> by_hops(1);
    for (SwitchIndex start = 0; start < rows_.size(); ++start) {
      if (!arrives_[start]) continue;
      const auto level = hops(start, lid);
      if (by_hops.size() <= level) by_hops.resize(level + 1);
      by_hops[level].push_back(start);
    }
    std::vector<bool> in_level(rows_.size());
    for (std::size_t at_hops = 0; at_hops < by_hops.size(); ++at_hops) {
      const auto level = by_hops[at_hops];
      for (const auto s : level) in_level[s] = true;
      for (const auto s : level) {
        for (std::size_t g = 0; g < topology_.groups(s); ++g) {
          const auto peer = topology_.group(s, g).peer;
          if (arrives_[peer] || !attach_one(peer, lid, in_level, may_move)) continue;
          arrives_[peer] = true;
          if (by_hops.size() <= at_hops + 1) by_hops.emplace_back();
          by_hops[at_hops + 1].push_back(peer);
        }
      }
      for (const auto s : level) in_level[s] = false;
    }
  }

  std::size_t hops(SwitchIndex s, Lid lid) {
    std::size_t count = 0;
    for (const auto to = in_.context.lids.destination(lid).sw; s != to; s = next(s, lid)) ++count;
    return count;
  }

  struct Way {
    std::size_t hops;
    std::uint32_t load;
    std::size_t turn;  ///< LIDs with equal loads use different cables
    PortNum out;
    auto operator<=>(const Way&) const = default;
  };

  /// To one of `through`: the shortest first, of these the least loaded cable.
  std::vector<Way> ways_of(SwitchIndex s, Lid lid, const std::vector<bool>& through) {
    std::vector<Way> ways;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      if (!through[group.peer]) continue;
      const auto onwards = hops(group.peer, lid);
      for (const auto out : group.ports)
        ways.push_back(
            {onwards, loads_[topology_.channel(s, out)], (out.value() + std::size_t{lid.value()}) % 64, out});
    }
    std::ranges::sort(ways);
    return ways;
  }

  /// By the first way by which the path fits.
  bool attach_one(SwitchIndex s, Lid lid, const std::vector<bool>& through, bool may_move) {
    for (const auto& way : ways_of(s, lid, through)) {
      at(s, lid) = way.out.value();
      if (fits(s, lid, may_move)) {
        ++loads_[topology_.channel(s, way.out)];
        return true;
      }
    }
    at(s, lid) = kNoRoute;
    return false;
  }

  bool fits(SwitchIndex s, Lid lid, bool may_move) {
    const auto to = in_.context.lids.destination(lid).sw;
    std::vector<AddedWait> added;
    if (add_path(s, lid, layers_.at(s, to), added)) return true;
    take_back(added);
    return may_move && used(s, to) && move_to_any(s, to);
  }

  /// Not by two switches without end ports: no layer is opened for them, as by the engines.
  bool used(SwitchIndex a, SwitchIndex b) const {
    return !topology_.end_ports_of(a).empty() || !topology_.end_ports_of(b).empty();
  }

  Repaired finish() {
    const auto count = layers_.highest() + 1;
    return rows_.finish({.count = count, .by_lid = {}, .by_pair = std::move(layers_)});
  }

  const ExtendLayersInput& in_;
  bool failed_paths_count_;
  const Topology& topology_;
  std::vector<GrowingWaits> waits_;  ///< by layer
  EditedRows rows_;
  PairLayers layers_;
  std::vector<std::vector<Lid>> lids_;  ///< by switch
  std::vector<std::uint32_t> loads_;    ///< by channel the LIDs that use it
  // Of the current LID.
  std::vector<bool> arrives_;
  std::vector<std::uint8_t> old_;  ///< entries that do not arrive
  std::vector<LayerMask> mask_;
  std::vector<std::uint32_t> arriving_;
};

}  // namespace

std::expected<Repaired, RouteError> extend_layers(const ExtendLayersInput& in) {
  std::expected<Repaired, RouteError> result = std::unexpected(RouteError{});
  for (const bool failed_paths_count : {true, false}) {
    if (!result && !in.context.stop.stop_requested()) result = LayeredExtension(in, failed_paths_count).run();
  }
  return result;
}

}  // namespace smd::routing::inline repair
