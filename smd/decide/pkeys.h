// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Key tables that the SM itself depends on.

#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm {

/// The SM's own port is a full member of the default partition: limited members can talk to full ones alone,
/// so without it they get no answer from the SA. The same for the switch port that the SM's port is cabled
/// to, which may enforce partitions. A limited default key becomes a full one at its index, else a free index
/// is taken; where there is none the port is named in PKeyPart::no_room. Only what has been read is decided.
/// Pure.
PKeyPart decide_pkeys(const Subnet& subnet);

}  // namespace smd::sm
