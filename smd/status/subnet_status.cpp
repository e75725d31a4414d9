// SPDX-License-Identifier: Apache-2.0
// The state and its summary. What is published: publish.cpp.
#include "smd/status/subnet_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "mad/base/counted.h"
#include "smd/report/qos_tables.h"
#include "smd/report/tally.h"

namespace smd::sm::inline status {

void SubnetStatus::begin_sweep(SweepKind kind, std::string reason) {
  summary_ = {};
  summary_.subnet = parts_.name;
  summary_.sweep = kind;
  summary_.reason = std::move(reason);
}

std::string SubnetStatus::cause() const {
  constexpr std::array kLight{"port state change", "interval", "audit", "a switch does not answer"};
  return std::ranges::find(kLight, summary_.reason) != kLight.end() ? "light sweep" : summary_.reason;
}

void SubnetStatus::summarise(const mad::Counters& before) {
  const auto& loop = parts_.loop;
  const auto sent = parts_.tx.counters() - before;
  summary_.smps_get = sent.total(&mad::AttributeCounters::sent, wire::Method::get);
  summary_.smps_set = sent.total(&mad::AttributeCounters::sent, wire::Method::set);
  summary_.timeouts = sent.total(&mad::AttributeCounters::timeouts);
  summary_.retries = sent.total(&mad::AttributeCounters::retries);
  const auto& failures = loop.failures();
  summary_.sets_failed = std::max(failures.sets, failures.left);
  summary_.sets_left = failures.left;
  summary_.route_ms = loop.times().route_ms;
  summary_.verify_ms = loop.times().verify_ms;
  const bool ours = parts_.mastership.state() == wire::SmState::master || parts_.dry_run;
  tally(*loop.subnet(), ours && loop.decided().routes ? &loop.decided() : nullptr, summary_);
  if (!ours) tally_standby(*loop.subnet(), parts_.mastership.answering_master(), summary_);
  if (!ours && parts_.mastership.yielded()) {
    summary_.state = SweepState::standby;
    summary_.why = "the fabric is handed over";
  }
  if (parts_.dry_run && summary_.state != SweepState::failed) summary_.state = SweepState::dry_run;
  if (unsettled_ && is_working(summary_.state)) {
    summary_.state = SweepState::degraded;
    summary_.why = "links have changed, and switches are asked whether more have";
  }
  if (parts_.mastership.contested()) {
    summary_.state = SweepState::degraded;
    summary_.why = "another SM is master, too";
  }
  judge_policy();
  judge();
}

/// Files that are wrong at the start leave the policy that was accepted last in force.
void SubnetStatus::judge_policy() {
  const bool counts = is_working(summary_.state) || summary_.state == SweepState::degraded;
  if (parts_.config->partitions.refused.empty() || !counts) return;
  summary_.state = SweepState::degraded;
  summary_.why +=
      fmt::format("{}the files are wrong about partitions, those that were accepted last are in force",
                  summary_.why.empty() ? "" : ", ");
}

namespace {

/// Ports of switches that enforce, with more keys than room. Switches that never do are no fault of now.
std::size_t too_small(const PartitionPart& partitions) {
  return static_cast<std::size_t>(std::ranges::count_if(
      partitions.not_enforced, [](const auto& one) { return one.capacity != 0 && !one.held_back; }));
}

std::size_t held_back(const PartitionPart& partitions) {
  return static_cast<std::size_t>(
      std::ranges::count(partitions.not_enforced, true, &PartitionPart::NotEnforced::held_back));
}

/// What [qos] asks for and does not get.
std::vector<std::string> qos_not_given(const Subnet& subnet, const Decided& decided) {
  std::vector<std::string> found;
  if (const auto* sls = decided.service_levels.get(); sls != nullptr && !sls->left_out.empty())
    found.push_back(fmt::format("{} no SLs of {} own in {} layers (SL {}): smd qos",
                                base::counted(sls->left_out.size(), "class has", "classes have"),
                                sls->left_out.size() == 1 ? "its" : "their", sls->layers,
                                fmt::join(sls->left_out, ", ")));
  if (!decided.qos_tables) return found;
  if (const auto kept = ports_that_keep_tables(subnet, *decided.qos_tables); kept.count != 0)
    found.push_back(fmt::format("{} VL arbitration tables, as no VL has a weight in those asked for",
                                base::counted(kept.count, "port keeps its", "ports keep their")));
  return found;
}

}  // namespace

/// What is missing or refused, and whether it makes a fabric that works a reduced one.
void SubnetStatus::judge() {
  const auto& known = parts_.loop.stored()->inventory;
  if (!known || parts_.mastership.state() != wire::SmState::master) return;
  summary_.lost = known->lost();
  judge_losses(*known, parts_.config->status.hosts_missing, summary_);
  const auto reduce = [&](const std::string& why) {
    if (!is_working(summary_.state)) return;
    summary_.state = SweepState::reduced;
    summary_.why += (summary_.why.empty() ? "" : ", ") + why;
  };
  if (!parts_.config->qos.refused.empty())
    reduce("the files are wrong about QoS, the policy that was accepted last is in force");
  if (const auto& subnet = parts_.loop.subnet()) {
    for (const auto& one : qos_not_given(*subnet, parts_.loop.decided())) reduce(one);
  }
  const auto& partitions = parts_.loop.decided().partitions;
  if (partitions && !partitions->no_room.empty())
    reduce(partitions->no_room.size() == 1
               ? "1 P_Key table has no room for all keys"
               : fmt::format("{} P_Key tables have no room for all keys", partitions->no_room.size()));
  const auto open = partitions ? too_small(*partitions) : 0;
  if (open != 0)
    reduce(open == 1
               ? "1 port of switches lets packets of all partitions pass: too many keys for a P_Key table"
               : fmt::format("{} ports of switches let packets of all partitions pass: too many keys for "
                             "their P_Key tables",
                             open));
  if (const auto narrowed = partitions ? held_back(*partitions) : 0; narrowed != 0)
    reduce(
        fmt::format("{} of switches cannot check all P_Keys of the hosts there, as "
                    "partitions.enforcement_required asks for",
                    narrowed == 1 ? std::string("1 port") : fmt::format("{} ports", narrowed)));
}

void SubnetStatus::judge_again() {
  auto& loop = parts_.loop;
  SweepSummary now;
  now.sets_failed = summary_.sets_failed;
  now.sets_left = summary_.sets_left;
  tally(*loop.subnet(), loop.decided().routes ? &loop.decided() : nullptr, now);
  const auto said = std::exchange(summary_.state, now.state);
  auto why = std::exchange(summary_.why, std::move(now.why));
  judge_policy();
  judge();
  tell_state();
  if (said == summary_.state && why == summary_.why) return;
  parts_.log.info("subnet.settled").kv("state", summary_.state).kv("why", summary_.why);
  loop.forget_came_up();  // told of after the sweep
  publish(events::SubnetSettled{});
}

void SubnetStatus::count_again() {
  auto now = summary_;
  now.switches = now.cas = now.routers = now.lids = now.ports_active = now.ports_not_active = 0;
  tally(*parts_.loop.subnet(), nullptr, now);
  tally_standby(*parts_.loop.subnet(), parts_.mastership.answering_master(), now);
  if (parts_.mastership.yielded()) {
    now.state = summary_.state;
    now.why = summary_.why;
  }
  summary_ = std::move(now);
  publish_between_sweeps();
}

void SubnetStatus::settle() {
  if (std::exchange(unsettled_, false)) judge_again();
}

void SubnetStatus::accepted() {
  judge();
  tell_state();
  publish_between_sweeps();
}

/// When the fabric is in service after it was not.
void SubnetStatus::tell_state() {
  if (unsettled_) return;
  const auto before = std::exchange(said_state_, summary_.state);
  if (before == summary_.state) return;
  state_since_ = parts_.wall();
  const bool came =
      summary_.state == SweepState::up || (is_working(summary_.state) && !(before && is_working(*before)));
  if (!came) return;
  parts_.log.info("subnet.up")
      .kv("state", summary_.state)
      .kv("was", before ? to_string(*before) : "starting")
      .kv("switches", summary_.switches)
      .kv("cas", summary_.cas)
      .kv("routers", summary_.routers)
      .kv("links", summary_.links)
      .kv("lids", summary_.lids)
      .kv("sm_lid", summary_.sm_lid)
      .kv("engine", summary_.engine);
}

}  // namespace smd::sm::inline status
