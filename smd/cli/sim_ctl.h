// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd sim ctl`: one command to a simulated fabric that is served elsewhere.

#include "smd/cli/sim.h"

namespace smd::cli {

/// 0 done, 1 no fabric is served there, 2 the fabric refuses the command.
int sim_ctl(const SimOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
