// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/routed_pairs.h"

#include <algorithm>

namespace smd::sm::inline decisions {

RoutedPairs::RoutedPairs(const RoutePart& part)
    : part_(part), lids_(part.topology->switches()), hosts_(part.topology->switches()) {
  for (std::size_t value = 1; value < part.lid_map->row_size(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (const auto to = part.lid_map->destination(lid); to.sw != routing::kNoSwitch)
      lids_[to.sw].push_back(lid);
  }
  for (const auto& end : part.topology->end_ports()) {
    if (end.sw != routing::kNoSwitch) hosts_[end.sw] = true;
  }
}

bool RoutedPairs::operator()(routing::SwitchIndex a, routing::SwitchIndex b) const {
  const auto leads = [&](routing::SwitchIndex from, routing::SwitchIndex to) {
    return std::ranges::any_of(lids_[to], [&](Lid lid) {
      return routing::entry(part_.rows[from].row.get(), lid) != routing::kNoRoute;
    });
  };
  return leads(a, b) || leads(b, a);
}

routing::PairLayers without_unrouted(const RoutePart& part, routing::PairLayers layers,
                                     const routing::GuidLayers* known) {
  const auto& topology = *part.topology;
  const routing::PairLayers none(topology.switches(), routing::kNoLayer);
  const auto before = known != nullptr ? routing::layers_for(topology, *known) : none;
  const RoutedPairs routed(part);
  for (routing::SwitchIndex a = 0; a < topology.switches(); ++a) {
    for (routing::SwitchIndex b = 0; b < a; ++b) {
      if (before.at(a, b) == routing::kNoLayer && !routed(a, b)) layers.set(a, b, routing::kNoLayer);
    }
  }
  return layers;
}

}  // namespace smd::sm::inline decisions
