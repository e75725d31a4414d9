// SPDX-License-Identifier: Apache-2.0
#pragma once
// A light sweep: what traps may have lost, a slow audit, and what is not as it should be once more.

#include <memory>
#include <set>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/ha/mastership.h"
#include "smd/log/log.h"
#include "smd/observe/switch_poll.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/patient_group.h"
#include "smd/schedule/scheduler.h"
#include "smd/status/subnet_status.h"
#include "smd/sweep/audit.h"

namespace smd::sm::inline observing {

/// Gets only. On the io_context's thread.
class LightSweep {
 public:
  /// All of it outlives this.
  struct Parts {
    asio::any_io_executor executor;
    mad::Transactions& tx;
    Scheduler& scheduler;
    Reconciler& loop;
    Mastership& mastership;
    SwitchPoll& switches;
    SubnetStatus& status;
    log::Log log;
    const std::shared_ptr<const config::SubnetConfig>& config;  ///< the one in force
  };
  explicit LightSweep(Parts parts) : parts_(std::move(parts)) {}
  LightSweep(const LightSweep&) = delete;
  LightSweep& operator=(const LightSweep&) = delete;

  /// Has any switch seen a port change, has our own port, is another SM master now, does a silent place
  /// answer again? `soon`: as of SwitchPoll::ask(). There is a Subnet.
  asio::awaitable<PollResult> run(bool soon);
  /// Reads the SMs that are known, after a standstill. False when cancelled.
  asio::awaitable<bool> read_known_sms();

  /// Suspects of the last light sweep only because they did not come right before; each is given once.
  std::set<Guid> take_searched() { return std::exchange(searched_, {}); }
  bool searches() const { return !searched_.empty(); }  ///< take_searched() has some
  /// The next audit begins with this node.
  void audit_first(Guid node) { audit_.first.insert(node); }
  /// All is well and has been quiet for long enough: repaired tables go back to freshly made ones.
  bool may_converge() const;
  /// When it will be, where that is before light sweeps would find it; nothing: it will not, or they do.
  std::optional<mad::TimePoint> converge_at() const;

 private:
  void ask_places(std::shared_ptr<const Subnet> subnet, PatientGroup& group, PollResult* found);
  asio::awaitable<void> ask_silent(mad::DirectedPath path, PeerPort behind, PollResult* found);
  asio::awaitable<void> audit_some(std::shared_ptr<const Subnet> subnet, PollResult* found);
  void tell_audited(const Subnet& subnet, const Audit& audited, PollResult* found) const;
  void look_at_trouble(PollResult& found);
  void learn_of_sms(const SmReads& found);
  std::optional<mad::TimePoint> quiet_for_long_at() const;

  Parts parts_;
  AuditCursor audit_;
  std::set<Guid> searched_;
};

}  // namespace smd::sm::inline observing
