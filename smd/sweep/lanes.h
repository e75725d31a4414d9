// SPDX-License-Identifier: Apache-2.0
#pragma once
// SL to VL and VL arbitration: which tables ports have, and reading them while nothing else is to be done.
// A switch has a table for each pair of its ports, more than all else that it is asked: no sweep waits for
// them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/sweep/paths.h"
#include "smd/sweep/subnet.h"

namespace smd::sm {

/// Which tables a port has by what it and its node say of themselves; none where it has one data VL.
LaneTables lane_tables(const Node& node, PortNum port);

/// Rows of many ports, nearly all alike.
class LanePool {
 public:
  std::shared_ptr<const LaneRows> share(LaneRows&& rows);
  /// Forgets what nobody but the pool has.
  void trim();

 private:
  std::vector<std::shared_ptr<const LaneRows>> pool_;
};

/// How far the reading has come. Of one topology: made anew after each sweep.
struct LaneCursor {
  std::optional<Paths> paths;
  std::size_t next = 0;  ///< index of the node that is next
  /// Nodes all of whose tables are read before that; each leaves the list when they are.
  std::vector<Guid> first{};
};

/// Reads tables that were not asked for yet, about `most` Gets: those of cursor->first, then of several nodes
/// one port each. Nothing where none is left. `tx`, `cursor` and `pool` outlive the coroutine.
asio::awaitable<std::optional<Subnet>> read_lanes(mad::Transactions* tx, std::shared_ptr<const Subnet> subnet,
                                                  LaneCursor* cursor, LanePool* pool, std::size_t most);

/// The modifiers of a port's tables.
std::uint32_t sl_to_vl_modifier(const Node& node, PortNum port, std::size_t row);
std::uint32_t arbitration_modifier(const Node& node, PortNum port, std::size_t part);

}  // namespace smd::sm
