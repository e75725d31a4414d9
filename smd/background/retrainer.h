// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links that came up outside their limits are taken down in steps, between sweeps: other work goes on while
// they train, and routes lead round them.

#include <memory>
#include <optional>
#include <vector>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/transactions/ask.h"
#include "mad/transactions/transactions.h"
#include "smd/ha/mastership.h"
#include "smd/log/log.h"
#include "smd/plan/retraining.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/scheduler.h"

namespace smd::sm::inline background {

/// One step at a time, by the Reconciler's part `retraining`. On the io_context's thread.
class Retrainer {
 public:
  /// All of it outlives the retrainer.
  struct Parts {
    asio::any_io_executor executor;
    mad::Transactions& tx;
    Scheduler& scheduler;
    Reconciler& loop;
    const Mastership& mastership;
    log::Log log;
    const std::shared_ptr<const config::SubnetConfig>& config;  ///< the one in force
  };
  explicit Retrainer(Parts parts) : parts_(std::move(parts)) {}
  Retrainer(const Retrainer&) = delete;
  Retrainer& operator=(const Retrainer&) = delete;

  /// After a sweep as master: begins a step where links may be taken down. False when cancelled.
  asio::awaitable<bool> begin_step();
  /// Reads the links of the step, and ends it when they are up or its time is over: their ends are looked at.
  asio::awaitable<void> look();
  /// When look() is due; nothing: no step is under way.
  std::optional<mad::TimePoint> next_look() const { return steps_.next_look(); }
  /// A step is under way, or has ended and no sweep has looked at its links.
  bool pending() const { return steps_.pending(); }
  /// Another configuration: all links may be tried again.
  void reset() { steps_.reset(); }

 private:
  std::vector<PortItem> links_left() const;
  asio::awaitable<bool> take_down(std::vector<PortItem> next, std::size_t all);
  StoredPtr with_retrained(const std::vector<Retraining::Link>& links, bool done) const;
  asio::awaitable<void> look_at_link(mad::Target target, Retraining::Link* link);
  asio::awaitable<void> end_step();

  Parts parts_;
  Retraining steps_;
};

}  // namespace smd::sm::inline background
