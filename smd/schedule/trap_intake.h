// SPDX-License-Identifier: Apache-2.0
#pragma once
// What traps ask for, and what the log and subscribers of events are told of them.

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "config/config.h"
#include "mad/wire/notice.h"
#include "smd/base/damping.h"
#include "smd/events/ring.h"
#include "smd/log/log.h"
#include "smd/schedule/scheduler.h"
#include "smd/schedule/trap_counts.h"
#include "smd/schedule/violations.h"
#include "smd/sweep/lid_index.h"

namespace smd::sm::inline scheduling {

/// One manager's. On the io_context's thread.
class TrapIntake {
 public:
  /// All of it outlives the intake.
  struct Parts {
    Scheduler& scheduler;
    log::Log log;
    events::Publisher events;
    const std::shared_ptr<const Subnet>& subnet;  ///< the current one; null before the first sweep
    const std::shared_ptr<const config::SubnetConfig>& config;  ///< the one in force
    LidIndex& lids;                                             ///< made anew where it is not of `subnet`
    SharedKeys shared_keys = {};                                ///< null: not known
  };
  explicit TrapIntake(Parts parts);
  TrapIntake(const TrapIntake&) = delete;
  TrapIntake& operator=(const TrapIntake&) = delete;

  /// Publishes and logs the trap, and asks for a sweep where it says that something has changed: of the node
  /// that it is about, or of the fabric where no port has its LID. `from`: the LID of the sender.
  void heard(const wire::Notice& notice, Lid from);

  std::uint64_t count() const { return count_; }  ///< generic traps since the first sweep
  /// The same by number and by the node that they are about; goes on, and outlives the intake.
  std::shared_ptr<const TrapCounts> counts() const { return counts_; }
  const ViolationCounts& violations() const { return violations_; }
  /// Nodes that sent trap 256 (bad M_Key).
  const std::set<Guid>& bad_m_keys() const { return bad_m_keys_; }
  /// Of bad_m_keys(), those that the Subnet does not have any more are forgotten.
  void forget_gone();

 private:
  struct Places {
    Lid issuer;
    LidIndex::Place place, sender;  ///< of the issuer and of the sender; null nodes where no port has the LID
  };
  void tell(const wire::Notice& notice, Lid from, const Places& places) const;
  void ask(const wire::Notice& notice, const Places& places);

  Parts parts_;
  Damping stranger_pace_;  ///< of traps about LIDs that no port has, by sender; 0: not known either
  std::set<Guid> bad_m_keys_;
  std::uint64_t count_ = 0;
  std::shared_ptr<TrapCounts> counts_ = std::make_shared<TrapCounts>();
  ViolationCounts violations_;
};

}  // namespace smd::sm::inline scheduling
