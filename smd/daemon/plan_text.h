// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plan in words: what a dry run prints.

#include <iosfwd>

#include "smd/decide/decided.h"
#include "smd/plan/plan.h"
#include "smd/sweep/subnet.h"

namespace smd::daemon {

/// What it does to traffic in three lines (disruption.h); then who is master, the LIDs that would change, and
/// each round with its Sets and the first ports it touches.
void print_plan(std::ostream& out, const sm::Subnet& subnet, const sm::Decided& decided,
                const sm::Plan& plan);

}  // namespace smd::daemon
