// SPDX-License-Identifier: Apache-2.0
// What the manager tells others after a sweep: log lines, and the snapshot that clients are answered from.
#include <algorithm>
#include <utility>

#include "smd/manager.h"
#include "smd/report/adaptive.h"
#include "smd/report/m_keys.h"
#include "smd/report/trouble.h"
#include "smd/sweep/adaptive.h"

namespace smd::sm {
namespace {

/// Sweeps in a row for the same trouble that are told of.
constexpr unsigned kSameReason = 3;

}  // namespace

/// The snapshot first: readers of the event find it.
void SubnetManager::publish_snapshot(events::Payload told) {
  const auto before = published();
  parts_.published->set(snapshot());
  if (!before || before->summary.state != summary_.state || before->summary.why != summary_.why) {
    events_.publish(events::StateChanged{.was = before ? std::string(to_string(before->summary.state)) : "",
                                         .now = std::string(to_string(summary_.state)),
                                         .why = summary_.why});
  }
  events_.publish(std::move(told));
}

void SubnetManager::tell_trouble() {
  traps_.forget_gone();
  log_trouble(parts_.log, *loop_.subnet(), loop_.decided(), small_tables_, loop_.stored()->inventory.get());
  log_m_keys(parts_.log, *loop_.subnet(), unknown_m_keys(*loop_.subnet(), traps_.bad_m_keys()));
}

/// Once in each takeover, and again where more switches route adaptively.
void SubnetManager::tell_adaptive(const Subnet* before) {
  const auto known = before != nullptr ? adaptive_switches(*before) : std::set<Guid>{};
  if (mastership_.adopting() || !std::ranges::includes(known, adaptive_switches(*loop_.subnet())))
    log_adaptive(parts_.log, *loop_.subnet(), config_->adopt.adaptive_routing, options_.dry_run);
}

void SubnetManager::publish() {
  if (!options_.dry_run && mastership_.state() == wire::SmState::master) tell_trouble();
  mastership_.report_sms();
  tell_state();
  // The same trouble once more is worth a line each time for those only who look for it.
  const bool again = summary_.reason.starts_with("still ") && summary_.reason == last_reason_;
  same_reason_ = again ? same_reason_ + 1 : 0;
  last_reason_ = summary_.reason;
  log_summary(parts_.log, summary_, same_reason_ < kSameReason ? log::Level::info : log::Level::debug);
  publish_snapshot(events::SweepEnded{.sweep = std::string(to_string(summary_.sweep)),
                                      .reason = summary_.reason,
                                      .state = std::string(to_string(summary_.state)),
                                      .total_ms = summary_.total_ms,
                                      .came_up = loop_.came_up()});
  vl_tables_.ask();
}

std::shared_ptr<const Snapshot> SubnetManager::snapshot() const {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->subnet = loop_.subnet();
  snapshot->decided = loop_.decided();
  snapshot->plan = plan_;
  snapshot->times = loop_.times();
  snapshot->summary = summary_;
  snapshot->state = mastership_.state();
  snapshot->rank = mastership_.rank();
  snapshot->came_up = loop_.came_up();
  snapshot->unknown_m_keys = unknown_m_keys(*loop_.subnet(), traps_.bad_m_keys());
  snapshot->inventory = loop_.stored()->inventory;
  snapshot->last_change = last_change_;
  snapshot->last_change_at = last_change_at_;
  snapshot->state_since = state_since_;
  const auto counters = tx_.counters();
  snapshot->traps = traps_.count();
  snapshot->smps = counters.total(&mad::AttributeCounters::sent, wire::Method::get) +
                   counters.total(&mad::AttributeCounters::sent, wire::Method::set);
  snapshot->smp_timeouts = counters.total(&mad::AttributeCounters::timeouts);
  return snapshot;
}

}  // namespace smd::sm
