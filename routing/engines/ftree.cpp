// SPDX-License-Identifier: Apache-2.0
// d-mod-k with the alignment that OpenSM's engine of this name keeps: the n-th host of every leaf takes the
// same turn, whether the leaves before it are full or not.
#include "routing/engines/tree.h"

namespace smd::routing {
std::optional<Order> ftree_order(const Topology& topology, const EngineOptions& options,
                                 const Parallel& /*parallel*/) {
  auto order = order_of_tree(topology, own_options<FtreeOptions>(options).root_guids);
  if (!order) return std::nullopt;
  return *std::move(order);
}

std::expected<Routes, RouteError> ftree(const EngineInput& in) {
  const auto order = order_of_tree(in.topology, own_options<FtreeOptions>(in.options).root_guids);
  if (!order) return std::unexpected(order.error());
  return route_tree(in, *order, Numbering::padded);
}

}  // namespace smd::routing
