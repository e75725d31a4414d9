// SPDX-License-Identifier: Apache-2.0
#include "routing/update/update_schedule.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <utility>

#include "routing/update/local_check.h"
#include "routing/update/transition_state.h"
#include "routing/verify/dependencies.h"

namespace smd::routing::inline update {
namespace {

using Entries = std::array<std::uint8_t, 64>;

/// Which routes are withdrawn, and when, if no order is safe.
enum class Withdrawal : std::uint8_t {
  as_needed,  ///< what is blocked, except the SM's block while it may not be written
  whole,      ///< all that is blocked, so that there is only one withdrawal
  at_once,    ///< all, before anything is written
};

/// How much of a block is deferred if part of it is at fault.
enum class Granularity : std::uint8_t { block, lid };

class Scheduler {
 public:
  Scheduler(const RoutingContext& in, const UpdateInput& tables)
      : topology_(in.topology),
        lids_(in.lids),
        installed_(tables.installed),
        routes_(tables.routes),
        parallel_(in.parallel),
        stop_(in.stop),
        order_(tables.order),
        switches_(topology_.switches()),
        blocks_(lids_.row_size() / 64),
        pending_(switches_ * blocks_),
        dropped_(switches_ * blocks_),
        chosen_(switches_ * blocks_) {
    parallel_.for_each(blocks_, [&](std::size_t b) {
      for (SwitchIndex s = 0; s < switches_; ++s) pending_[at(b, s)] = differing(b, s);
    });
    for (std::size_t b = 0; b < blocks_; ++b) {
      begin_.push_back(todo_.size());
      for (SwitchIndex s = 0; s < switches_; ++s) {
        if (pending_[at(b, s)] != 0) todo_.push_back({b, s});
      }
    }
    begin_.push_back(todo_.size());
  }

  std::vector<UpdateStep> run(Lid sm_lid, bool allow_credit_loops, Withdrawal withdrawal) {
    const auto all = [](std::size_t, SwitchIndex) { return true; };
    if (withdrawal == Withdrawal::at_once && choose_if(all)) withdraw(all);
    write_unknown();
    allow_credit_loops = allow_credit_loops || all_follow_channel_order();
    const std::size_t sm_block = sm_lid.value() / 64U;
    for (const bool with_sm : {false, true}) {
      const auto eligible = [&](std::size_t b, SwitchIndex) { return with_sm || b != sm_block; };
      while (!stop_.stop_requested() && choose_if(eligible)) {
        if (try_step(eligible, Granularity::block, true, allow_credit_loops)) continue;
        if (try_step(eligible, Granularity::lid, true, allow_credit_loops)) continue;
        if (try_step(eligible, Granularity::lid, false, allow_credit_loops)) {
          steps_.back().interrupts = true;
          continue;
        }
        if (withdrawal == Withdrawal::as_needed) withdraw(eligible);
        if (withdrawal != Withdrawal::as_needed) withdraw(all);
      }
    }
    return std::move(steps_);
  }

 private:
  using Graphs = std::vector<Dependencies>;  ///< one per layer
  struct Item {
    std::size_t block = 0;
    SwitchIndex sw = 0;
  };

  /// Items of a block that differ from the desired tables, or did at the start.
  std::span<const Item> todo(std::size_t b) const {
    return std::span(todo_).subspan(begin_[b], begin_[b + 1] - begin_[b]);
  }
  bool chosen(std::size_t b) const {
    return std::ranges::any_of(todo(b), [&](const Item& item) { return chosen_[at(b, item.sw)] != 0; });
  }
  std::size_t at(std::size_t b, SwitchIndex s) const { return b * switches_ + s; }
  Lid first_lid(std::size_t b) const { return Lid{static_cast<std::uint16_t>(b * 64)}; }

  bool known(std::size_t b, SwitchIndex s) const {
    const auto& table = installed_[s];
    return table.forwards && b / 64 < table.known.size() && (table.known[b / 64] >> (b % 64) & 1U) != 0;
  }
  const std::uint8_t* after(std::size_t b, SwitchIndex s, Entries& scratch) const {
    return block_of(routes_.rows[s].get(), b * 64, scratch);
  }
  /// 255 throughout if the block is unknown.
  const std::uint8_t* installed(std::size_t b, SwitchIndex s, Entries& scratch) const {
    return block_of(known(b, s) ? installed_[s].row : nullptr, b * 64, scratch);
  }
  /// Whether the switch forwards by one of these entries; true if unknown.
  bool leads_somewhere(std::size_t b, SwitchIndex s, LidBits bits) const {
    if (!known(b, s)) return true;
    Entries scratch;
    const auto* const now = installed(b, s, scratch);
    for (; bits != 0; bits &= bits - 1) {
      if (now[std::countr_zero(bits)] != kNoRoute) return true;
    }
    return false;
  }
  LidBits differing(std::size_t b, SwitchIndex s) const {
    if (!known(b, s)) return ~LidBits{0};
    Entries one, other;
    const auto *const now = installed(b, s, one), *const wanted = after(b, s, other);
    if (now == wanted || std::equal(now, now + 64, wanted)) return 0;
    LidBits bits = 0;
    for (std::size_t i = 0; i < 64; ++i) bits |= LidBits{now[i] != wanted[i] ? 1U : 0U} << i;
    return bits;
  }

