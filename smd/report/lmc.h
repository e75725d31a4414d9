// SPDX-License-Identifier: Apache-2.0
#pragma once
// What becomes of the LMC of a fabric that another SM has run.

#include "smd/decide/decided.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Says which LMC ports in service have, where it is kept (`given`: false) and is not 0 everywhere; else how
/// many LIDs they lose by the one of the configuration, where they lose some.
void log_lmc(const log::Log& log, const Subnet& subnet, const LidPart& lids, bool given);

}  // namespace smd::sm::inline reports
