// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/accepted_losses.h"

#include <algorithm>
#include <utility>

#include "smd/decide/routes.h"

namespace smd::sm::inline decisions {

routing::ReferenceTopology without_accepted(const routing::ReferenceTopology& known,
                                            const Inventory& inventory, const RoutePart* routes) {
  auto left = known;
  std::erase_if(left.switches, [&](const auto& sw) { return inventory.find(sw.guid) == nullptr; });
  std::erase_if(left.links, [&](const routing::ReferenceTopology::Link& link) {
    const auto* there = inventory.find(LinkEnd{link.a.guid, link.a.port});
    return there == nullptr || there->peer != LinkEnd{link.b.guid, link.b.port};
  });
  return routes != nullptr && routes->topology ? routing::merge(left, *routes->topology) : left;
}

std::shared_ptr<const RoutePart> with_reference(const RoutePart& part,
                                                std::shared_ptr<const routing::ReferenceTopology> reference) {
  auto now = std::make_shared<RoutePart>(part);
  now->reference = std::move(reference);
  const bool lost = lacks_any(*now);
  now->shape = shape_with_damage(part.shape, lacks_any(part), lost);
  now->why = why_with_shape(part.why, part.shape, now->shape);
  const bool returns = !lost && !part.left_engine.name.empty();
  if (returns && part.origin == RoutePart::Origin::fresh) now->origin = RoutePart::Origin::repaired;
  return now;
}

}  // namespace smd::sm::inline decisions
