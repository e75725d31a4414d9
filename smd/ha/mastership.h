// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether this SM is master: the state machine (sm_machine.h) with what it needs to run, SMInfo in both
// directions, polls of other SMs, and the detection of standstills.

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/transactions/transactions.h"
#include "smd/base/damping.h"
#include "smd/events/ring.h"
#include "smd/ha/sm_agent.h"
#include "smd/ha/sm_lookup.h"
#include "smd/ha/sm_machine.h"
#include "smd/ha/sm_view.h"
#include "smd/ha/standstill.h"
#include "smd/log/log.h"
#include "smd/schedule/agenda.h"
#include "smd/sweep/lid_index.h"

namespace smd::sm::inline availability {

/// What reads of other SMs and of our own port have found.
struct SmReads {
  bool heavy = false;                              ///< another SM may be master: a heavy sweep decides
  std::string reason;                              ///< of the last read that asks for a sweep
  std::vector<std::pair<Guid, wire::SmInfo>> sms;  ///< the SMs that have answered, by port GUID
};

/// `others` with what has been read of them; nothing where no answer, state or priority has changed. Pure.
std::optional<std::vector<OtherSm>> with_reads(std::vector<OtherSm> others, const SmReads& reads);

/// One manager's mastership. On the io_context's thread, where nothing else is said.
class Mastership {
 public:
  /// All of it outlives the Mastership.
  struct Parts {
    asio::any_io_executor executor;
    mad::Clock& clock;
    mad::Transactions& tx;
    mad::TaskGroup& tasks;  ///< of the manager; stopped before this dies
    Agenda& agenda;
    log::Log log;
    events::Publisher events;
    const std::shared_ptr<const Subnet>& subnet;  ///< the current one; null before the first sweep
    const std::shared_ptr<const config::SubnetConfig>& config;  ///< the one in force
    LidIndex& lids;
    std::function<std::int64_t()> wall;  ///< seconds since 1970
    std::shared_ptr<PublishedSms> sms;   ///< where views go
    /// Before a HANDOVER: until the successor has what was committed, 50 ms at most.
    std::function<asio::awaitable<void>(Guid standby)> settle;
    /// The SM on this port copies what is committed here, and lacks some of it. May be null: none copies.
    std::function<bool(Guid standby)> lags;
    /// The SMs that copy it now; true: all of it. Nothing: what is committed is never copied. May be null, as
    /// that.
    std::function<std::optional<std::map<Guid, bool>>()> copies;
  };
  /// A trap, repressed already; only called while we are master.
  using OnTrap = std::function<void(const wire::Notice& notice, Lid from)>;
  using ClaimSm = std::move_only_function<std::expected<void, std::string>()>;

  /// From now on no Set of `parts.tx` leaves after a standstill until the masters are known again.
  Mastership(Parts parts, OnTrap on_trap);
  Mastership(const Mastership&) = delete;
  Mastership& operator=(const Mastership&) = delete;
  ~Mastership();

  /// The local port's GUID, where it is known before the first sweep.
  void set_port(Guid port);
  /// Its port GUID; 0: not known yet.
  Guid own_port() const { return state_.self.guid; }
  /// Answers requests, takes the SM's place on the port with `claim_sm` (again each second until it succeeds)
  /// and watches for standstills; with `watch` also polls SMs that are silent or read the fabric while we are
  /// master, and looks at what standbys have copied. False when cancelled.
  asio::awaitable<bool> start(ClaimSm* claim_sm, bool watch);
  /// To be called when `parts.config` points to another configuration.
  void configure();

