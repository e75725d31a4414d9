// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of a table of a node. One type for all kinds: forwarding tables, whose rows are shared with
// routing, and the tables of ports, whose blocks are kept as the attribute has them.

#include <memory>
#include <utility>
#include <vector>

#include "routing/multicast/table.h"
#include "routing/routes.h"
#include "smd/tables/block_set.h"

namespace smd::sm::inline held_tables {

/// A table as far as it is known. A block is what one SMP carries. Immutable once it is part of a Subnet.
template <class Row>
struct HeldTable {
  Row row{};         ///< what blocks that are not in `known` have in it means nothing
  BlockSet known{};  ///< blocks that were read, or acknowledged by the answer to a Set
  BlockSet asked{};  ///< blocks that were requested; those not in `known` were refused or not answered
  friend bool operator==(const HeldTable&, const HeldTable&) = default;
};

/// LinearForwardingTable: blocks of 64 LIDs. No row: no block is known. `asked` is not used.
using HeldLft = HeldTable<std::shared_ptr<const routing::LftRow>>;

/// MulticastForwardingTable: the blocks are numbered by mft_part(). No row: empty. Nothing in `asked`: the
/// table has to be read before anything is known.
using HeldMft = HeldTable<std::shared_ptr<const routing::McRow>>;

/// A table of a port, attribute A: row[block].
template <class A>
using HeldBlocks = HeldTable<std::vector<A>>;

/// Shared by all ports where it is alike. Null: not asked for.
template <class A>
using HeldPtr = std::shared_ptr<const HeldBlocks<A>>;

/// As the tables that they point to.
template <class A>
bool same_blocks(const HeldPtr<A>& a, const HeldPtr<A>& b) {
  return a == b || (a && b && *a == *b);
}

/// Tables of one kind by content: nearly all ports have the same. On one thread at a time.
template <class A>
class TablePool {
 public:
  /// The pointer of an equal one among the last `kCompared`, else a new one.
  HeldPtr<A> share(HeldBlocks<A>&& table) {
    constexpr std::size_t kCompared = 64;
    const auto count = std::min(pool_.size(), kCompared);
    for (auto it = pool_.end() - static_cast<std::ptrdiff_t>(count); it != pool_.end(); ++it) {
      if (**it == table) return *it;
    }
    pool_.push_back(std::make_shared<const HeldBlocks<A>>(std::move(table)));
    return pool_.back();
  }
  /// Drops tables that only the pool refers to.
  void trim() {
    std::erase_if(pool_, [](const auto& table) { return table.use_count() == 1; });
  }

 private:
  std::vector<HeldPtr<A>> pool_;
};

}  // namespace smd::sm::inline held_tables
