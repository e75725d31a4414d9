// SPDX-License-Identifier: Apache-2.0
#pragma once
// The manager's turn as a standby: from the moment when another SM is found to be master until it is not.

#include <functional>
#include <string>

#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/background/vl_table_reader.h"
#include "smd/ha/mastership.h"
#include "smd/observe/standby.h"
#include "smd/observe/sweeper.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/agenda.h"
#include "smd/schedule/scheduler.h"
#include "smd/status/subnet_status.h"

namespace smd::sm {

/// On the io_context's thread.
class GivingWay {
 public:
  /// All of it outlives this.
  struct Parts {
    asio::any_io_executor executor;
    mad::Transactions& tx;
    Agenda& agenda;
    Scheduler& scheduler;
    Reconciler& loop;
    Mastership& mastership;
    SubnetStatus& status;
    Standby& standby;
    VlTableReader& vl_tables;
    /// Takes what the master has committed since, and a configuration that was reloaded; false when
    /// cancelled.
    std::function<asio::awaitable<bool>()> take_config;
  };
  explicit GivingWay(Parts parts) : parts_(std::move(parts)) {}

  /// A sweep has ended so. Where another SM is master, or may be: waits until it is not. Returns `outcome`,
  /// or Outcome::cancelled.
  asio::awaitable<Outcome> after(Outcome outcome);
  /// The fabric has been handed over between two sweeps, or within one that has ended since: the same.
  asio::awaitable<Outcome> follow();

 private:
  void publish_standby(std::string reason);
  asio::awaitable<bool> stand_by();
  bool master_is_read() const;

  Parts parts_;
};

}  // namespace smd::sm
