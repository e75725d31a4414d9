// SPDX-License-Identifier: Apache-2.0
#pragma once
// The writes of an update that are still to be done, and the state that the tables are in meanwhile.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "routing/update/local_check.h"
#include "routing/update/transition_state.h"
#include "routing/update/update_schedule.h"

namespace smd::routing::inline update {

/// How much of a block is deferred if part of it is at fault.
enum class Granularity : std::uint8_t { block, lid };

/// By block of 64 LIDs and switch: entries still to be written, those withdrawn meanwhile, and those chosen
/// for the next step. References of the arguments must outlive it.
class PendingWrites {
 public:
  struct Item {
    std::size_t block = 0;
    SwitchIndex sw = 0;
  };
  using Entries = std::array<std::uint8_t, 64>;

  /// Everything that differs or is unknown is pending.
  PendingWrites(const RoutingContext& in, const UpdateInput& tables);

  std::size_t blocks() const { return blocks_; }
  std::size_t switches() const { return switches_; }
  /// `b` is below blocks(); block 0 begins with LID 0.
  Lid first_lid(std::size_t b) const { return Lid{static_cast<std::uint16_t>(b * 64)}; }
  /// Items of a block that differ from the desired tables, or did at the start.
  std::span<const Item> items(std::size_t b) const {
    return std::span(items_).subspan(begin_[b], begin_[b + 1] - begin_[b]);
  }
  /// Whether anything of the block is chosen.
  bool any_chosen(std::size_t b) const;
  /// By block and switch, for each_lid().
  const std::vector<LidBits>& chosen() const { return chosen_; }
  const std::vector<LidBits>& pending() const { return pending_; }

  bool any_uncertain() const { return !uncertain_.empty(); }  ///< of any block
  /// Whether entries of the block are uncertain at some switch.
  bool any_uncertain(std::size_t b) const {
    return std::ranges::any_of(uncertain_, [&](SwitchIndex s) { return uncertain(b, s); });
  }
  /// Calls fn(switch, 64 entries) for those that may be in effect instead of before(); `scratch` holds some
  /// of them.
  template <class Fn>
  void for_each_perhaps(std::size_t b, std::deque<Entries>& scratch, const Fn& fn) const {
    for (const auto s : uncertain_) {
      if (!uncertain(b, s)) continue;
      for (const auto& row : installed_[s].perhaps)
        fn(s, block_of(row.get(), b * 64, scratch.emplace_back()));
    }
  }

  /// The entries of a switch after the steps so far; `scratch` may hold them.
  const std::uint8_t* before(std::size_t b, SwitchIndex s, Entries& scratch) const;

  /// Chooses all pending writes for which `eligible` holds; false if there is none.
  template <class Predicate>
  bool choose_if(const Predicate& eligible) {
    bool any = false;
    for (const auto& [b, s] : items_) {
      chosen_[at(b, s)] = pending_[at(b, s)] != 0 && eligible(b, s) ? pending_[at(b, s)] : 0;
      any = any || chosen_[at(b, s)] != 0;
    }
    return any;
  }

  /// Defers chosen writes that are at fault (by switch); false if there are none.
  bool take_back(std::size_t b, const std::vector<LidBits>& fault, Granularity grain);
  /// Writes what is chosen; no writes if that is nothing.
  UpdateStep take();
  /// Writes unknown blocks, and all blocks of switches that do not forward yet; nothing if there are none.
  /// Entries that might lead back by what is known elsewhere are 255 at first, and are written with the
  /// others.
  std::optional<UpdateStep> take_unknown();
  /// Sets what is chosen to 255 until it is written. Nothing if all of it is 255 already; no writes if no
  /// switch forwards by any of it.
  std::optional<UpdateStep> withdraw();

