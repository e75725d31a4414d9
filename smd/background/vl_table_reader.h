// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables that no sweep waits for are read when nothing else is to be done, a few at a time.

#include <optional>

#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/ha/mastership.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/scheduler.h"
#include "smd/sweep/vl_tables.h"

namespace smd::sm::inline background {

/// Reads SL to VL and VL arbitration tables into the Reconciler's Subnet. On the io_context's thread.
class VlTableReader {
 public:
  /// All of it outlives the reader.
  struct Parts {
    asio::any_io_executor executor;
    mad::Transactions& tx;
    const Scheduler& scheduler;
    Reconciler& loop;
    const Mastership& mastership;
  };
  explicit VlTableReader(Parts parts) : parts_(std::move(parts)) {}
  VlTableReader(const VlTableReader&) = delete;
  VlTableReader& operator=(const VlTableReader&) = delete;

  /// The fabric may be another one than when it was looked at last: all tables that are not known are read.
  void ask();
  /// The tables of this node come first. Ignored where none is to be read, and while 8 nodes come first.
  void read_first(Guid node);
  /// When the next tables are to be read; nothing: all are known.
  std::optional<mad::TimePoint> next() const { return next_; }

  /// What read_some() has come to.
  struct Read {
    bool cancelled = false;
    bool altered = false;     ///< tables differ in other places than before from what smd became master with
    bool to_publish = false;  ///< all is read, or all that clients wait for
    bool to_write = false;    ///< of ports whose tables smd decides all is read
  };
  /// Reads some tables as master, until other work is due.
  asio::awaitable<Read> read_some();

 private:
  Parts parts_;
  std::optional<mad::TimePoint> next_;
  VlTableCursor cursor_;
  VlTablePool pool_;
};

}  // namespace smd::sm::inline background
