// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SM states of IBA as a pure state machine: (state, event) -> (state, actions). No clock, no log and no
// transport; Mastership executes the actions.

#include <chrono>
#include <cstdint>
#include <map>
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
  bool quiet = false;         ///< [ha] quiet is not 0
  /// Answers in a row in which ActCount has to have grown before one in which it has not counts as none.
  std::uint32_t steady = 60;

  bool lists(Guid port) const;  ///< `allowed` names the port
  /// Whether an SM on this port belongs to the subnet.
  bool allows(Guid port) const { return allowed.empty() || lists(port); }
};

/// The SM that is polled: the master that we follow, or (State::contested) the one whose HANDOVER we wait
/// for.
struct Polled {
  OtherSm sm;                    ///< as the last sweep has read it
  std::uint32_t unanswered = 0;  ///< polls in a row
  std::uint32_t standby = 0;     ///< answers as standby, of an SM that was to become master
};

/// Why this SM shows less than its rank, so that the master keeps the fabric.
enum class Deferral : std::uint8_t {
  none,
  quiet,       ///< it has started, or stood still, while another SM was master: for [ha] quiet
  handed_over  ///< it has been told to hand over: until the fabric falls to it, or it gets a priority
};

/// ActCount of the SM that is polled.
struct ActWatch {
  Guid of;
  std::uint32_t last = 0;
  std::uint32_t grown = 0;  ///< answers in a row with a higher one
  bool irregular = false;   ///< it has stayed the same before `grown` was enough: it says nothing
};

/// HANDOVER to an SM that has not become master yet.
struct Yielded {
  Guid to;
  bool acknowledged = false;  ///< it has sent ACKNOWLEDGE
};

/// All that decides whether this SM writes to the fabric. The SM state of IBA is `sm`; the rest are
/// conditions within it.
struct State {
  wire::SmState sm = wire::SmState::discovering;
  SmRank self;                       ///< our priority and port GUID
  std::uint8_t master_priority = 0;  ///< [sm] master_priority: shown while master, where it is higher
  std::uint64_t sm_key = 0;          ///< ours
  Policy policy;

  /// The sweep that runs (or the last one) began when we were not the only master: others may have written.
  bool adopting = true;
  /// It began as master of one of two parts of a fabric that are joined: ports of the other part have been
  /// another SM's.
  bool merging = false;
  /// Master, but the last sweep has found another master that is to hand over: one of lower rank, or one that
  /// we have replaced. Nothing is written until the next.
  bool contested = false;
  /// The SM that sent HANDOVER, until a sweep has looked for masters.
  std::optional<Guid> handed_over_by;
  /// Polled since the last sweep has found it; nothing: no SM is waited for (any more).
  std::optional<Polled> polled;
  /// The SM that was polled when the sweep that runs began: what it commits is copied until the sweep has
  /// read who is master.
  std::optional<Guid> followed_in_sweep;
  /// Port GUIDs of SMs that left Policy::losses polls unanswered, until one of their answers is read.
  std::set<Guid> hung;
  /// SMs that answer with the same ActCount again and again, which is given, until it is another one.
  std::map<Guid, std::uint32_t> stuck;
  ActWatch acts;
  /// The master that we took the fabric over from because it was silent or answered always the same, until it
  /// is seen as something else, or not at all.
  std::optional<Guid> replaced;

  bool fresh = true;  ///< no sweep has been read since the start
  /// Master of our own port alone, which has no link, or had none while a standby became master: with one it
  /// is as at the start. Shown as discovering.
  bool alone = false;
  /// Master by our own copy of the fabric: no heavy sweep has read it since.
  bool unread = false;
  Deferral deferral = Deferral::none;
  std::optional<SmRank> followed;  ///< rank of the SM that we follow, as it was read last
  std::optional<Guid> told;        ///< the followed master, which has been told that we outrank it
  std::optional<Yielded> yielded;
  /// SMs that have not taken a HANDOVER, or not the fabric while we deferred to them, until they ask for it
  /// or change.
  std::set<Guid> declined;
  /// Standbys that outrank us, and how often they did not take a fabric without a master in the time in which
  /// a dead master is found: until a master is there, or they change. After the second time, between which a
  /// heavy sweep has looked for a master, they are waited for no longer, and get the fabric by HANDOVER.
  std::map<Guid, std::uint32_t> idle;
  std::set<Guid> strangers;  ///< SMs that are never obeyed and have been named
  /// Standbys that copy what this master commits and do not have all of it yet: they get the fabric by their
  /// rank when they have.
  std::set<Guid> lagging;
  /// SMs that copy what this master commits; true: they have all of it. They come first where it gives the
  /// fabric up by itself.
  std::map<Guid, bool> copies;

  /// After a standstill of this process, until the masters of the fabric are known again, or the master that
  /// a standby follows has answered: no Set leaves.
  bool sets_held = false;
  std::uint64_t standstills = 0;  ///< since the start
  std::uint64_t accounted = 0;    ///< of these, the ones before the work that runs
};

// Events.

