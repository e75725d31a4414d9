// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Key tables that the SM itself depends on.

#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// The SM's own port and the switch port that it is cabled to become full members of the default partition: a
/// limited default key becomes a full one at its index, else a free index is taken; where there is none the
/// port is named in PKeyPart::no_room. Only ports whose table was read are decided. Pure.
PKeyPart decide_pkeys(const Subnet& subnet);

}  // namespace smd::sm::inline decisions
