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

/// Stored::repaired_tables while tables are written: should the process end, switches hold some of those
/// before and some of those that were decided. Both are ours.
inline constexpr std::uint64_t kTablesBeingWritten = 1;

/// Of forwarding tables, whatever the order of the switches, and however many entries without a port are at
/// the end of a row; switches without any entry do not count. Neither 0 nor kTablesBeingWritten. O(entries).
std::uint64_t digest_of_tables(std::span<const routing::OldRow> rows);

/// With the digest of the part's tables where repair has made them, or while an engine is left that comes
/// back (left_engine), without one else; the same pointer where nothing is new. `routes` may be null: nothing
/// is new.
StoredPtr remember_tables(const StoredPtr& before, const RoutePart* routes);

/// With kTablesBeingWritten, unless the tables of `routes` (may be null) are those of another SM.
StoredPtr remember_writing(const StoredPtr& before, const RoutePart* routes);

}  // namespace smd::sm::inline decisions
