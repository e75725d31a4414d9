// SPDX-License-Identifier: Apache-2.0
#pragma once
// SL to VL and VL arbitration tables are read while nothing else is to be done: a switch has a table for each
// pair of its ports, more than all else that it is asked. No sweep waits for them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/sweep/paths.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// Rows of many ports, nearly all alike.
struct VlTablePool {
  TablePool<wire::SlToVl> sl_to_vl;
  TablePool<wire::VlArbitration> arbitration;
  /// Drops tables that only the pool refers to.
  void trim() { sl_to_vl.trim(), arbitration.trim(); }
};

/// How far the reading has come. Of one topology: reset after each sweep.
struct VlTableCursor {
  std::optional<Paths> paths;
  /// All rows of SL to VL tables, of ports with one VL too: they are smd's to decide.
  bool whole = false;
  std::size_t next = 0;  ///< index of the node that is next
  /// Nodes all of whose tables are read before that; each leaves the list when they are.
  std::vector<Guid> first{};
};

/// Reads tables that were not asked for yet, about `most` Gets: those of cursor->first, then of several nodes
/// one port each. Nothing where none is left. `tx`, `cursor` and `pool` outlive the coroutine.
asio::awaitable<std::optional<Subnet>> read_vl_tables(mad::Transactions* tx,
                                                      std::shared_ptr<const Subnet> subnet,
                                                      VlTableCursor* cursor, VlTablePool* pool,
                                                      std::size_t most);

}  // namespace smd::sm::inline sweeping