  /// The state by which we act; SMInfo may show another one (machine::shown).
  wire::SmState state() const { return state_.sm; }
  /// As SMInfo shows it.
  SmRank rank() const { return machine::shown(state_).rank; }
  /// We have handed over, and the other SM is not known as master yet.
  bool yielded() const { return state_.yielded.has_value(); }
  /// We are a standby, and the SM that we follow is known.
  bool follows() const { return state_.sm == wire::SmState::standby && state_.polled; }
  /// The master that we follow, if it has answered the last poll; null: there is none.
  const OtherSm* answering_master() const {
    const auto& polled = state_.polled;
    if (state_.sm != wire::SmState::standby || !polled || polled->unanswered != 0) return nullptr;
    return polled->sm.answered && polled->sm.info.state == wire::SmState::master ? &polled->sm : nullptr;
  }
  /// Whether others may have written to the fabric since we did; from begin_sweep() to the next one.
  bool adopting() const { return state_.adopting; }
  /// Whether that was another master beside us; as adopting().
  bool merging() const { return state_.merging; }
  /// Whether a lower-ranked SM was master too in the last sweep.
  bool contested() const { return state_.contested; }
  /// Master of a fabric, not of our own port alone.
  bool has_fabric() const { return state_.sm == wire::SmState::master && !state_.alone; }
  /// Port GUIDs of SMs that have left all polls unanswered.
  const std::set<Guid>& lost_sms() const { return state_.hung; }
  /// No Set may leave: after a standstill the masters are not known again yet.
  bool sets_held() const { return state_.sets_held; }
  /// Nodes with SMs that have begun after `parts.subnet` was read, while we were standby, since the last
  /// call.
  std::set<Guid> take_newcomers() { return std::exchange(newcomers_, {}); }
  /// When we became master last.
  mad::TimePoint master_since() const { return master_since_; }
  /// SMInfo's ActCount; from any thread.
  std::uint32_t act_count() const { return agent_.act_count(); }

  /// The master is gone, or has handed over to us, and no sweep has begun since.
  bool fabric_is_free() const { return machine::fabric_is_free(state_); }
  /// Before that sweep: asks the other SMs that are known and were not found silent, one try each, and our
  /// own port. We are master from then on where none of them is, or is about to be. True: we are. Gets only.
  asio::awaitable<bool> take_over();

  /// Finds a standstill without waiting for the timer that does.
  void look_for_standstill() { standstill_.check(); }
  /// A piece of work begins, or a sweep as a part of it.
  void begin_work() { on(machine::WorkBegins{}); }
  /// A sweep that is part of the work begins.
  void begin_sweep();
  /// It ends without observed().
  void sweep_failed() { on(machine::SweepFailed{}); }
  /// A sweep has read `parts.subnet`. Nothing may be written unless the verdict is `ours`. `whole`: a heavy
  /// sweep.
  machine::Verdict observed(bool whole, bool dry_run);
  /// Sends the HANDOVER that observed() has decided on, if any.
  asio::awaitable<void> send_handover();

  /// Logs what has changed since the last call among the other SMs of `parts.subnet`.
  void report_sms();

  /// Trap 144 with SMPriorityChange of any SM: its SMInfo is read, and it gets the fabric where it ranks
  /// higher.
  void heard(const wire::Notice& notice, Lid from);
  /// A light sweep has read the SMs of `parts.subnet`: one that ranks higher gets the fabric.
  void sms_read();
  /// Hands the fabric over to `only`, or to the standby that is to get it; the error says why not. What comes
  /// of it is in the log and in the view.
  std::expected<OtherSm, std::string> hand_over(std::optional<Guid> only);
  /// The process is about to end: hands the fabric over where there is a standby, and returns when that has
  /// taken it, or after a second.
  asio::awaitable<void> leave();
  /// Sets our SM priority, 0 to 15, until the next start, or until the configuration has another priority.
  void set_priority(std::uint8_t priority);

  enum class Wait : std::uint8_t {
    settled,   ///< the other SM is no master any more, or silent; a heavy sweep is requested
    conceded,  ///< it stays master, and we are its standby
    cancelled
  };
  /// After Verdict::contested: polls the lower-ranked master until that is settled, 15 s at most.
  asio::awaitable<Wait> await_handover();
  /// After Verdict::not_ours or Wait::conceded: polls the SM that we give way to until it is no master any
  /// more, silent for [ha] losses polls, or a heavy sweep is requested by others; then requests one.
  /// `look_again`: called after a poll with an answer; true: a heavy sweep is to be made, because the fabric
  /// was not up in the last one. False when cancelled.
  asio::awaitable<bool> stand_by(std::function<bool()> look_again);

  /// Get(SMInfo) of a known SM, and Get(PortInfo) of our own port: a change of its LID or MasterSMLID shows
  /// another master. `found` outlives the coroutine.
  asio::awaitable<void> read_sm(mad::Target target, SmReads* found);
  /// Marks `found` for a heavy sweep where state, LID or MasterSMLID differ from `subnet`'s, or the read
  /// fails.
  asio::awaitable<void> read_own_port(std::shared_ptr<const Subnet> subnet, SmReads* found);
  /// Both, for all known SMs, after a standstill. Nothing when cancelled.
  asio::awaitable<std::optional<SmReads>> read_known_sms();
  /// What that has found. Sets stay held where another SM may be master.
  void known_sms_read(const SmReads& found) { on(machine::KnownSmsRead{found.heavy}); }

