// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a standby does in addition to its polls: it keeps its own copy of the fabric, by Gets only, and
// decides by it as the next master would. At a takeover clients are told the new SM LID, and answered, before
// any sweep.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/ha/mastership.h"
#include "smd/inventory/inventory.h"
#include "smd/log/log.h"
#include "smd/policy/disabled_ports.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/scheduler.h"
#include "smd/status/subnet_status.h"
#include "smd/store/store.h"
#include "smd/sweep/audit.h"

namespace smd::sm::inline observing {

/// Nodes with a link that one of the two has as lost and the other has not, or with a node at its other end
/// of which that is so; null: nothing is known. Pure.
std::set<Guid> changed_nodes(const Inventory* before, const Inventory* now);

/// Nodes at both ends of ports that one of the two has as disabled, or disabled anew, and the other has not.
/// Pure.
std::set<Guid> nodes_of_changed(const policy::DisabledPorts& before, const policy::DisabledPorts& now);

/// Whether each end port has the LID that is stored for it. Pure.
bool has_stored_lids(const Subnet& subnet, const Stored& stored);

/// On the io_context's thread.
class Standby {
 public:
  /// All of it outlives this.
  struct Parts {
    mad::Transactions& tx;
    Scheduler& scheduler;
    Reconciler& loop;
    Mastership& mastership;
    SubnetStatus& status;
    store::Store* store = nullptr;  ///< null: there is no copy of the master's state
    log::Log log;
    const std::shared_ptr<const config::SubnetConfig>& config;  ///< the one in force
  };
  explicit Standby(Parts parts) : parts_(std::move(parts)) {}
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  /// Until cancelled. Audits some nodes each [sweep] interval, looks at once where what the master has
  /// committed names lost or found nodes and links or ports that were disabled or enabled, and decides by
  /// what it has found. `take`: takes over what has been copied and configured since; false when cancelled.
  asio::awaitable<void> watch(std::function<asio::awaitable<bool>()> take);

  /// The fabric has fallen to us (Mastership::fabric_is_free), and no sweep has begun. Where the master's
  /// state was copied to the end and our picture agrees with it: we become master, clients are answered, and
  /// each end port gets our LID as its MasterSMLID; it is read just before, and nothing else of it changes.
  /// Ports that do not answer are left to the sweep that has to follow in any case.
  asio::awaitable<void> take_over();

 private:
  asio::awaitable<std::set<Guid>> suspects();
  std::set<Guid> ordered();
  void take_m_keys();
  asio::awaitable<bool> look(std::set<Guid> suspects);
  asio::awaitable<bool> precompute();
  asio::awaitable<std::size_t> set_sm_lids(Lid own);
  bool copied() const;

  Parts parts_;
  AuditCursor audit_;
  mad::TimePoint audited_{};
  StoredPtr keys_;                  ///< whose M_Keys the picture has; null: none
  InventoryPtr inventory_;          ///< that was looked at last; null: none
  policy::DisabledPorts disabled_;  ///< that were looked at last
  /// Nodes with ports that an operator has disabled or enabled, and how often they are looked at yet.
  std::map<Guid, unsigned> ordered_;
  /// What was decided by; null: nothing yet.
  std::shared_ptr<const Subnet> seen_;
  StoredPtr stored_;
  PolicyPtr policy_;
};

}  // namespace smd::sm::inline observing
