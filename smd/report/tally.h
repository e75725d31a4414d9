// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counting: what a Subnet has, for the sweep summary.

#include <cstdint>

#include "smd/decide/decided.h"
#include "smd/report/sweep_summary.h"
#include "smd/sweep/subnet.h"

namespace smd::sm {

/// Fills in nodes, links, ports, LIDs, engine and state. Without `decided` the state is not 'up'.
void tally(const Subnet& subnet, const Decided* decided, SweepSummary& summary);

/// The state of an SM that is not master, and what is seen of the fabric without having decided anything.
void tally_standby(const Subnet& subnet, SweepSummary& summary);

/// Our own port has no link: what is left of the fabric is ourselves.
bool is_cut_off(const Subnet& subnet);

/// End ports that hold a LID and are to have another.
std::uint64_t lids_changed(const Subnet& subnet, const LidPart& lids);

}  // namespace smd::sm
