// SPDX-License-Identifier: Apache-2.0
#pragma once
// Repair without an order of up and down.

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "routing/repair/repair.h"

namespace smd::routing::inline repair {

/// What arrives stays; every other switch that cables connect goes by a neighbour that arrives or has been
/// attached before, nearest first. No packet goes round; credit loops are not looked at.
std::optional<std::expected<Repaired, RouteError>> repair_unordered(
    const RoutingContext& in, std::span<const std::shared_ptr<const LftRow>> old);

}  // namespace smd::routing::inline repair
