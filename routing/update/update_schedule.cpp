// SPDX-License-Identifier: Apache-2.0
#include "routing/update/update_schedule.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "routing/update/credit_loop_check.h"
#include "routing/update/layer_steps.h"
#include "routing/update/pending_writes.h"

namespace smd::routing::inline update {
namespace {

/// Which routes are withdrawn, and when, if no order is safe.
enum class Withdrawal : std::uint8_t {
  as_needed,  ///< what is blocked, except the SM's block while it may not be written
  whole,      ///< all that is blocked, so that there is only one withdrawal
  at_once,    ///< all, before anything is written
  never,      ///< nothing: what has no safe order is left out
};

class Scheduler {
 public:
  Scheduler(const RoutingContext& in, const UpdateInput& tables)
      : routes_(tables.routes),
        parallel_(in.parallel),
        stop_(in.stop),
        order_(tables.order),
        writes_(in, tables),
        credit_loops_(in, tables.routes, writes_) {}

  std::vector<UpdateStep> run(Lid sm_lid, bool allow_credit_loops, Withdrawal withdrawal) {
    const auto all = [](std::size_t, SwitchIndex) { return true; };
    if (withdrawal == Withdrawal::at_once && writes_.choose_if(all)) withdraw(all);
    if (auto step = writes_.take_unknown()) steps_.push_back(*std::move(step));
    allow_credit_loops = allow_credit_loops || all_follow_channel_order();
    const std::size_t sm_block = sm_lid.value() / 64U;
    for (const bool with_sm : {false, true}) {
      const auto eligible = [&](std::size_t b, SwitchIndex) { return with_sm || b != sm_block; };
      while (!stop_.stop_requested() && writes_.choose_if(eligible)) {
        if (try_step(eligible, Granularity::block, true, allow_credit_loops)) continue;
        if (try_step(eligible, Granularity::lid, true, allow_credit_loops)) continue;
        if (try_step(eligible, Granularity::lid, false, allow_credit_loops)) {
          steps_.back().interrupts = true;
          continue;
        }
        if (withdrawal == Withdrawal::never) break;
        const bool goes_on = withdrawal == Withdrawal::as_needed ? withdraw(eligible) : withdraw(all);
        if (!goes_on) break;
      }
    }
    return std::move(steps_);
  }

 private:
  /// Appends a step of what is chosen; false if that is empty.
  bool emit() {
    auto step = writes_.take();
    if (step.writes.empty()) return false;
    steps_.push_back(std::move(step));
    credit_loops_.next_step();
    return true;
  }

  /// Emits the largest safe step it finds; false if there is none.
  template <class Predicate>
  bool try_step(const Predicate& eligible, Granularity grain, bool keep_arriving, bool allow_credit_loops) {
    writes_.choose_if(eligible);
    parallel_.for_each(writes_.blocks(), [&](std::size_t b) {
      if (!writes_.any_chosen(b) || locally_safe(b, keep_arriving)) return;
      const auto fault = [&](const TransitionState& state) { return state.at_fault(keep_arriving); };
      while (!stop_.stop_requested() && writes_.take_back(b, writes_.with_state(b, fault), grain)) continue;
    });
    while (!allow_credit_loops && !stop_.stop_requested() && credit_loops_.take_back(grain)) continue;
    return emit();
  }

  /// Whether each chosen entry may change independently of the others.
  bool locally_safe(std::size_t b, bool keep_arriving) const {
    return writes_.each_lid(b, writes_.chosen(), [&](auto& check, std::span<const SwitchIndex> changed, Lid) {
      return check.safe(changed, keep_arriving);
    });
  }

  /// Whether all entries, old and new, follow the channel order: then no transition state has a credit loop.
  bool all_follow_channel_order() const {
    if (order_ == nullptr) return false;
    std::atomic<bool> good = true;
    parallel_.for_each(writes_.blocks(), [&](std::size_t b) {
      if (!good || writes_.items(b).empty()) return;
      const bool follows = writes_.each_lid(
          b, writes_.pending(), [&](auto& check, std::span<const SwitchIndex> changed, Lid lid) {
            const auto layer = routes_.layers.to(lid);
            return layer < order_->size() && check.follows_channel_order(changed, (*order_)[layer]);
          });
      if (!follows) good = false;
    });
    return good;
  }

  /// Nothing can be written safely: withdraws what changes first, then writes it. False if that is not safe
  /// either, because entries elsewhere are uncertain.
  template <class Predicate>
  bool withdraw(const Predicate& eligible) {
    writes_.choose_if(eligible);
    auto step = writes_.withdraw();
    if (!step && writes_.any_uncertain()) return false;
    if (!step) emit();
    if (!step || step->writes.empty()) return true;
    step->drain = step->interrupts = true;
    steps_.push_back(*std::move(step));
    return true;
  }

  const Routes& routes_;
  const Parallel& parallel_;
  std::stop_token stop_;
  const ChannelOrder* order_;
  PendingWrites writes_;
  CreditLoopCheck credit_loops_;
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

bool any_uncertain(const UpdateInput& tables) {
  return std::ranges::any_of(tables.installed, [](const InstalledTable& table) {
    return !table.perhaps.empty() && !table.uncertain.empty();
  });
}

/// Whether routes would be withdrawn if all switches held what `row` says.
bool drains_if_certain(const RoutingContext& in, const UpdateInput& tables) {
  std::vector<InstalledTable> certain(tables.installed.begin(), tables.installed.end());
  for (auto& table : certain) table.perhaps = {};
  auto input = tables;
  input.installed = certain;
  const auto steps =
      Scheduler(in, input).run(tables.sm_lid, tables.allow_credit_loops, Withdrawal::as_needed);
  return std::ranges::any_of(steps, &UpdateStep::drain);
}

// Unknown blocks have 255 where an entry might lead back. The block of `sm_lid` comes last. A block whose
// LIDs must wait for each other is written in parts. At most one step drains, none while `draining` is set.
// What is safe only with some of the `perhaps` entries is left out.
std::vector<UpdateStep> schedule_of(const RoutingContext& in, const UpdateInput& tables) {
  const auto schedule = [&](Withdrawal withdrawal) {
    return Scheduler(in, tables).run(tables.sm_lid, tables.allow_credit_loops, withdrawal);
  };
  if (any_uncertain(tables)) {
    // Traffic that works is not interrupted only because a switch does not answer: what it holds is soon
    // known.
    auto steps = schedule(Withdrawal::never);
    if (!drains_if_certain(in, tables)) return steps;
  }
  auto steps = schedule(Withdrawal::as_needed);
  const auto drains = std::ranges::count_if(steps, &UpdateStep::drain);
  if (drains == 0 || (drains == 1 && !tables.draining)) return steps;
  return schedule(tables.draining ? Withdrawal::at_once : Withdrawal::whole);
}

}  // namespace

std::vector<UpdateStep> update_schedule(const RoutingContext& in, const UpdateInput& tables) {
  if (in.topology.switches() == 0) return {};
  if (std::ranges::none_of(tables.installed, &InstalledTable::forwards)) {
    return {all_blocks(in.topology, in.lids)};
  }
  const bool by_pair = !tables.routes.layers.by_pair.empty() ||
                       (tables.layers_before != nullptr && !tables.layers_before->by_pair.empty());
  if (!by_pair || tables.allow_credit_loops) return schedule_of(in, tables);
  auto free_of_loops = tables;
  free_of_loops.allow_credit_loops = true;
  return keep_layers_acyclic(in, tables, schedule_of(in, free_of_loops));
}

}  // namespace smd::routing::inline update
