// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cheap check of one LID whose entry changes at a few switches: follows only the paths that begin there.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline update {

/// The entry of a switch for the LID before and after; while it changes, either may be in effect.
struct EntryChange {
  std::uint8_t before = kNoRoute, after = kNoRoute;
  bool changes = false;
};

/// By switch the result of tracing from it; reused for one LID after another.
class LocalCheckScratch {
 public:
  enum class Found : std::uint8_t { open, loop, discarded, arrives };  ///< ascending: better
  /// No results; `switches`: those of the topology.
  explicit LocalCheckScratch(std::size_t switches) : epochs_(switches), found_(switches) {}
  /// Forgets all results.
  void next_lid() { ++epoch_; }
  bool has(SwitchIndex s) const { return epochs_[s] == epoch_; }  ///< a result for this LID
  Found get(SwitchIndex s) const { return found_[s]; }            ///< only where has()
  /// Replaces any earlier result for this LID.
  void set(SwitchIndex s, Found found) {
    epochs_[s] = epoch_;
    found_[s] = found;
  }
  void forget(SwitchIndex s) { epochs_[s] = 0; }  ///< has() is false from then on

 private:
  std::vector<std::uint32_t> epochs_;
  std::vector<Found> found_;
  std::uint32_t epoch_ = 0;
};

/// `look(switch)` returns its EntryChange. `true` is certain; after `false` a complete check may still
/// succeed.
template <class Look>
class LocalCheck {
 public:
  /// For changes of `lid`; forgets the results in `scratch`. References must outlive it.
  LocalCheck(const Topology& topology, const LidMap& lids, Lid lid, const Look& look,
             LocalCheckScratch& scratch)
      : topology_(topology), to_(lids.destination(lid)), look_(look), scratch_(scratch) {
    scratch.next_lid();
  }

  /// Whether no subset of the changes closes a forwarding loop; with `keep_arriving` also whether packets
  /// that arrive from a changing switch arrive throughout.
  bool safe(std::span<const SwitchIndex> changed, bool keep_arriving) {
    return std::ranges::all_of(changed, [&](SwitchIndex s) {
      scratch_.set(s, Found::open);
      const auto found = follow(s, look_(s).after, 0);
      scratch_.forget(s);
      if (found == Found::arrives) return true;
      return found == Found::discarded && !(keep_arriving && arrives_now(s));
    });
  }

  /// Whether each channel by which the LID may enter or leave a changing switch waits only for channels with
  /// higher numbers.
  bool follows_channel_order(std::span<const SwitchIndex> changed,
                             std::span<const std::uint32_t> order) const {
    const auto number = [&](SwitchIndex s, std::uint8_t out) {
      return order[topology_.channel(s, PortNum{out})];
    };
    return std::ranges::all_of(changed, [&](SwitchIndex s) {
      bool good = true;
      for_each_hop(s, [&](std::uint8_t out, SwitchIndex next) {
        const auto held = number(s, out);
        for_each_hop(next, [&](std::uint8_t then, SwitchIndex) { good = good && held < number(next, then); });
        for (unsigned p = 1; good && p <= topology_.ports(s); ++p) {
          const auto from = topology_.peer(s, PortNum{static_cast<std::uint8_t>(p)});
          if (from.sw == kNoSwitch || !may_leave(from.sw, from.port.value())) continue;
          good = number(from.sw, from.port.value()) < held;
        }
      });
      return good;
    });
  }

 private:
  using Found = LocalCheckScratch::Found;
  static constexpr unsigned kDeep = 64;  ///< longer paths count as loops

  template <class Fn>
  void for_each_hop(SwitchIndex s, const Fn& fn) const {
    const EntryChange entry = look_(s);
    const auto hop = [&](std::uint8_t out) {
      const auto next = topology_.peer(s, PortNum{out}).sw;
      if (next != kNoSwitch) fn(out, next);
    };
    hop(entry.before);
    if (entry.changes && entry.after != entry.before) hop(entry.after);
  }
  bool may_leave(SwitchIndex s, std::uint8_t out) const {
    const EntryChange entry = look_(s);
    return entry.before == out || (entry.changes && entry.after == out);
  }

  Found follow(SwitchIndex s, std::uint8_t out, unsigned depth) {
    const auto next = topology_.peer(s, PortNum{out}).sw;
    if (next != kNoSwitch) return visit(next, depth + 1);
    return to_.sw == s && to_.port.value() == out ? Found::arrives : Found::discarded;
  }
  Found visit(SwitchIndex s, unsigned depth) {
    if (scratch_.has(s)) return scratch_.get(s) == Found::open ? Found::loop : scratch_.get(s);
    if (depth == kDeep) return Found::loop;
    scratch_.set(s, Found::open);
    const EntryChange entry = look_(s);
    auto found = follow(s, entry.before, depth);
    if (entry.changes && found != Found::loop) found = std::min(found, follow(s, entry.after, depth));
    scratch_.set(s, found);
    return found;
  }
  bool arrives_now(SwitchIndex s) const {
    for (unsigned steps = 0; steps < kDeep; ++steps) {
      const auto out = EntryChange(look_(s)).before;
      const auto next = topology_.peer(s, PortNum{out}).sw;
      if (next == kNoSwitch) return to_.sw == s && to_.port.value() == out;
      s = next;
    }
    return false;
  }

  const Topology& topology_;
  const Destination to_;
  const Look& look_;
  LocalCheckScratch& scratch_;
};

}  // namespace smd::routing::inline update
