// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parts that are asked for between two sweeps: groups, alias GUIDs, clients that have to register again.

#include <memory>

#include "config/config.h"
#include "mad/asio.h"
#include "smd/events/ring.h"
#include "smd/ha/mastership.h"
#include "smd/log/log.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/part.h"

namespace smd::sm::inline background {

/// On the io_context's thread.
class ServiceParts {
 public:
  /// All of it outlives this.
  struct Parts {
    Reconciler& loop;
    const Mastership& mastership;
    log::Log log;
    events::Publisher events;
    const std::shared_ptr<const config::SubnetConfig>& config;  ///< the one in force
  };
  explicit ServiceParts(Parts parts) : parts_(std::move(parts)) {}

  struct Reconciled {
    bool cancelled = false;
    bool changed = false;  ///< a decision, or something was written
  };
  /// As master: reconciles these parts, and what earlier runs of such parts have left. Else ports that are to
  /// register again are forgotten.
  asio::awaitable<Reconciled> reconcile(PartSet parts);

 private:
  Parts parts_;
};

}  // namespace smd::sm::inline background
