// SPDX-License-Identifier: Apache-2.0
#include "routing/update/update_schedule.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "routing/update/credit_loop_check.h"
#include "routing/update/pending_writes.h"

namespace smd::routing::inline update {
namespace {

/// Which routes are withdrawn, and when, if no order is safe.
enum class Withdrawal : std::uint8_t {
  as_needed,  ///< what is blocked, except the SM's block while it may not be written
  whole,      ///< all that is blocked, so that there is only one withdrawal
  at_once,    ///< all, before anything is written
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
        if (withdrawal == Withdrawal::as_needed) withdraw(eligible);
        if (withdrawal != Withdrawal::as_needed) withdraw(all);
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

  /// Nothing can be written safely: withdraws what changes first, then writes it.
  template <class Predicate>
  void withdraw(const Predicate& eligible) {
    writes_.choose_if(eligible);
    auto step = writes_.withdraw();
    if (!step) emit();
    if (!step || step->writes.empty()) return;
    step->drain = step->interrupts = true;
    steps_.push_back(*std::move(step));
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
