// SPDX-License-Identifier: Apache-2.0
#pragma once
// Another SM gave clients SLs after we did.

#include <memory>

#include "config/config.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// `stored` without engine, layers and SLs where more ports were told the SL of their path to the SM as the
/// file of adopt.path_sl has it than as we had it: the SM of the file gave the SLs that are in use. Else the
/// same pointer. Pure; O(ports).
StoredPtr without_replaced_sls(const StoredPtr& stored, const std::shared_ptr<const Subnet>& subnet,
                               const config::SubnetConfig& config);

}  // namespace smd::sm::inline decisions