/// Set(SMInfo) with an attribute modifier: HANDOVER, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER, or an unknown
/// one.
struct ControlReceived {
  wire::SmControl control{};
  wire::SmInfo from;  ///< the sender's SMInfo
  /// It came from the port of an SM with its GUID that the last sweep has read as master.
  bool from_known_master = false;
  /// [sm] allowed_guids does not name the port that it came from, whatever GUID it says.
  bool from_stranger = false;
};
/// Our port GUID, priority and SM_Key.
struct IdentityKnown {
  SmRank self;
  std::uint8_t master_priority = 0;
  std::uint64_t sm_key = 0;
};
struct PolicyChanged {
  Policy policy;
};
/// A piece of work of the manager begins: a sweep, a light sweep or a write between sweeps.
struct WorkBegins {};
struct SweepBegins {};
/// It has read nothing of other SMs: our own port, or the node at the other end of its link, is silent.
struct SweepFailed {};
/// A sweep has read the fabric; nothing is written yet.
struct SweepRead {
  std::vector<OtherSm> others;  ///< all other SMs
  bool whole = false;           ///< a heavy sweep
  bool dry_run = false;
  bool cut_off = false;  ///< our own port has no link
};
/// The fabric has fallen to us, and before any sweep the other SMs that are known were asked for SMInfo.
struct OthersAsked {
  std::vector<OtherSm> others;  ///< `answered` says whether they did now
};
/// All SMs that are known, as a light sweep has read them.
struct SmsRead {
  std::vector<OtherSm> others;
};
/// What an SM has answered that told us that its priority is higher (trap 144).
struct RankTold {
  OtherSm sm;
};
/// Which SMs copy what we commit, and which of them lack some of it: State's fields of these names.
struct CopiesKnown {
  std::set<Guid> lagging{};
  std::map<Guid, bool> copies{};
};
/// The fabric is to be handed over to this SM, whatever its rank: an operator wants it, or this process ends.
struct HandOver {
  OtherSm to;
};
/// What came of Set(SMInfo) HANDOVER.
struct HandoverAnswered {
  Guid to;
  bool taken = false;
  std::string reason;  ///< it was not taken
};
/// [ha] quiet is over, or an operator has given us a priority.
struct DeferralOver {};
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
/// Another master has not sent HANDOVER in time, or an SM that has got ours has not become master.
struct PatienceOver {};
/// This process has stood still for longer than a master may.
struct StoodStill {
  std::chrono::nanoseconds took{};
};
/// After a standstill: SMInfo of the SMs that are known and PortInfo of our own port.
struct KnownSmsRead {
  bool another_may_be_master = false;
};
/// An SM that the last sweep found silent has answered, as master.
struct SilentMasterAnswered {};
/// A standby that could not ask us for as long as it waits for a master has answered, before it is answered
/// itself.
struct UnheardSmAnswered {
  wire::SmInfo info;
};

using Event =
    std::variant<ControlReceived, IdentityKnown, PolicyChanged, WorkBegins, SweepBegins, SweepFailed,
                 SweepRead, OthersAsked, SmsRead, RankTold, CopiesKnown, HandOver, HandoverAnswered,
                 DeferralOver, PollingBegins, PollAnswered, PollUnanswered, PollUnroutable, PatienceOver,
                 StoodStill, KnownSmsRead, SilentMasterAnswered, UnheardSmAnswered>;

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
  bool at_once = false;  ///< nothing that happened before makes it wait
};
/// Set(SMInfo) HANDOVER; as a standby, because `to` is master whether it answers or not.
struct SendHandover {
  OtherSm to;
};
/// The event that led to this is to come again when this standby lacks nothing any more.
struct AwaitCopy {
  OtherSm of;
};
/// Set(SMInfo) ACKNOWLEDGE.
struct SendAcknowledge {
  Guid to;
};
/// We are the standby of State::polled now, although no sweep has found so.
struct Follow {};
/// Trap 144 with SMPriorityChange: we outrank this master.
struct TellRank {
  OtherSm master;
};
/// DeferralOver is to follow when [ha] quiet is over.
struct BeginQuiet {};
struct LogControl {
  wire::SmControl control{};
  SmRank from;
};
/// Why a control is not obeyed.
enum class Refusal : std::uint8_t {
  other_key,
  no_key,       ///< SM_Key 0, and not the master that we know
  not_allowed,  ///< its port GUID is not in [sm] allowed_guids
  not_master    ///< the sender does not say that it is master
};
struct LogControlRefused {
  wire::SmControl control{};
  Guid from;
  Refusal why{};
};
/// An SM that is never obeyed.
struct LogStranger {
  OtherSm sm;
  bool other_key = false;  ///< else it is not in [sm] allowed_guids
};
struct LogDeclined {
  Guid sm;
  std::string reason;
};
struct LogStuck {
  OtherSm sm;
};
/// Another SM is master, or will be.
struct LogOtherSm {
  OtherSm sm;
  bool two_masters = false;   ///< we are master, too
  bool contested = false;     ///< its HANDOVER is waited for
  bool was_replaced = false;  ///< one of the two masters has stood still, and keeps nothing by its rank
  bool known = false;         ///< is_obeyed()
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

using Action = std::variant<Answer, Became, RequestSweep, SendHandover, AwaitCopy, SendAcknowledge, Follow,
                            TellRank, BeginQuiet, LogControl, LogControlRefused, LogStranger, LogDeclined,
                            LogOtherSm, LogMasterGone, LogNoHandover, LogStuck, LogStoodStill>;

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
  contested  ///< we are master, and so is an SM that has to hand over
};
/// By the state after the last SweepRead; not meaningful before the first.
Verdict verdict(const State& state);

/// `other` outranks us, was master before us, and may have stood still: by `quiet` it gives way when it finds
/// out.
bool outranked_by_replaced(const State& state, const wire::SmInfo& other);

/// We are standby, and the SM that we followed is gone or has handed over: a sweep, or OthersAsked, decides.
bool fabric_is_free(const State& state);

/// Whether what a known SM has answered (nothing: it did not) says that it may be master now. Pure.
bool may_be_master(const std::optional<wire::SmInfo>& read);

}  // namespace smd::sm::inline availability::machine
