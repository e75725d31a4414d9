// SPDX-License-Identifier: Apache-2.0
#pragma once
// SLs that get other VLs on links in service, while routes have several layers: in an order in which no
// switch that has not answered yet can close a credit loop.

#include <array>
#include <stop_token>
#include <vector>

#include "routing/parallel.h"
#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

struct VlMoves {
  /// Of phase vl_tables, before those of qos_rounds(), which write what is decided: rows in which some SLs
  /// have their new VLs already. Empty where all may change at once.
  std::vector<Round> rounds;
  bool proven = true;  ///< false: there is no such order
};

/// Where routes have one layer, or SL to VL tables of ports in service are as decided or not read yet: none.
/// Pure. When stopped the result is of no use.
VlMoves vl_moves(const PlanInput& in, const routing::Parallel& parallel, const std::stop_token& stop);

/// Appends QosRounds::before with these moves: after arbitration, so that an SL that moves has its turns
/// there.
void append_in_steps(Plan& plan, std::array<Round, 4>&& before, VlMoves&& moves);

}  // namespace smd::sm::inline planning
