// SPDX-License-Identifier: Apache-2.0
#pragma once
// Blocks of the tables of ports that differ from what was decided.

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// A round with the blocks of all kinds whose descriptor names `phase`: those that do not hold what was
/// decided, or are not known to. Empty where there are none. Pure. plan() calls it for `vl_tables`, the part
/// `guids` for `guid_info`; P_Key tables have rounds of their own (pkey_rounds.h).
Round table_round(const PlanInput& in, Phase phase);

}  // namespace smd::sm::inline planning
