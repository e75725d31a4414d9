// SPDX-License-Identifier: Apache-2.0
// d-mod-k with the alignment that OpenSM's engine of this name keeps: the n-th host of every leaf takes the
// same turn, whether the leaves before it are full or not.
#include "routing/engines/tree.h"

namespace smd::routing {
namespace {

std::span<const Guid> roots_of(const EngineOptions& options) {
  const auto* const own = std::get_if<FtreeOptions>(&options);
  return own != nullptr ? std::span<const Guid>(own->root_guids) : std::span<const Guid>();
}

}  // namespace

std::optional<Order> ftree_order(const Topology& topology, const EngineOptions& options,
                                 const Parallel& /*parallel*/) {
  auto order = order_of_tree(topology, roots_of(options));
  if (!order) return std::nullopt;
  return *std::move(order);
}

std::expected<Routes, RouteError> ftree(const EngineInput& in) {
  const auto order = order_of_tree(in.topology, roots_of(in.options));
  if (!order) return std::unexpected(order.error());
  return route_tree(in, *order, Numbering::padded);
}

}  // namespace smd::routing