 private:
  std::uint64_t m_key_at(Lid lid);
  using GoOn = SmAgent::Events::GoOn;
  void asked_by(const mad::Received& from, const wire::Smp& request, GoOn go_on);
  bool may_look_at_sm(Guid node);
  void look_at_sm(Guid node, std::string reason);
  void newcomer_asks(const mad::Received& from, const wire::Smp& request, PeerPort at);
  void known_asks(const OtherSm& sm, GoOn go_on);
  asio::awaitable<void> ask_unheard(OtherSm sm, mad::Target target);
  asio::awaitable<void> answer_in_time(Guid asker);
  void answer_held(Guid asker);
  std::optional<PeerPort> asker(const mad::Received& from, const wire::Smp& request);
  /// Returns the status of machine::Answer, if there is one.
  std::uint16_t on(const machine::Event& event);
  void execute(machine::Action&& action, std::uint16_t* status);
  std::uint16_t control(const mad::Received& from, const wire::Smp& request);
  bool is_known_master(const PeerPort& at, Guid guid) const;
  Guid port_guid_at(const PeerPort& at) const;
  OtherSm by_place(OtherSm sm) const;
  std::vector<OtherSm> others() const;
  std::vector<OtherSm> others_after(std::optional<OtherSm> followed) const;
  void is_sm(const mad::Received& from, const wire::Smp& request, SmLookup::Answer answer);
  std::optional<PeerPort> sender_of(const mad::Received& from, const wire::Smp& request);
  std::optional<PeerPort> place_of(const mad::Received& from, const std::optional<mad::DirectedPath>& back);
  asio::awaitable<bool> claim(ClaimSm* claim_sm);
  asio::awaitable<bool> another_is_master();
  asio::awaitable<bool> agenda_or(mad::TimePoint until);
  asio::awaitable<bool> poll(std::optional<mad::DirectedPath> path, OtherSm sm);
  asio::awaitable<void> watch_others();
  asio::awaitable<void> acknowledge(Guid to);
  asio::awaitable<void> tell_rank(OtherSm master);
  asio::awaitable<void> ask_rank(OtherSm sm, mad::Target target);
  void look_at_copies();
  std::map<Guid, bool> copies() const;
  asio::awaitable<void> watch_copies();
  void await_copy(OtherSm of);
  asio::awaitable<void> wait_for_copy(OtherSm of);
  void begin_quiet();
  void time_quiet();
  void note(const wire::SmInfo& info);
  SmView view() const;

  Parts parts_;
  machine::State state_;
  SmLookup lookup_;
  SmAgent agent_;
  Standstill standstill_;
  std::optional<machine::SendHandover> handover_;  ///< to be sent
  std::optional<OtherSm> followed_;                ///< by the last sweep that has begun; until observed()
  mad::TimePoint master_since_{};
  std::vector<OtherSm> reported_;  ///< by report_sms()
  /// What SMs have answered last, and when (seconds since 1970), by port GUID.
  std::map<Guid, std::pair<wire::SmInfo, std::int64_t>> answers_;
  mad::TimePoint polled_at_{};  ///< of the last answer to a poll that said that it is master
  Damping trap_pace_;           ///< of reads after traps, by node
  Damping asker_pace_;          ///< of looks at nodes of SMs that are new, or were silent
  std::set<Guid> newcomers_;    ///< for take_newcomers()
  /// When known SMs have asked for SMInfo last, by port GUID.
  std::map<Guid, mad::TimePoint> asked_at_;
  /// Answers to SMs that are asked themselves before, by port GUID.
  std::map<Guid, std::vector<GoOn>> held_answers_;
  /// Standbys that outrank us and lacked some of our copy, since when they have been waited for.
  std::map<Guid, mad::TimePoint> copies_awaited_;
  mad::TimePoint quiet_began_{};
  mad::Clock::TimerId quiet_timer_ = 0;  ///< 0: none
  /// What set_priority() was told, and what the configuration said then.
  std::optional<std::pair<std::uint8_t, std::uint8_t>> priority_;
  /// Polls by LID without one answer since polling began, while the directed route had one (on planarized
  /// ports all); the largest value: there was an answer.
  std::uint32_t lid_unanswered_ = 0;
};

}  // namespace smd::sm::inline availability
