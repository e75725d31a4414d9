// SPDX-License-Identifier: Apache-2.0
// One step from the tables as they are towards freshly made ones, and how far they are apart.
#include <algorithm>
#include <utility>
#include <vector>

#include "routing/repair/converge.h"
#include "routing/verify/verify.h"
#include "smd/decide/routes.h"

namespace smd::sm::inline decisions {

std::expected<Converging, routing::RouteError> converge_routes(const std::shared_ptr<const RoutePart>& now,
                                                               const RoutePart& goal, std::size_t most_blocks,
                                                               const routing::Parallel& parallel) {
  std::vector<std::shared_ptr<const routing::LftRow>> rows;
  routing::Routes wanted{.rows = {}, .layers = goal.layers};
  for (const auto& row : now->rows) rows.push_back(row.row);
  for (const auto& row : goal.rows) wanted.rows.push_back(row.row);
  // Layers are proven for whole tables; how they are written keeps them apart all the way.
  if (goal.layers.count > 1 || now->layers.count > 1)
    return Converging{std::make_shared<RoutePart>(goal), true};
  auto step = routing::converge({.topology = *goal.topology,
                                 .lids = *goal.lid_map,
                                 .now = rows,
                                 .goal = wanted,
                                 .most_blocks = most_blocks});
  auto part = std::make_shared<RoutePart>(step.done ? goal : *now);
  part->top = std::max(now->top, goal.top);
  if (step.done) return Converging{std::move(part), true};
  part->verification = routing::verify_routes({*goal.topology, *goal.lid_map, parallel}, step.routes);
  const bool no_worse = part->verification.ok() && !now->verification.clean();
  if (!part->verification.clean() && !no_worse) return Converging{nullptr, false};
  for (std::size_t s = 0; s < part->rows.size(); ++s) part->rows[s].row = std::move(step.routes.rows[s]);
  part->engine = goal.engine;
  part->roots = goal.roots;
  part->by_load = goal.by_load;
  part->shape = goal.shape;
  part->why = goal.why;
  part->origin = RoutePart::Origin::repaired;
  return Converging{std::move(part), false};
}

bool same_rules(const config::RoutingConfig& a, const config::RoutingConfig& b) {
  auto other = b;
  other.threads = a.threads;
  other.converge_after = a.converge_after;
  other.sl_keep = a.sl_keep;
  return a == other;
}

routing::RouteLoad load_of(const RoutePart& part, const routing::Parallel& parallel,
                           routing::LoadOfShifts shifts) {
  routing::Routes routes{.rows = {}, .layers = part.layers};
  for (const auto& row : part.rows) routes.rows.push_back(row.row);
  return routing::measure_load({*part.topology, *part.lid_map, parallel}, routes,
                               routing::hosts_in_file_order(*part.topology), shifts);
}

std::uint64_t entries_differing(const RoutePart& one, const RoutePart& other) {
  std::uint64_t count = 0;
  for (const auto& row : one.rows) {
    const auto* theirs = other.find(row.node);
    if (theirs == nullptr || *theirs == row.row) continue;
    const auto size = std::max(row.row ? row.row->size() : 0, *theirs ? (*theirs)->size() : 0);
    for (std::size_t lid = 0; lid < size; ++lid) {
      const Lid at{static_cast<std::uint16_t>(lid)};
      count += routing::entry(row.row.get(), at) != routing::entry(theirs->get(), at) ? 1U : 0U;
    }
  }
  return count;
}

}  // namespace smd::sm::inline decisions
