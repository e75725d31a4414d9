// SPDX-License-Identifier: Apache-2.0
#pragma once
// Repair for engines without a ranking.

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "routing/repair/repair.h"

namespace smd::routing::inline repair {

/// Keeps entries that arrive. Every other connected switch uses a neighbour that arrives or was attached
/// before, nearest first. There is no forwarding loop; credit loops are not examined.
std::optional<std::expected<Repaired, RouteError>> repair_unordered(
    const RoutingContext& in, std::span<const std::shared_ptr<const LftRow>> old);

}  // namespace smd::routing::inline repair
