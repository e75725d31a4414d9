// SPDX-License-Identifier: Apache-2.0
#pragma once
// One sweep: observe, decide, plan, apply, advance; then what has happened meanwhile, and what came of it.

#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/events/ring.h"
#include "smd/ha/mastership.h"
#include "smd/log/log.h"
#include "smd/observe/light_sweep.h"
#include "smd/observe/switch_poll.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/scheduler.h"
#include "smd/status/inventory_keeper.h"
#include "smd/status/subnet_status.h"
#include "smd/store/store.h"

namespace smd::sm::inline observing {

/// How a sweep, or other work, has ended.
enum class Outcome : std::uint8_t {
  done,
  not_ours,         ///< another SM is master, or will be
  contested,        ///< another SM is master too and ranks below us: it has to hand over
  own_port_silent,  ///< or the node at the other end of its link
  cancelled
};

/// Incremental and heavy sweeps. On the io_context's thread.
class Sweeper {
 public:
  /// All of it outlives the sweeper.
  struct Parts {
    mad::Transactions& tx;
    Scheduler& scheduler;
    Reconciler& loop;
    Mastership& mastership;
    SwitchPoll& switches;
    LightSweep& light;
    InventoryKeeper& inventory;
    SubnetStatus& status;
    store::Store* store = nullptr;  ///< tells the multicast LIDs of registered groups; null: none
    log::Log log;
    events::Publisher events;
    const std::shared_ptr<const config::SubnetConfig>& config;  ///< the one in force
    bool once = false;     ///< the process ends after it: what happens meanwhile is left
    bool dry_run = false;  ///< Gets only; the plan goes to `status`
  };
  explicit Sweeper(Parts parts) : parts_(std::move(parts)) {}
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

  /// `suspects`: the nodes of an incremental sweep, which becomes a heavy one where it has to. The summary is
  /// published where our own port has answered, unless cancelled.
  asio::awaitable<Outcome> sweep(SweepKind kind, std::string reason, std::set<Guid> suspects);

 private:
  asio::awaitable<Outcome> observe(std::set<Guid> suspects);
  asio::awaitable<std::expected<Subnet, std::string>> look(std::set<Guid> suspects);
  asio::awaitable<Subnet> finished(Subnet found);
  /// What does not answer, so that there is no fabric to work on.
  enum class Silent : std::uint8_t { nothing, own_port, neighbour };
  Outcome stop_for(Silent what, const std::string& why);
  asio::awaitable<bool> reconcile_fabric();
  std::set<Guid> leave_out_disabled();
  asio::awaitable<void> look_for_missed_changes(bool changed);
  asio::awaitable<bool> update_inventory();
  void give_way(std::set<Guid>& suspects);
  void note_cleared(const std::vector<ClearedChange>& cleared);
  std::size_t multicast_entries() const;

  Parts parts_;
  Silent silent_ = Silent::nothing;  ///< as it was said last
};

}  // namespace smd::sm::inline observing