  /// The entries of the switch after the steps so far.
  const std::uint8_t* before(std::size_t b, SwitchIndex s, Entries& scratch) const {
    const auto pending = pending_[at(b, s)], dropped = dropped_[at(b, s)];
    if (pending == 0) return after(b, s, scratch);
    Entries one, other;
    const auto *const now = installed(b, s, one), *const wanted = after(b, s, other);
    for (std::size_t i = 0; i < 64; ++i) {
      const auto waits = (dropped >> i & 1U) != 0 ? kNoRoute : now[i];
      scratch[i] = (pending >> i & 1U) != 0 ? waits : wanted[i];
    }
    return scratch.data();
  }

  /// Chooses all pending writes for which `eligible` holds; false if there is none.
  template <class Predicate>
  bool choose_if(const Predicate& eligible) {
    bool any = false;
    for (const auto& [b, s] : todo_) {
      chosen_[at(b, s)] = pending_[at(b, s)] != 0 && eligible(b, s) ? pending_[at(b, s)] : 0;
      any = any || chosen_[at(b, s)] != 0;
    }
    return any;
  }

  /// Appends a step of what is chosen; false if that is empty.
  bool emit() {
    UpdateStep step;
    for (const auto& [b, s] : todo_) {
      const auto i = at(b, s);
      if (chosen_[i] == 0) continue;
      pending_[i] &= ~chosen_[i];
      dropped_[i] &= pending_[i];
      step.writes.push_back({s, static_cast<std::uint16_t>(b), pending_[i] & ~dropped_[i], dropped_[i]});
    }
    if (step.writes.empty()) return false;
    steps_.push_back(std::move(step));
    plain_ = true;
    return true;
  }

  /// Emits the largest safe step it finds; false if there is none.
  template <class Predicate>
  bool try_step(const Predicate& eligible, Granularity grain, bool keep_arriving, bool allow_credit_loops) {
    choose_if(eligible);
    parallel_.for_each(blocks_, [&](std::size_t b) {
      if (!chosen(b) || locally_safe(b, keep_arriving)) return;
      const auto fault = [&](const TransitionState& state) { return state.at_fault(keep_arriving); };
      while (!stop_.stop_requested() && take_back(b, with_state(b, fault), grain)) continue;
    });
    while (!allow_credit_loops && !stop_.stop_requested() && take_back_credit_loops(grain)) continue;
    return emit();
  }

