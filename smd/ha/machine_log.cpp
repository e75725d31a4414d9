// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/machine_log.h"

#include <fmt/format.h>

#include <chrono>

namespace smd::sm::inline availability {
namespace {

std::string_view refusal_words(machine::Refusal why) {
  switch (why) {
    case machine::Refusal::other_key:
      return "another SM_Key";
    case machine::Refusal::no_key:
      return "no SM_Key, and not the master that we know";
    case machine::Refusal::not_allowed:
      return "not in [sm] allowed_guids";
    case machine::Refusal::not_master:
      return "its sender is not master";
  }
  return "unknown";
}

}  // namespace

void write(const log::Log& log, const machine::Became& change) {
  log.info("sm.state").kv("from", change.from).kv("to", change.to).always();
}

void write(const log::Log& log, const machine::LogControl& control) {
  log.info("sm.control")
      .kv("control", control.control)
      .kv("from_guid", control.from.guid)
      .kv("from_priority", control.from.priority);
}

void write(const log::Log& log, const machine::LogControlRefused& refused) {
  log.warn("sm.control_refused")
      .kv("control", refused.control)
      .kv("from_guid", refused.from)
      .kv("reason", refusal_words(refused.why))
      .subject("sm.control_refused");
}

void write(const log::Log& log, const machine::LogStranger& stranger) {
  const auto& sm = stranger.sm;
  log.error("sm.foreign")
      .port(sm.at.node, sm.node_description, sm.at.port)
      .kv("sm_guid", sm.info.guid)
      .kv("priority", sm.info.priority)
      .kv("state", sm.info.state)
      .kv("lid", sm.lid)
      .kv("reason", stranger.other_key ? "another SM_Key" : "not in [sm] allowed_guids")
      .kv("action", "never obeyed; while it is master smd waits")
      .subject(fmt::format("{} {}", sm.info.guid, stranger.other_key));
}

void write(const log::Log& log, const machine::LogDeclined& declined) {
  log.warn("sm.handover_declined")
      .kv("sm_guid", declined.sm)
      .kv("reason", declined.reason)
      .kv("action", "this SM takes the fabric back")
      .always();
}

void write(const log::Log& log, const machine::LogStuck& stuck) {
  const auto& sm = stuck.sm;
  log.warn("sm.stuck")
      .port(sm.at.node, sm.node_description, sm.at.port)
      .kv("sm_guid", sm.info.guid)
      .kv("act_count", sm.info.act_count)
      .kv("reason", "it answers SMInfo, and its ActCount does not grow")
      .always();
}

namespace {

const char* action(const machine::LogOtherSm& seen) {
  if (!seen.two_masters) return "nothing is written; waiting";
  if (seen.contested && seen.was_replaced)
    return "nothing is written; it stood still, and is to find out that this SM has replaced it";
  if (seen.contested) return "nothing is written; waiting for its HANDOVER";
  if (!seen.known) return "nothing is written, and it is sent no HANDOVER; waiting";
  return seen.was_replaced ? "it has replaced this SM, which stood still: HANDOVER is sent to it"
                           : "it ranks higher: HANDOVER is sent to it";
}

}  // namespace

void write(const log::Log& log, const machine::LogOtherSm& seen) {
  const auto& other = seen.sm;
  log.warn(seen.two_masters ? "sm.two_masters" : "sm.other_master")
      .port(other.at.node, other.node_description, other.at.port)
      .kv("sm_guid", other.info.guid)
      .kv("priority", other.info.priority)
      .kv("state", other.info.state)
      .kv("lid", other.lid)
      .kv("known", seen.known)
      .kv("action", action(seen))
      .subject(fmt::format("{} {} {} {}", other.info.guid, other.info.priority, to_string(other.info.state),
                           seen.contested));
}

void write(const log::Log& log, const machine::LogMasterGone& gone) {
  log.warn("sm.master_gone")
      .port(gone.master.at.node, gone.master.node_description, gone.master.at.port)
      .kv("reason", gone.reason)
      .always();
}

void write(const log::Log& log, const machine::LogNoHandover& none) {
  const auto& other = none.master;
  log.warn("sm.no_handover")
      .port(other.at.node, other.node_description, other.at.port)
      .kv("sm_guid", other.info.guid)
      .kv("priority", other.info.priority)
      .kv("action", "it stays master, this SM stands by")
      .always();
}

void write(const log::Log& log, const machine::LogStoodStill& standstill) {
  log.warn("sm.stood_still")
      .kv("seconds", fmt::format("{:.1f}", std::chrono::duration<double>(standstill.took).count()))
      .kv("action", "no Set until the other SMs and our own port have been asked who is master")
      .always();
}

}  // namespace smd::sm::inline availability
