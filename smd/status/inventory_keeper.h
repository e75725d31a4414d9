// SPDX-License-Identifier: Apache-2.0
#pragma once
// What belongs to the fabric, what came and went since the last sweep (said once each), and what is lost.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "smd/base/compute.h"
#include "smd/ha/mastership.h"
#include "smd/inventory/flaps.h"
#include "smd/inventory/update.h"
#include "smd/log/log.h"
#include "smd/reconcile/reconciler.h"

namespace smd::sm::inline status {

/// Keeps Stored::inventory. On the io_context's thread.
class InventoryKeeper {
 public:
  /// All of it outlives the keeper.
  struct Parts {
    mad::Clock& clock;
    Compute& compute;
    mad::TaskGroup& tasks;  ///< of the manager; stopped before this dies
    Reconciler& loop;
    const Mastership& mastership;
    log::Log log;
    std::function<UnixTime()> wall;
    bool once = false;     ///< the process ends after this sweep: what is learnt is committed at once
    bool dry_run = false;  ///< nothing is noted
  };
  explicit InventoryKeeper(Parts parts) : parts_(std::move(parts)) {}
  InventoryKeeper(const InventoryKeeper&) = delete;
  InventoryKeeper& operator=(const InventoryKeeper&) = delete;

  /// A sweep begins: restarts are noted anew.
  void begin_sweep() { restarts_ = {}; }
  /// Before anything is written: nodes that have lost their LIDs, and links that begin anew, in what was
  /// read.
  void note_restarts(const Subnet& read);

  struct Taken {
    bool cancelled = false;
    std::set<Guid> ends;  ///< nodes with links that came or went
  };
  /// Compares what the sweep has found with what belongs to the fabric, and logs the changes with `cause`.
  /// Masters only: others do not look often enough to say when something went.
  asio::awaitable<Taken> update(std::string cause);
  /// SL to VL and VL arbitration tables have been read: those of another SM are kept with what is learnt, and
  /// ports that drop packets of SL 0 by them are logged.
  asio::awaitable<void> note_vl_tables();
  /// Layers of paths need not come back whose ends are away for longer than `keep` (not 0). True where paths
  /// of switches that are there have others than at first: what is decided on them changes.
  bool release_layers(mad::Duration keep);
  /// Logs how links are that have flapped and are quiet again.
  void tell_quiet();

  /// What is lost is missing on purpose from the next accept_asked() on: `node` with what was behind it, or
  /// its lost links; 0: all.
  void accept(Guid node) { to_accept_.push_back(node); }
  /// Accepts that, and commits it. False where there was nothing to accept.
  asio::awaitable<bool> accept_asked();

  /// The latest event of links and nodes in words, and when that was; empty: none since the start.
  const std::string& last_change() const { return last_change_; }
  UnixTime last_change_at() const { return last_change_at_; }

 private:
  bool note_keys(Stored& stored, bool adopting);
  void look_for_dropped_sl();
  void keep_soon();
  asio::awaitable<void> keep_later();
  void tell_changes(Changes changes, const Subnet* before, std::string_view cause);

  Parts parts_;
  bool managed_ = false;  ///< partitions, when keys were noted last
  Restarts restarts_;     ///< that this sweep has read
  std::shared_ptr<const Subnet>
      last_subnet_;  ///< what updated was taken of last; null: none since we are master
  Flaps flaps_;
  bool keeping_ = false;            ///< keep_later() runs
  std::set<Guid> vl_tables_noted_;  ///< nodes, since we are master
  std::vector<PeerPort> dropping_;  ///< ports whose tables drop SL 0, as last logged
  std::string last_change_;
  UnixTime last_change_at_ = 0;
  std::vector<Guid> to_accept_;                ///< 0: all that is lost
  std::optional<mad::TimePoint> released_at_;  ///< release_layers() has looked last
};

}  // namespace smd::sm::inline status
