// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run of the reconcile loop keeps of Sets that did not succeed.

#include <cstddef>
#include <set>
#include <vector>

#include "smd/apply/applied.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reconciling {

/// Nodes to which a run writes nothing more for now.
struct LeftOut {
  std::set<Guid> silent, refusing;
  std::set<Guid> all() const;  ///< both sets
  /// Adds those of `applied`, which was written to `subnet`. True where there is a new one.
  bool take(const Subnet& subnet, const Applied& applied);
};

/// Sets of the last run over the whole fabric that did not succeed.
struct Failures {
  std::size_t sets = 0;         ///< refused, or not answered
  std::size_t left = 0;         ///< still to be done at the end, in spite of all attempts
  std::set<Guid> nodes;         ///< a Set there did not succeed
  std::set<Guid> nodes_before;  ///< the same of the run before
  /// A run begins: `nodes` becomes `nodes_before`, the rest is reset.
  void begin();
  /// Counts what `applied` could not do; `subnet` is the one that it was applied to.
  void add(const Subnet& subnet, const Applied& applied);
  /// The run has ended with `left_sets` still to be written; 0: what failed at first was made good.
  void end(std::size_t left_sets);
};

/// A switch whose PortStateChange was set when SwitchInfo was Set, which clears it.
struct ClearedChange {
  Guid node;
  bool forwarded = false;  ///< it had a forwarding table before
};
/// The switches whose SwitchInfo was sent with the bit set and answered. `applied` was written to `before`.
/// Pure.
std::vector<ClearedChange> cleared_changes(const Subnet& before, const Applied& applied);

/// Port GUIDs of adapters and routers that were in Init and are Armed now: their link was down, or they were
/// restarted.
std::vector<Guid> came_up(const Subnet& subnet, const Applied& applied);
/// Port GUIDs of end ports that showed another SM's LID as MasterSMLID and show ours now: another SM was
/// their master. `applied` was written to `subnet`. Pure.
std::vector<Guid> taken_from_another(const Subnet& subnet, const Applied& applied);

/// advance(), with the nodes noted that left Sets without an answer. Pure.
Subnet after_writing(const Subnet& before, const Decided& decided, const Applied& applied);
/// RefusedSet of each failed Set, and those of `earlier` whose nodes were left out. `applied` was written to
/// `subnet`.
std::vector<RefusedSet> refused_sets(const Subnet& subnet, const Applied& applied,
                                     const std::vector<RefusedSet>& earlier, const std::set<Guid>& left_out);

}  // namespace smd::sm::inline reconciling
