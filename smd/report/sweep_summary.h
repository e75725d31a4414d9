// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one sweep did, in figures: the line in the log, `--once --json`, later the API and the metrics.

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "mad/base/id.h"
#include "smd/inventory/inventory.h"

namespace smd::sm::inline reports {

enum class SweepKind : std::uint8_t { heavy, light, incremental };
/// `reduced`: everything that answers works, and links or nodes that were there are missing, or a QoS policy
/// is refused. `standby`: another SM is master, and answers.
enum class SweepState : std::uint8_t { up, reduced, degraded, failed, standby, dry_run };

constexpr std::string_view to_string(SweepKind kind) {  ///< as in the log and in the API
  switch (kind) {
    case SweepKind::heavy:
      return "heavy";
    case SweepKind::light:
      return "light";
    case SweepKind::incremental:
      return "incremental";
  }
  return "unknown";
}

constexpr std::string_view to_string(SweepState state) {  ///< as in the log and in the API
  switch (state) {
    case SweepState::up:
      return "up";
    case SweepState::reduced:
      return "reduced";
    case SweepState::degraded:
      return "degraded";
    case SweepState::failed:
      return "failed";
    case SweepState::standby:
      return "standby";
    case SweepState::dry_run:
      return "dry_run";
  }
  return "unknown";
}

struct SweepSummary {
  std::string subnet;
  SweepKind sweep = SweepKind::heavy;
  std::string reason;  ///< what asked for it: "start", "trap 128", "interval"
  std::uint64_t switches = 0, cas = 0, routers = 0;
  std::uint64_t links = 0;  ///< cables, each counted once
  std::uint64_t lids = 0;   ///< in use
  std::uint64_t smps_get = 0, smps_set = 0;
  std::uint64_t sets_failed = 0;  ///< refused, or not answered after all retries
  std::uint64_t sets_left = 0;    ///< still to be done at the end, in spite of all attempts; not printed
  std::uint64_t timeouts = 0, retries = 0;
  std::uint64_t unresponsive = 0;
  std::uint64_t lids_changed = 0;  ///< end ports that had a LID and now have another
  double discover_ms = 0, decide_ms = 0, route_ms = 0, verify_ms = 0, apply_ms = 0, total_ms = 0;
  std::string engine;
  std::uint64_t lft_blocks = 0, lft_entries_changed = 0, mft_blocks = 0;  ///< written
  std::uint64_t ports_active = 0, ports_not_active = 0;  ///< of linked ports (switch port 0 is none)
  Lid sm_lid;
  SweepState state = SweepState::failed;
  Inventory::Counts lost;  ///< what was there and is missing; not printed with the rest
  std::string why;         ///< what keeps it from being up, in words for people; not printed with the rest
};

/// Every node that answers is in service: up, or reduced.
constexpr bool is_working(SweepState state) {
  return state == SweepState::up || state == SweepState::reduced;
}

/// Calls visit(key, value) for every key in the contract's order. Values: std::string_view,
/// std::uint64_t, double (milliseconds, whole microseconds).
void for_each_field(const SweepSummary& s, auto&& visit) {
  const auto ms = [](double value) { return static_cast<double>(std::llround(value * 1e3)) / 1e3; };
  visit("subnet", std::string_view(s.subnet));
  visit("sweep", to_string(s.sweep));
  visit("reason", std::string_view(s.reason));
  visit("switches", s.switches);
  visit("cas", s.cas);
  visit("routers", s.routers);
  visit("links", s.links);
  visit("lids", s.lids);
  visit("smps_get", s.smps_get);
  visit("smps_set", s.smps_set);
  visit("sets_failed", s.sets_failed);
  visit("timeouts", s.timeouts);
  visit("retries", s.retries);
  visit("unresponsive", s.unresponsive);
  visit("lids_changed", s.lids_changed);
  visit("discover_ms", ms(s.discover_ms));
  visit("decide_ms", ms(s.decide_ms));
  visit("route_ms", ms(s.route_ms));
  visit("verify_ms", ms(s.verify_ms));
  visit("apply_ms", ms(s.apply_ms));
  visit("total_ms", ms(s.total_ms));
  visit("engine", std::string_view(s.engine));
  visit("lft_blocks", s.lft_blocks);
  visit("lft_entries_changed", s.lft_entries_changed);
  visit("mft_blocks", s.mft_blocks);
  visit("ports_active", s.ports_active);
  visit("ports_not_active", s.ports_not_active);
  visit("sm_lid", std::uint64_t{s.sm_lid.value()});
  visit("state", to_string(s.state));
}

/// `key=value` with blanks between; a text with blanks, quotes or nothing in it stands in quotes.
std::string to_line(const SweepSummary& summary);
/// One JSON object on one line, the same keys.
std::string to_json(const SweepSummary& summary);

}  // namespace smd::sm::inline reports