  /// Calls fn(check, switches whose entry is in `bits`, lid) for each LID of a block in use, until it returns
  /// false. Also returns false if so much changes that a check of the whole block costs less, or if entries
  /// are uncertain.
  template <class Fn>
  bool each_lid(std::size_t b, const std::vector<LidBits>& bits, const Fn& fn) const {
    if (any_uncertain(b)) return false;
    std::array<std::vector<SwitchIndex>, 64> changed;
    std::size_t entries = 0;
    for (const auto& item : items(b)) {
      for (auto left = bits[at(b, item.sw)]; left != 0; left &= left - 1, ++entries)
        changed[static_cast<std::size_t>(std::countr_zero(left))].push_back(item.sw);
      if (entries > 4 * switches_) return false;
    }
    LocalCheckScratch scratch(switches_);
    for (unsigned bit = 0; bit < 64; ++bit) {
      const Lid lid{static_cast<std::uint16_t>(first_lid(b).value() + bit)};
      if (changed[bit].empty() || lids_.destination(lid).sw == kNoSwitch) continue;
      const auto look = [&](SwitchIndex s) {
        const auto i = at(b, s);
        const auto wanted = entry(routes_.rows[s].get(), lid);
        if ((pending_[i] >> bit & 1U) == 0) return EntryChange{wanted, wanted, false};
        const bool is_known = known(b, s) && (dropped_[i] >> bit & 1U) == 0;
        const auto now = is_known ? entry(installed_[s].row, lid) : kNoRoute;
        return EntryChange{now, wanted, (bits[i] >> bit & 1U) != 0};
      };
      LocalCheck check(topology_, lids_, lid, look, scratch);
      if (!fn(check, changed[bit], lid)) return false;
    }
    return true;
  }

  /// Returns fn(transition state of a block: what is in effect and what is chosen).
  template <class Fn>
  auto with_state(std::size_t b, const Fn& fn) const {
    BlockChange change{std::vector<const std::uint8_t*>(switches_),
                       std::vector<const std::uint8_t*>(switches_), std::vector<LidBits>(switches_)};
    std::vector<std::array<Entries, 2>> scratch(switches_);
    std::deque<Entries> more;
    for_each_perhaps(
        b, more, [&](SwitchIndex s, const std::uint8_t* block) { change.perhaps.emplace_back(s, block); });
    for (SwitchIndex s = 0; s < switches_; ++s) {
      change.before[s] = before(b, s, scratch[s][0]);
      change.after[s] = after(b, s, scratch[s][1]);
      change.changes[s] = chosen_[at(b, s)];
    }
    return fn(TransitionState(topology_, lids_, first_lid(b), change));
  }

 private:
  std::size_t at(std::size_t b, SwitchIndex s) const { return b * switches_ + s; }
  bool known(std::size_t b, SwitchIndex s) const;
  bool uncertain(std::size_t b, SwitchIndex s) const {
    const auto& bits = installed_[s].uncertain;
    return b / 64 < bits.size() && (bits[b / 64] >> (b % 64) & 1U) != 0;
  }
  const std::uint8_t* after(std::size_t b, SwitchIndex s, Entries& scratch) const;
  const std::uint8_t* installed(std::size_t b, SwitchIndex s, Entries& scratch) const;
  bool leads_somewhere(std::size_t b, SwitchIndex s, LidBits bits) const;
  LidBits differing(std::size_t b, SwitchIndex s) const;

  const Topology& topology_;
  const LidMap& lids_;
  std::span<const InstalledTable> installed_;
  const Routes& routes_;
  std::size_t switches_, blocks_;
  /// By block and switch: entries still to be written; those of them that are 255 meanwhile; those that the
  /// next step writes.
  std::vector<LidBits> pending_, dropped_, chosen_;
  std::vector<SwitchIndex> uncertain_;  ///< ascending: those with uncertain blocks
  std::vector<Item> items_;             ///< by block, then switch
  std::vector<std::size_t> begin_;      ///< of each block's in items_
};

}  // namespace smd::routing::inline update
