// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sweep summary as JSON.

#include "smd/report/json.h"
#include "smd/report/sweep_summary.h"

namespace smd::sm::inline reports {

/// Its fields by their names, in their order.
Json sweep_json(const SweepSummary& summary);

}  // namespace smd::sm::inline reports
