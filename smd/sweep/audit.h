// SPDX-License-Identifier: Apache-2.0
#pragma once
// The slow audit: a few nodes at a time are asked whether they are still as we left them.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// What nodes have now and had not, without us.
struct Audit {
  struct Port {
    Guid node;
    PortNum port;
    std::vector<std::string> fields;  ///< of PortInfo or SwitchInfo; counters do not count
  };
  struct Block {
    Guid node;
    std::size_t block = 0;
  };
  struct Table {
    Guid node;
    PortNum port;
    std::uint16_t attribute = 0;  ///< P_KeyTable, SLtoVLMappingTable, VLArbitrationTable
    bool changed = false;         ///< else it was not answered before
    /// It is read again with the node, else when nothing else is to be done.
    bool read_by_sweep() const { return attribute == wire::PKeyTable::kAttribute; }
  };
  std::vector<Port> ports;
  std::vector<Block> blocks;  ///< of linear forwarding tables
  std::vector<Table> tables;  ///< of ports
  std::set<Guid> silent;      ///< did not answer for a port
  /// Nothing differs, and all has answered.
  bool empty() const { return ports.empty() && blocks.empty() && tables.empty() && silent.empty(); }
};

/// Where the audit goes on. Nodes that are named in `first` come before the rest of the round.
struct AuditCursor {
  Guid next{};
  std::uint64_t round = 0;  ///< which block of a table is due
  std::set<Guid> first;
  std::size_t next_altered = 0;  ///< of Subnet::altered
};

/// Reads with Gets, of up to `nodes` nodes that are not `busy`: PortInfo of all linked ports (of a switch: of
/// all), up to 32 known P_Key blocks, as many of VL tables, one P_Key block that no sweep has read, of a
/// switch one known block of its LFT; and 64 altered tables. Of a port that is down only state and Enabled
/// fields count; tables that are not answered are not judged. `tx`, `subnet` and `cursor` outlive the
/// coroutine.
asio::awaitable<Audit> audit(mad::Transactions* tx, const Subnet* subnet, AuditCursor* cursor,
                             std::size_t nodes, std::set<Guid> busy = {});

/// The Subnet in which the blocks and tables that `audited` names are not known, so that they are written or
/// read again. Pure.
Subnet without_audited(Subnet subnet, const Audit& audited);

}  // namespace smd::sm::inline sweeping