  /// Calls fn(check, switches whose entry is in `bits`, lid) for each LID of a block in use, until it returns
  /// false. Also returns false if so much changes that a check of the whole block costs less.
  template <class Fn>
  bool each_lid(std::size_t b, const std::vector<LidBits>& bits, const Fn& fn) const {
    std::array<std::vector<SwitchIndex>, 64> changed;
    std::size_t entries = 0;
    for (const auto& item : todo(b)) {
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

  /// Whether each chosen entry may change independently of the others.
  bool locally_safe(std::size_t b, bool keep_arriving) const {
    return each_lid(b, chosen_, [&](auto& check, std::span<const SwitchIndex> changed, Lid) {
      return check.safe(changed, keep_arriving);
    });
  }

  /// Whether all entries, old and new, follow the channel order: then no transition state has a credit loop.
  bool all_follow_channel_order() const {
    if (order_ == nullptr) return false;
    std::atomic<bool> good = true;
    parallel_.for_each(blocks_, [&](std::size_t b) {
      if (!good || todo(b).empty()) return;
      const bool follows =
          each_lid(b, pending_, [&](auto& check, std::span<const SwitchIndex> changed, Lid lid) {
            const auto layer = routes_.layers.to(lid);
            return layer < order_->size() && check.follows_channel_order(changed, (*order_)[layer]);
          });
      if (!follows) good = false;
    });
    return good;
  }

  bool take_back(std::size_t b, const std::vector<LidBits>& fault, Granularity grain) {
    bool any = false;
    for (const auto& item : todo(b)) {
      const auto s = item.sw;
      auto& chosen = chosen_[at(b, s)];
      if ((fault[s] & chosen) == 0) continue;
      chosen = grain == Granularity::block ? 0 : chosen & ~fault[s];
      any = true;
    }
    return any;
  }

  /// Returns fn(transition state of a block: what is in effect and what is chosen).
  template <class Fn>
  auto with_state(std::size_t b, const Fn& fn) const {
    BlockChange change{std::vector<const std::uint8_t*>(switches_),
                       std::vector<const std::uint8_t*>(switches_), std::vector<LidBits>(switches_)};
    std::vector<std::array<Entries, 2>> scratch(switches_);
    for (SwitchIndex s = 0; s < switches_; ++s) {
      change.before[s] = before(b, s, scratch[s][0]);
      change.after[s] = after(b, s, scratch[s][1]);
      change.changes[s] = chosen_[at(b, s)];
    }
    return fn(TransitionState(topology_, lids_, first_lid(b), change));
  }

  /// Writes unknown blocks, and all blocks of switches that do not forward yet. Entries that might lead back
  /// by what is known elsewhere are 255 at first, and are written with the others.
  void write_unknown() {
    const auto unknown = [&](std::size_t b, SwitchIndex s) { return !known(b, s); };
    if (!choose_if(unknown)) return;
    UpdateStep step;
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (!chosen(b)) continue;
      while (take_back(b, with_state(b, [](const TransitionState& state) { return state.at_fault(false); }),
                       Granularity::lid)) {
        continue;
      }
      for (const auto& item : todo(b)) {
        const auto s = item.sw;
        if (!unknown(b, s)) continue;
        const auto i = at(b, s);
        pending_[i] &= ~chosen_[i];
        dropped_[i] = pending_[i];
        step.writes.push_back({s, static_cast<std::uint16_t>(b), 0, dropped_[i]});
      }
    }
    steps_.push_back(std::move(step));
  }

  /// Dependencies of each layer over all blocks, added by fn(block number, graphs).
  template <class Fn>
  Graphs over_blocks(const Fn& fn) const {
    const auto layers = layers_in_use(routes_.layers);
    const std::size_t grain = std::max<std::size_t>(1, blocks_ / (std::size_t{parallel_.threads()} * 4));
    std::vector<Graphs> pieces((blocks_ + grain - 1) / grain);
    for_ranges(parallel_, blocks_, grain, [&](std::size_t begin, std::size_t end) {
      auto& graphs = pieces[begin / grain];
      graphs.assign(layers, Dependencies(topology_));
      for (std::size_t b = begin; b < end && !stop_.stop_requested(); ++b) fn(b, graphs);
    });
    auto total = std::move(pieces.front());
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      for (std::size_t layer = 0; layer < layers; ++layer) total[layer].merge(pieces[i][layer]);
    }
    return total;
  }

  void add(const EgressSets& egress, std::size_t b, Graphs& graphs) const {
    for (unsigned layer = 0; layer < graphs.size(); ++layer) {
      graphs[layer].add(egress, lids_of_layer(routes_.layers, layer, first_lid(b)), nullptr, first_lid(b),
                        nullptr);
    }
  }

  /// Dependencies of the tables now, or (`both`) together with those of this step.
  Graphs dependencies(bool both) const {
    return over_blocks([&](std::size_t b, Graphs& graphs) {
      with_state(b,
                 [&](const TransitionState& state) { add(both ? state.both() : state.before(), b, graphs); });
    });
  }

  /// Dependencies of the tables now, read directly from the rows.
  Graphs dependencies_now() const {
    return over_blocks([&](std::size_t b, Graphs& graphs) {
      LidBits live = 0;
      for (unsigned bit = 0; bit < 64; ++bit) {
        const auto lid = Lid{static_cast<std::uint16_t>(first_lid(b).value() + bit)};
        if (lids_.destination(lid).sw != kNoSwitch) live |= LidBits{1} << bit;
      }
      if (live == 0) return;
      EgressSets egress(switches_);
      Entries scratch;
      for (SwitchIndex s = 0; s < switches_; ++s) {
        egress.begin(s);
        for_each_port(before(b, s, scratch), live, [&](std::uint8_t port, LidBits bits) {
          const auto peer = topology_.peer(s, PortNum{port});
          if (peer.sw != kNoSwitch) egress.add(s, peer.sw, PortNum{port}, bits);
        });
      }
      add(egress, b, graphs);
    });
  }

  /// Whether all dependencies since the start, together with those of this step, are acyclic. Then no
  /// transition state has a credit loop, and only blocks that change need to be examined.
  bool plainly_free_of_credit_loops() {
    if (ever_.empty()) ever_ = dependencies_now();
    auto graphs = ever_;
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (!chosen(b)) continue;
      with_state(b, [&](const TransitionState& state) { add(state.both(), b, graphs); });
    }
    if (std::ranges::any_of(graphs, &Dependencies::any_cycle)) return false;
    ever_ = std::move(graphs);
    return true;
  }

