// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SM states of IBA as a pure state machine: (state, event) -> (state, actions). No clock, no log and no
// transport; Mastership executes the actions.

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "mad/base/id.h"
#include "mad/wire/sm_info.h"
#include "smd/ha/election.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline availability::machine {

/// What the configuration says of other SMs.
struct Policy {
  std::vector<Guid> allowed;  ///< [sm] allowed_guids: port GUIDs of the SMs of this subnet; empty: any
  bool force = false;         ///< [sm] force: SMs that are not in `allowed` are ignored
  std::uint32_t losses = 1;   ///< [ha] losses: unanswered polls in a row after which an SM counts as hung

  bool lists(Guid port) const;  ///< `allowed` names the port
  /// Whether an SM on this port belongs to the subnet.
  bool allows(Guid port) const { return allowed.empty() || lists(port); }
};

/// The SM that is polled: the master that we follow, or (State::contested) the lower-ranked master whose
/// HANDOVER we wait for.
struct Polled {
  OtherSm sm;                    ///< as the last sweep has read it
  std::uint32_t unanswered = 0;  ///< polls in a row
};

/// All that decides whether this SM writes to the fabric. The SM state of IBA is `sm`; the rest are
/// conditions within it.
struct State {
  wire::SmState sm = wire::SmState::discovering;
  SmRank self;               ///< our priority and port GUID, as SMInfo shows them
  std::uint64_t sm_key = 0;  ///< ours
  Policy policy;

  /// The sweep that runs (or the last one) began when we were not the only master: others may have written.
  bool adopting = true;
  /// Master, but the last sweep has found another master of lower rank: nothing is written until the next.
  bool contested = false;
  /// The SM that sent HANDOVER, until a sweep has looked for masters.
  std::optional<Guid> handed_over_by;
  /// Polled since the last sweep has found it; nothing: no SM is waited for (any more).
  std::optional<Polled> polled;
  /// Port GUIDs of SMs that left Policy::losses polls unanswered, until one of their answers is read.
  std::set<Guid> hung;

  /// After a standstill of this process, until the masters of the fabric are known again: no Set leaves.
  bool sets_held = false;
  std::uint64_t standstills = 0;  ///< since the start
  std::uint64_t accounted = 0;    ///< of these, the ones before the work that runs
};

// Events.

/// Set(SMInfo) with an attribute modifier: HANDOVER, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER, or an unknown
/// one.
struct ControlReceived {
  wire::SmControl control{};
  wire::SmInfo from;               ///< the sender's SMInfo
  bool from_known_master = false;  ///< its GUID is that of an SM that the last sweep has read as master
};
/// Our port GUID, priority and SM_Key.
struct IdentityKnown {
  SmRank self;
  std::uint64_t sm_key = 0;
};
struct PolicyChanged {
  Policy policy;
};
/// A piece of work of the manager begins: a sweep, a light sweep or a write between sweeps.
struct WorkBegins {};
struct SweepBegins {};
/// A sweep has read the fabric; nothing is written yet.
struct SweepRead {
  std::vector<OtherSm> others;  ///< all other SMs
  bool whole = false;           ///< a heavy sweep
  bool dry_run = false;
};
/// Polled: from now on as a standby polls its master.
struct PollingBegins {};
struct PollAnswered {
  wire::SmInfo info;
};
struct PollUnanswered {
  std::string reason;
};
/// It is time for a poll, and no route leads to the polled SM.
struct PollUnroutable {};
/// A lower-ranked master has not sent HANDOVER in time.
struct PatienceOver {};
/// This process has stood still for longer than a master may.
struct StoodStill {
  std::chrono::nanoseconds took{};
};
/// After a standstill: SMInfo of the SMs that are known and PortInfo of our own port.
struct KnownSmsRead {
  bool another_may_be_master = false;
};
/// An SM that the last sweep found silent has answered.
struct SilentSmAnswered {
  wire::SmInfo info;
};

using Event = std::variant<ControlReceived, IdentityKnown, PolicyChanged, WorkBegins, SweepBegins, SweepRead,
                           PollingBegins, PollAnswered, PollUnanswered, PollUnroutable, PatienceOver,
                           StoodStill, KnownSmsRead, SilentSmAnswered>;

// Actions, in the order in which they are executed.

/// GetResp to the control with this status.
struct Answer {
  std::uint16_t status = 0;
};
/// The SM state has changed.
struct Became {
  wire::SmState from{}, to{};
};
/// A sweep as soon as possible; `reason` counts unless one of its kind is requested already.
struct RequestSweep {
  bool heavy = true;  ///< else a light sweep
  std::string reason;
};
/// Set(SMInfo) HANDOVER; as a standby, because `to` is master whether it answers or not.
struct SendHandover {
  OtherSm to;
  bool with_sm_key = true;  ///< false: 0 is sent
};
struct LogControl {
  wire::SmControl control{};
  SmRank from;
};
struct LogControlRefused {
  wire::SmControl control{};
  Guid from;
  bool no_key = false;  ///< SM_Key 0, else another one
};
/// Another SM is master, or will be.
struct LogOtherSm {
  OtherSm sm;
  bool two_masters = false;  ///< we are master, too
  bool contested = false;    ///< its HANDOVER is waited for
  bool known = false;        ///< Policy::allows it
};
struct LogMasterGone {
  OtherSm master;
  std::string reason;
};
struct LogNoHandover {
  OtherSm master;
};
struct LogStoodStill {
  std::chrono::nanoseconds took{};
};

using Action = std::variant<Answer, Became, RequestSweep, SendHandover, LogControl, LogControlRefused,
                            LogOtherSm, LogMasterGone, LogNoHandover, LogStoodStill>;

struct Step {
  State next;
  std::vector<Action> actions;
};

/// The state after `event`, and what is to be done about it. Total: each event is allowed in each state.
/// Pure.
Step step(State now, const Event& event);

/// Which SM is to be master, after SweepRead.
enum class Verdict : std::uint8_t {
  ours,
  not_ours,  ///< another SM is master, or will be
  contested  ///< we are master, and so is an SM of lower rank, which has to hand over
};
/// By the state after the last SweepRead; not meaningful before the first.
Verdict verdict(const State& state);

/// Whether what a known SM has answered (nothing: it did not) says that it may be master now. Pure.
bool may_be_master(const std::optional<wire::SmInfo>& read);

}  // namespace smd::sm::inline availability::machine
