// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log lines of the state machine.

#include "smd/ha/sm_machine.h"
#include "smd/log/log.h"

namespace smd::sm::inline availability {

/// Logs sm.state.
void write(const log::Log& log, const machine::Became& change);
/// Logs sm.control.
void write(const log::Log& log, const machine::LogControl& control);
/// Logs sm.control_refused.
void write(const log::Log& log, const machine::LogControlRefused& refused);
/// Logs sm.foreign: an SM that is never obeyed.
void write(const log::Log& log, const machine::LogStranger& stranger);
/// Logs sm.handover_declined.
void write(const log::Log& log, const machine::LogDeclined& declined);
/// Logs sm.stuck.
void write(const log::Log& log, const machine::LogStuck& stuck);
/// Logs sm.two_masters or sm.other_master.
void write(const log::Log& log, const machine::LogOtherSm& other);
/// Logs sm.master_gone.
void write(const log::Log& log, const machine::LogMasterGone& gone);
/// Logs sm.no_handover.
void write(const log::Log& log, const machine::LogNoHandover& none);
/// Logs sm.stood_still.
void write(const log::Log& log, const machine::LogStoodStill& standstill);

}  // namespace smd::sm::inline availability
