// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is asked of a running manager.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "mad/clock.h"
#include "smd/background/vl_table_reader.h"
#include "smd/base/guid_block.h"
#include "smd/decide/fabric_requests.h"
#include "smd/policy/policies.h"
#include "smd/reconcile/config_in_force.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/agenda.h"
#include "smd/schedule/scheduler.h"
#include "smd/status/inventory_keeper.h"

namespace smd::sm {

/// By operators, by the API and by subnet administration. Each returns at once, and is served soon, between
/// two sweeps. On the io_context's thread.
class Requests final : public FabricRequests {
 public:
  /// All of it outlives this.
  struct Parts {
    Scheduler& scheduler;
    Agenda& agenda;
    ConfigInForce& config;
    Reconciler& loop;
    InventoryKeeper& inventory;
    VlTableReader& vl_tables;
    bool once = false;  ///< the manager ends after one sweep
  };
  explicit Requests(Parts parts) : parts_(parts) {}

  /// Asks for a sweep of this kind, or for fresh tables; `reason` is shown in its summary.
  void resweep(Resweep kind, std::string reason);
  /// No sweeps before then, but those that are asked for; a time that has passed: again.
  void pause_sweeps(mad::TimePoint until) { parts_.scheduler.pause(until); }
  /// What the next work is done by; a heavy sweep is asked for where less would not do.
  void reload(config::SubnetConfig config);
  /// Partitions of the API from now on; where nothing else has changed the fabric is not read again.
  /// `merged`: these with the configuration that was given last; null: they are not merged yet.
  void set_policies(policy::PoliciesPtr policies, policy::MergedPtr merged = nullptr);
  /// Trains the link of this port anew, once; a port that was disabled is enabled.
  void train(const policy::PortAt& port);
  /// Index 0 of the P_Key tables of these ports (port GUIDs) is decided anew.
  void reindex(const std::set<Guid>& ports);
  /// What is lost is missing on purpose from now on: `node` with what was behind it, or the lost links of one
  /// that is there; 0: all.
  void accept_lost(Guid node);

  void set_groups(Groups groups) override;
  /// With `once` there is no time for it, and nothing is asked.
  void reregister(const std::vector<Guid>& ports) override;
  void set_guids(const std::vector<GuidBlock>& blocks) override;
  void read_vl_tables_first(Guid node) override { parts_.vl_tables.read_first(node); }

 private:
  Parts parts_;
};

}  // namespace smd::sm
