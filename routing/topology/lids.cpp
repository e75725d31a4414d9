// SPDX-License-Identifier: Apache-2.0
#include "routing/topology/lids.h"

#include <algorithm>

namespace smd::routing::inline topology {

LidMap::LidMap(const Topology& topology, std::span<const LidRange> switches,
               std::span<const LidRange> end_ports)
    : switches_(topology.switches()), ends_(topology.end_ports().size()) {
  for (SwitchIndex s = 0; s < switches_.size(); ++s) {
    const auto input = topology.input_of(s);
    if (input >= switches.size()) continue;
    switches_[s] = switches[input];
    claim(switches_[s], {s, kNoEnd, PortNum{0}, 0});
  }
  for (EndIndex e = 0; e < ends_.size(); ++e) {
    const auto& end = topology.end_ports()[e];
    if (end.input >= end_ports.size()) continue;
    ends_[e] = end_ports[end.input];
    claim(ends_[e], {end.sw, e, end.port, 0});
  }
}

void LidMap::claim(LidRange range, Destination to) {
  for (std::uint32_t i = 0; i < range.count(); ++i) {
    const std::uint32_t value = range.base.value() + i;
    if (value > kLastUnicastLid.value()) return;
    if (destinations_.size() <= value) destinations_.resize(value + 1);
    auto& place = destinations_[value];
    if (place.sw != kNoSwitch || place.end != kNoEnd) continue;
    place = to;
    place.offset = static_cast<std::uint8_t>(i);
    ++size_;
    top_ = std::max(top_, Lid{static_cast<std::uint16_t>(value)});
  }
}

}  // namespace smd::routing::inline topology
