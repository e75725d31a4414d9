// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which tables in switches are our own, repaired and to converge to the engine's: after a restart they look
// like those of another SM.

#include <cstdint>
#include <span>

#include "routing/repair/repair.h"
#include "smd/decide/decided.h"
#include "smd/decide/stored.h"

namespace smd::sm::inline decisions {

/// Of forwarding tables, whatever the order of the switches, and however many entries without a port are at
/// the end of a row; switches without any entry do not count. Neither 0 nor marks_writing(). O(entries).
std::uint64_t digest_of_tables(std::span<const routing::OldRow> rows);

/// Stored::repaired_tables while tables are written: should the process end, switches hold some of those
/// before and some of those that were decided. Both are ours.
bool marks_writing(std::uint64_t stored);

/// Whether what switches hold is what Stored::repaired_tables says: tables with that digest, or what was left
/// of tables that were being written. Of the latter a sample of the entries is compared: another SM that has
/// written tables since then has written others. `fabric`: topology and LIDs as they are.
bool are_ours(std::uint64_t stored, const RoutePart& fabric, std::span<const routing::OldRow> held);

/// With the digest of the part's tables where repair has made them, or while an engine is left that comes
/// back (left_engine), without one else; the same pointer where nothing is new. `routes` may be null: nothing
/// is new.
StoredPtr remember_tables(const StoredPtr& before, const RoutePart* routes);

/// With the mark of writing `routes` (may be null) over what the switches hold, unless they are the tables of
/// another SM.
StoredPtr remember_writing(const StoredPtr& before, const Subnet& subnet, const RoutePart* routes);

}  // namespace smd::sm::inline decisions
