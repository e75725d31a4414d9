// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/machine_log.h"

#include <fmt/format.h>

#include <chrono>

namespace smd::sm::inline availability {

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
      .kv("reason", refused.no_key ? "no SM_Key, and not the master that we know" : "another SM_Key")
      .subject("sm.control_refused");
}

void write(const log::Log& log, const machine::LogOtherSm& seen) {
  const auto& other = seen.sm;
  log.warn(seen.two_masters ? "sm.two_masters" : "sm.other_master")
      .port(other.at.node, other.node_description, other.at.port)
      .kv("sm_guid", other.info.guid)
      .kv("priority", other.info.priority)
      .kv("state", other.info.state)
      .kv("lid", other.lid)
      .kv("known", seen.known)
      .kv("action", seen.contested     ? "nothing is written; waiting for its HANDOVER"
                    : seen.two_masters ? "it ranks higher: HANDOVER is sent to it"
                                       : "nothing is written; waiting")
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
