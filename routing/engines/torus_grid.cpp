// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/torus_grid.h"

#include <algorithm>

namespace smd::routing::inline engines {
namespace {

std::uint32_t distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

/// The way between two places of a ring that crosses the link from the last to the first is the shorter one.
bool crosses_dateline(std::uint32_t a, std::uint32_t b, std::uint32_t size) {
  return 2 * distance(a, b) > size;
}

}  // namespace

TorusGrid::TorusGrid(const Topology& topology, const TorusPlaces& places)
    : size_(places.size),
      ring_(places.ring),
      ports_(topology.switches() * kDirections),
      run_(topology.switches() * kDirections) {
  switch_at_.assign(std::size_t{size_[0]} * size_[1] * size_[2], kNoSwitch);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    places_.push_back(places.of_switch[s].value_or(TorusPlace{}));
    switch_at_[index(places_[s])] = s;
  }
  for (const auto s : switch_at_) {
    if (s != kNoSwitch) in_order_.push_back(s);
  }
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::uint8_t d = 0; d < kTorusDimensions; ++d) {
      connect(topology, s, {d, false});
      connect(topology, s, {d, true});
    }
  }
  for (std::uint8_t d = 0; d < kTorusDimensions; ++d) measure_runs(d);
}

std::optional<TorusPlace> TorusGrid::beside(TorusPlace place, TorusDirection to) const {
  const auto d = to.dimension;
  if (size_[d] < 2) return std::nullopt;
  const auto end = to.up ? size_[d] - 1 : 0U;
  if (place[d] == end && !ring_[d]) return std::nullopt;
  place[d] = (place[d] + (to.up ? 1U : size_[d] - 1)) % size_[d];
  return place;
}

void TorusGrid::connect(const Topology& topology, SwitchIndex s, TorusDirection to) {
  const auto place = beside(places_[s], to);
  const auto peer = place ? at(*place) : kNoSwitch;
  if (peer == kNoSwitch) return;
  auto& ports = ports_[s * kDirections + to.index()];
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto group = topology.group(s, g);
    if (group.peer == peer) ports.assign(group.ports.begin(), group.ports.end());
  }
  if (!to.up) std::ranges::sort(ports, {}, [&](PortNum port) { return topology.peer(s, port).port; });
}

/// Of a line of switches: backwards from each end, twice round a ring.
void TorusGrid::measure_runs(std::uint8_t dimension) {
  for (const bool up : {false, true}) {
    const TorusDirection to{dimension, up}, back{dimension, !up};
    for (const auto last : in_order_) {
      // Begin where no cable leads on; in a whole ring anywhere.
      if (!ports(last, to).empty()) continue;
      auto run = 0U;
      for (auto s = last; !ports(s, back).empty();) {
        const auto next = beside(places_[s], back);
        if (!next) break;
        s = at(*next);
        run_[s * kDirections + to.index()] = ++run;
      }
    }
    for (const auto s : in_order_) {
      auto& run = run_[s * kDirections + to.index()];
      if (run == 0 && !ports(s, to).empty()) run = size_[dimension];
    }
  }
}

/// Of equal ways the one that does not cross the dateline.
bool TorusGrid::shorter_is_up(std::uint32_t from, std::uint32_t to, std::uint8_t d) const {
  return (to > from) != crosses_dateline(from, to, size_[d]);
}

std::optional<TorusDirection> TorusGrid::step(SwitchIndex from, const TorusPlace& to, std::uint8_t d) const {
  const auto here = places_[from][d], there = to[d];
  const TorusDirection shorter{d, shorter_is_up(here, there, d)}, longer{d, !shorter.up};
  auto turn = places_[from];
  turn[d] = there;
  const auto run = [&](TorusDirection way) { return run_[from * kDirections + way.index()]; };
  constexpr std::uint8_t kLast = kTorusDimensions - 1;
  if (at(turn) == kNoSwitch) {
    const bool on = d != kLast && !ports(from, shorter).empty();
    return on ? std::optional(shorter) : std::nullopt;
  }
  const auto hops = [&](TorusDirection way) {
    return (way.up ? there + size_[d] - here : here + size_[d] - there) % size_[d];
  };
  if (run(shorter) >= hops(shorter)) return shorter;
  if (run(longer) >= hops(longer)) return longer;
  return std::nullopt;
}

std::optional<TorusDirection> TorusGrid::next(SwitchIndex from, SwitchIndex to) const {
  for (std::uint8_t d = 0; d < kTorusDimensions; ++d) {
    if (places_[from][d] == places_[to][d]) continue;
    if (const auto way = step(from, places_[to], d)) return way;
  }
  return std::nullopt;
}

unsigned TorusGrid::datelines(SwitchIndex a, SwitchIndex b) const {
  unsigned bits = 0;
  for (std::size_t d = 0; d < kTorusDimensions; ++d)
    bits |= (crosses_dateline(places_[a][d], places_[b][d], size_[d]) ? 1U : 0U) << d;
  return bits;
}

}  // namespace smd::routing::inline engines
