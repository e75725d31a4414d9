// SPDX-License-Identifier: Apache-2.0
// What others are told after a sweep: log lines, and the snapshot that clients are answered from.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "mad/wire/switch.h"
#include "smd/report/adaptive.h"
#include "smd/report/faults.h"
#include "smd/report/m_keys.h"
#include "smd/status/subnet_status.h"
#include "smd/sweep/adaptive.h"

namespace smd::sm::inline status {
namespace {

/// Sweeps in a row for the same fault that are told of.
constexpr unsigned kSameReason = 3;

/// Sets of a block that were answered without a refusal.
std::uint64_t lft_blocks_written(const mad::Counters& counters) {
  std::uint64_t written = 0;
  for (const auto& row : counters.by_attribute) {
    if (row.attribute == wire::LinearForwardingTable::kAttribute && row.method == wire::Method::set)
      written += row.answered - row.refused;
  }
  return written;
}

/// Of all methods together; null: none.
std::shared_ptr<const std::vector<Activity::Timeouts>> timeouts_by_attribute(const mad::Counters& counters) {
  std::vector<Activity::Timeouts> found;
  for (const auto& row : counters.by_attribute) {
    if (row.timeouts == 0) continue;
    if (found.empty() || found.back().attribute != row.attribute)
      found.push_back({.attribute = row.attribute, .count = 0});
    found.back().count += row.timeouts;
  }
  if (found.empty()) return nullptr;
  return std::make_shared<const std::vector<Activity::Timeouts>>(std::move(found));
}

}  // namespace

/// The snapshot first: readers of the event find it.
void SubnetStatus::publish(events::Payload told) {
  const auto before = published();
  publish_activity();
  parts_.published->set(snapshot());
  if (!before || before->summary.state != summary_.state || before->summary.why != summary_.why) {
    parts_.events.publish(
        events::StateChanged{.was = before ? std::string(to_string(before->summary.state)) : "",
                             .now = std::string(to_string(summary_.state)),
                             .why = summary_.why});
  }
  parts_.events.publish(std::move(told));
}

/// While another SM is master, too, nothing is decided: what was decided last is of another Subnet.
void SubnetStatus::report_faults() {
  parts_.traps.forget_gone();
  const auto* decided = parts_.mastership.contested() ? nullptr : &parts_.loop.decided();
  log_faults(parts_.log, *parts_.loop.subnet(), decided, small_tables_,
             parts_.loop.stored()->inventory.get());
  log_m_keys(parts_.log, *parts_.loop.subnet(),
             unknown_m_keys(*parts_.loop.subnet(), parts_.traps.bad_m_keys()));
}

void SubnetStatus::tell_adaptive(const Subnet* before) {
  const auto known = before != nullptr ? adaptive_switches(*before) : std::set<Guid>{};
  if (parts_.mastership.adopting() || !std::ranges::includes(known, adaptive_switches(*parts_.loop.subnet())))
    log_adaptive(parts_.log, *parts_.loop.subnet(), parts_.config->adopt.adaptive_routing, parts_.dry_run);
}

void SubnetStatus::count_sweep(SweepKind kind, double took_ms) {
  ++totals_.sweeps;
  totals_.last_ms[kind] = took_ms;
}

void SubnetStatus::publish_sweep() {
  if (!parts_.dry_run && parts_.mastership.state() == wire::SmState::master) report_faults();
  parts_.mastership.report_sms();
  tell_state();
  // The same fault again and again is of interest at debug level only.
  const bool again = summary_.reason.starts_with("still ") && summary_.reason == last_reason_;
  same_reason_ = again ? same_reason_ + 1 : 0;
  last_reason_ = summary_.reason;
  log_summary(parts_.log, summary_, same_reason_ < kSameReason ? log::Level::info : log::Level::debug);
  publish(events::SweepEnded{.sweep = std::string(to_string(summary_.sweep)),
                             .reason = summary_.reason,
                             .state = std::string(to_string(summary_.state)),
                             .total_ms = summary_.total_ms,
                             .came_up = parts_.loop.came_up()});
}

std::shared_ptr<const Snapshot> SubnetStatus::snapshot() const {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->subnet = parts_.loop.subnet();
  snapshot->decided = parts_.loop.decided();
  snapshot->plan = plan_;
  snapshot->times = parts_.loop.times();
  snapshot->summary = summary_;
  snapshot->state = parts_.mastership.state();
  snapshot->rank = parts_.mastership.rank();
  snapshot->came_up = parts_.loop.came_up();
  snapshot->unknown_m_keys = unknown_m_keys(*parts_.loop.subnet(), parts_.traps.bad_m_keys());
  snapshot->disabled = parts_.loop.disabled();
  snapshot->stored = parts_.loop.stored();
  snapshot->inventory = snapshot->stored->inventory;
  snapshot->last_change = parts_.inventory.last_change();
  snapshot->last_change_at = parts_.inventory.last_change_at();
  snapshot->state_since = state_since_;
  return snapshot;
}

void SubnetStatus::publish_activity() {
  const auto counters = parts_.tx.counters();
  Activity activity{.traps = parts_.traps.count(),
                    .violations = parts_.traps.violations(),
                    .sweeps = totals_,
                    .lft_blocks = lft_blocks_written(counters),
                    .timeouts = timeouts_by_attribute(counters),
                    .smps_open = parts_.tx.shown_open(),
                    .traps_by = parts_.traps.counts()};
  activity.smps = counters.total(&mad::AttributeCounters::sent, wire::Method::get) +
                  counters.total(&mad::AttributeCounters::sent, wire::Method::set);
  activity.smp_timeouts = counters.total(&mad::AttributeCounters::timeouts);
  parts_.activity->set(std::make_shared<const Activity>(activity));
}

void SubnetStatus::publish_traps() {
  const auto before = parts_.activity->get();
  auto activity = before ? *before : Activity{};
  activity.traps = parts_.traps.count();
  activity.violations = parts_.traps.violations();
  parts_.activity->set(std::make_shared<const Activity>(activity));
}

}  // namespace smd::sm::inline status
