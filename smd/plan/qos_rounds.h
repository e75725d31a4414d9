// SPDX-License-Identifier: Apache-2.0
#pragma once
// SL to VL and VL arbitration tables that differ from what was decided, in an order in which no VL that an SL
// is mapped to is without its turns.

#include <array>
#include <string_view>

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// Under this name a switch is noted that says OptimizedSLtoVLMappingProgramming and refuses such a Set.
inline constexpr std::string_view kOptimizedField = "OptimizedSLtoVLMappingProgramming";

struct QosRounds {
  /// Arbitration with the VLs that are new, and those that are about to be left, in two rounds
  /// (VlTurns::late); then SL to VL tables: of all ports of switches, then of others. Before the links are
  /// Armed.
  std::array<Round, 4> before;
  Round after;  ///< arbitration without the VLs that were left
};

/// Tables of ports in use are written only once they were read: they may be right. All rounds are empty where
/// QoS is not enabled, and where all is as decided. Pure.
QosRounds qos_rounds(const PlanInput& in);

}  // namespace smd::sm::inline planning
