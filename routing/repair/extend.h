// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables in which nothing that works changes: what does not arrive any more finds a way beside it.

#include <expected>
#include <memory>
#include <span>

#include "routing/repair/repair.h"

namespace smd::routing::inline repair {

struct ExtendInput {
  RoutingContext context;
  /// What switches forward by, by SwitchIndex; null: by nothing.
  std::span<const std::shared_ptr<const LftRow>> old;
  Layers layers{};
};

/// Entries that lead to their LID stay, whatever order they were made by. Other switches go by a neighbour
/// that arrives or was attached before, nearest first, where that closes no circle of channels with all that
/// stays and all that was added: so the change from old to new interrupts nothing. Where it can be done with
/// all that packets on lost ways may still wait for, too, the new entries need not wait until those are gone.
/// Fails where two hosts that cables connect find no such way, or a host and an aggregation node; inner
/// switches and LIDs of switches may do without.
std::expected<Repaired, RouteError> extend(const ExtendInput& in);

}  // namespace smd::routing::inline repair
