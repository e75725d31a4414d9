// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counting: what a Subnet has, for the sweep summary.

#include <cstdint>
#include <vector>

#include "smd/decide/decided.h"
#include "smd/report/sweep_summary.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Fills in nodes, links, ports, LIDs, engine and state. Without `decided` the state is not 'up'.
void tally(const Subnet& subnet, const Decided* decided, SweepSummary& summary);

/// The state of an SM that is not master, and what is seen of the fabric without having decided anything.
/// `polled`: the master that answers its polls, whatever `subnet` says of it; null: none is known to.
void tally_standby(const Subnet& subnet, const OtherSm* polled, SweepSummary& summary);

/// A fabric that is up is 'reduced' where switches or links between switches are lost, or more of its
/// adapters and routers than `hosts_missing` (tenths of a percent). Nothing of a fabric in another state.
void judge_losses(const Inventory& known, std::uint32_t hosts_missing, SweepSummary& summary);

/// An end port that is to have another LID than it holds; `from` is no unicast LID where it holds none.
struct LidChange {
  PeerPort at;
  Lid from, to;
};

/// In order of the nodes and their ports; ports that did not answer are left out.
std::vector<LidChange> lid_changes(const Subnet& subnet, const LidPart& lids);

/// End ports that hold a LID and are to have another.
std::uint64_t lids_changed(const Subnet& subnet, const LidPart& lids);

}  // namespace smd::sm::inline reports