  /// Defers changes that close a new credit loop; false if there are none.
  bool take_back_credit_loops(Granularity grain) {
    if (plain_ && plainly_free_of_credit_loops()) return false;
    plain_ = false;  // for this step: `ever_` has become too large, or there were credit loops from the start
    ever_.clear();
    const auto graphs = dependencies(true);
    if (std::ranges::none_of(graphs, &Dependencies::any_cycle)) return false;
    const auto graphs_before = dependencies(false);
    bool any = false;
    for (unsigned layer = 0; layer < graphs.size(); ++layer) {
      const auto now = graphs[layer].groups(), then = graphs_before[layer].groups();
      for (std::size_t b = 0; b < blocks_; ++b) {
        const auto lids = lids_of_layer(routes_.layers, layer, first_lid(b));
        const auto fault =
            with_state(b, [&](const TransitionState& state) { return closing(state, lids, now, then); });
        any = take_back(b, fault, grain) || any;
      }
    }
    return any;
  }

  std::vector<LidBits> closing(const TransitionState& state, LidBits lids,
                               const std::vector<std::size_t>& now,
                               const std::vector<std::size_t>& then) const {
    std::vector<LidBits> fault(switches_);
    for (SwitchIndex s = 0; s < switches_; ++s) {
      const auto egress = state.both().of(s);
      for (std::size_t i = 0; i < egress.size(); ++i) {
        const auto& set = egress[i];
        const auto held = topology_.channel(s, set.out);
        const auto onwards = state.both().of(set.peer);
        for (std::size_t j = 0; j < onwards.size(); ++j) {
          const auto wanted = topology_.channel(set.peer, onwards[j].out);
          const auto both = set.lids & onwards[j].lids & lids;
          if (both == 0) continue;
          if (now[held] != now[wanted] || then[held] == then[wanted]) continue;
          if (i >= state.first_new(s)) fault[s] |= both;
          if (j >= state.first_new(set.peer)) fault[set.peer] |= both;
        }
      }
    }
    return fault;
  }

  /// Nothing can be written safely: withdraws what changes first, then writes it.
  template <class Predicate>
  void withdraw(const Predicate& eligible) {
    choose_if(eligible);
    UpdateStep step;
    bool any = false;
    for (const auto& [b, s] : todo_) {
      const auto i = at(b, s);
      if ((chosen_[i] & ~dropped_[i]) == 0) continue;
      any = true;
      const bool holds_some = leads_somewhere(b, s, pending_[i] & ~dropped_[i]);
      dropped_[i] = pending_[i];
      if (holds_some) step.writes.push_back({s, static_cast<std::uint16_t>(b), 0, dropped_[i]});
    }
    if (!any) emit();
    if (step.writes.empty()) return;
    step.drain = step.interrupts = true;
    steps_.push_back(std::move(step));
  }

  const Topology& topology_;
  const LidMap& lids_;
  std::span<const InstalledTable> installed_;
  const Routes& routes_;
  const Parallel& parallel_;
  std::stop_token stop_;
  const ChannelOrder* order_;
  std::size_t switches_, blocks_;
  /// By block and switch: entries still to be written; those of them that are 255 meanwhile; those that the
  /// next step writes.
  std::vector<LidBits> pending_, dropped_, chosen_;
  std::vector<Item> todo_;          ///< by block, then switch
  std::vector<std::size_t> begin_;  ///< of each block's in todo_
  bool plain_ = true;               ///< whether the cheap check for credit loops is worthwhile
  Graphs ever_;                     ///< all dependencies since it was built, or more; empty: not built
  std::vector<UpdateStep> steps_;
};

/// No switch forwards yet, so any order is safe.
UpdateStep all_blocks(const Topology& topology, const LidMap& lids) {
  UpdateStep step;
  const std::size_t blocks = lids.row_size() / 64;
  step.writes.reserve(blocks * topology.switches());
  for (std::size_t b = 0; b < blocks; ++b) {
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      step.writes.push_back({s, static_cast<std::uint16_t>(b), 0, 0});
    }
  }
  return step;
}

}  // namespace

std::vector<UpdateStep> update_schedule(const RoutingContext& in, const UpdateInput& tables) {
  if (in.topology.switches() == 0) return {};
  if (std::ranges::none_of(tables.installed, &InstalledTable::forwards)) {
    return {all_blocks(in.topology, in.lids)};
  }
  const auto schedule = [&](Withdrawal withdrawal) {
    return Scheduler(in, tables).run(tables.sm_lid, tables.allow_credit_loops, withdrawal);
  };
  auto steps = schedule(Withdrawal::as_needed);
  const auto drains = std::ranges::count_if(steps, &UpdateStep::drain);
  if (drains == 0 || (drains == 1 && !tables.draining)) return steps;
  return schedule(tables.draining ? Withdrawal::at_once : Withdrawal::whole);
}

}  // namespace smd::routing::inline update
