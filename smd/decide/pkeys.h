// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Key tables that SMs themselves depend on.

#include <span>
#include <vector>

#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// The ports of SMs (sm_ports()) and the switch ports that they are cabled to become full members of the
/// default partition: a limited default key becomes a full one at its index, else a free index is taken;
/// where there is none the port is named in PKeyPart::no_room. Only ports whose table was read are decided.
/// What `part` has decided of them already counts more than what they hold. Pure.
void decide_sm_pkeys(const Subnet& subnet, std::span<const PeerPort> sms, PKeyPart& part);

/// The table holds these blocks, all of its port.
bool holds(const HeldBlocks<wire::PKeyTable>& held, std::span<const PKeyPart::Block> blocks);

/// The blocks that `keys` fill (by index), and those that have something to lose, in the order of the blocks.
void add_pkey_blocks(const PeerPort& at, const std::vector<PKey>& keys,
                     const HeldBlocks<wire::PKeyTable>& held, PKeyPart& tables);

}  // namespace smd::sm::inline decisions
