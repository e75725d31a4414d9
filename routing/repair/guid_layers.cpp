// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/guid_layers.h"

#include <algorithm>
#include <iterator>

namespace smd::routing::inline repair {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

/// By switch its place in `switches`; kNone: it is not there.
std::vector<std::size_t> places(const Topology& topology, const std::vector<Guid>& switches) {
  std::vector<std::size_t> places;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto at = std::ranges::lower_bound(switches, topology.guid(s));
    const bool there = at != switches.end() && *at == topology.guid(s);
    places.push_back(there ? static_cast<std::size_t>(at - switches.begin()) : kNone);
  }
  return places;
}

}  // namespace

PairLayers layers_for(const Topology& topology, const GuidLayers& known) {
  return layers_for(topology, known, PairLayers(topology.switches(), kNoLayer));
}

PairLayers layers_for(const Topology& topology, const GuidLayers& known, const PairLayers& otherwise) {
  auto found = otherwise;
  if (known.layers.empty()) return found;
  const auto at = places(topology, known.switches);
  for (std::size_t a = 0; a < at.size(); ++a) {
    for (std::size_t b = 0; at[a] != kNone && b <= a; ++b) {
      const auto layer = at[b] != kNone ? known.layers.at(at[a], at[b]) : kNoLayer;
      if (layer != kNoLayer) found.set(a, b, layer);
    }
  }
  return found;
}

GuidLayers merge(const GuidLayers& before, const Topology& topology, const PairLayers& now, KeptLayer kept) {
  std::vector<Guid> here, all;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) here.push_back(topology.guid(s));
  std::ranges::sort(here);
  std::ranges::set_union(before.switches, here, std::back_inserter(all));
  GuidLayers merged{.switches = all, .layers = PairLayers(all.size(), kNoLayer)};
  std::vector<std::size_t> at;
  for (const auto guid : before.switches)
    at.push_back(static_cast<std::size_t>(std::ranges::lower_bound(all, guid) - all.begin()));
  for (std::size_t a = 0; a < at.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) merged.layers.set(at[a], at[b], before.layers.at(a, b));
  }
  at = places(topology, all);
  for (std::size_t a = 0; a < at.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const bool known = merged.layers.at(at[a], at[b]) != kNoLayer;
      if (!known || kept == KeptLayer::now) merged.layers.set(at[a], at[b], now.at(a, b));
    }
  }
  return merged;
}

GuidLayers without(const GuidLayers& known, const std::vector<Guid>& switches) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < known.switches.size(); ++i) {
    if (std::ranges::find(switches, known.switches[i]) == switches.end()) kept.push_back(i);
  }
  GuidLayers rest{.switches = {}, .layers = PairLayers(kept.size(), kNoLayer)};
  for (std::size_t a = 0; a < kept.size(); ++a) {
    rest.switches.push_back(known.switches[kept[a]]);
    for (std::size_t b = 0; b <= a; ++b) rest.layers.set(a, b, known.layers.at(kept[a], kept[b]));
  }
  return rest;
}

std::size_t pairs_differing(std::size_t switches, const PairLayers& a, const PairLayers& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < switches; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto one = a.at(i, j), other = b.at(i, j);
      count += one != other && one != kNoLayer && other != kNoLayer ? 1U : 0U;
    }
  }
  return count;
}

}  // namespace smd::routing::inline repair
