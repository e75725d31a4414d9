// SPDX-License-Identifier: Apache-2.0
#pragma once
// The difference between what is and what should be, in the order in which it is safe to write.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <tuple>
#include <vector>

#include "routing/parallel.h"
#include "smd/plan/desired.h"
#include "smd/sweep/table_kinds.h"
#include "smd/tables/phase.h"

namespace smd::sm::inline planning {

using NodeIndex = std::uint32_t;  ///< index into the Subnet's nodes

struct PortItem {
  NodeIndex node = 0;
  PortNum port;
  PortState target = PortState::no_change;
  PhysState physical = PhysState::polling;  ///< of a port that goes down
  friend bool operator==(const PortItem&, const PortItem&) = default;
};

/// A block of which only some entries become what was decided, now; it is written again in a later round.
struct PartialBlock {
  std::size_t block = 0;
  std::uint64_t kept = 0;     ///< LIDs whose entry stays as the switch holds it; bit 0 is the block's first
  std::uint64_t dropped = 0;  ///< LIDs that get 'no route' for a while
  friend bool operator==(const PartialBlock&, const PartialBlock&) = default;
};

struct LftItem {
  NodeIndex node = 0;
  BlockSet blocks;                                                        ///< to be as decided
  std::vector<PartialBlock> partial;                                      ///< others, ascending
  std::size_t writes() const { return blocks.count() + partial.size(); }  ///< Sets
  friend bool operator==(const LftItem&, const LftItem&) = default;
};

/// A block of a port's table, attribute A, and what it is to hold.
template <class A>
struct TableItem {
  NodeIndex node = 0;
  PortNum port;
  std::size_t block = 0;
  A content{};
  friend bool operator==(const TableItem&, const TableItem&) = default;
};
template <class A>
using TableItems = std::vector<TableItem<A>>;

struct MftItem {
  NodeIndex node = 0;
  BlockSet parts;                                 ///< mft_part
  std::shared_ptr<const routing::McRow> content;  ///< what they are to be
  friend bool operator==(const MftItem& a, const MftItem& b) {
    return a.node == b.node && a.parts == b.parts && *a.content == *b.content;
  }
};

struct Round {
  Phase phase{};
  std::vector<PortItem> ports;
  std::vector<LftItem> lfts;
  std::vector<MftItem> mfts;
  OfEachTable<TableItems> tables;
  std::vector<NodeIndex> switch_infos;
  std::vector<NodeIndex> ar_infos;
  /// Phase lft: afterwards wait until packets that are under way have arrived or died.
  bool drain = false;
  /// Blocks of the tables that attribute A carries.
  template <class A>
  const TableItems<A>& items() const {
    return std::get<TableItems<A>>(tables);
  }
  /// The same, to fill in.
  template <class A>
  TableItems<A>& items() {
    return std::get<TableItems<A>>(tables);
  }
  /// It writes tables of ports, and nothing else.
  bool writes_tables() const;
  std::size_t sets() const;  ///< SMPs, tries not counted
  friend bool operator==(const Round&, const Round&) = default;
};

struct Plan {
  std::vector<Round> rounds;            ///< none is empty
  std::size_t lft_entries_changed = 0;  ///< known entries that get another port
  std::vector<PortItem> links_down;     ///< an end of each link that is taken down afterwards, in steps
  /// Credit loops leave no order of writes in which all that arrives goes on arriving.
  bool interrupts = false;
  /// SLs get other VLs, and in no order are links free of credit loops meanwhile.
  bool vls_unproven = false;
  bool empty() const { return rounds.empty(); }
  void append(Round&& round);  ///< unless it is empty
  /// Whether some destinations wait for the lifetime of packets before they get their new entries.
  bool drains() const { return std::ranges::any_of(rounds, &Round::drain); }
  std::size_t sets() const;        ///< SMPs of all rounds, tries not counted
  std::size_t lft_blocks() const;  ///< of all rounds, partial ones too
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Pure. Empty for a fabric that is as it should be. When stopped the result is of no use.
Plan plan(const PlanInput& in, const routing::Parallel& parallel, const std::stop_token& stop = {});

}  // namespace smd::sm::inline planning
