// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/next_switches.h"

#include <algorithm>
#include <limits>

namespace smd::routing::inline verify {
namespace {

constexpr unsigned kMarks = 2;  ///< values that are no port numbers; see LidTile
/// Groups are recognised by at most so many cables, from the highest port downwards: some may be missing.
constexpr unsigned kTellingCables = 4;
constexpr auto kNoGroup = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::size_t NextSwitches::words_for(const Topology& topology) {
  unsigned most = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) most = std::max(most, topology.ports(s));
  for (const std::size_t words : {1U, 2U, 4U}) {
    if (most + kMarks < words * 64) return words;
  }
  return 0;
}

NextSwitches::NextSwitches(const Topology& topology) : words_(words_for(topology)) {
  const auto nowhere = static_cast<std::uint32_t>(topology.switches());
  next_.assign(topology.switches() * words_ * 64, nowhere);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const auto peer = topology.peer(s, PortNum{static_cast<std::uint8_t>(p)}).sw;
      if (peer != kNoSwitch) next_[s * words_ * 64 + p] = peer;
    }
  }
  find_groups(topology);
}

void NextSwitches::find_groups(const Topology& topology) {
  const auto ports = words_ * 64;
  group_.assign(topology.switches(), kNoGroup);
  as_first_.resize(topology.switches() * words_);
  std::vector<std::uint32_t> led_to(topology.switches() * ports, kNoGroup);  // by switch and far port
  std::vector<std::size_t> telling;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto own = next(s);
    telling.clear();
    for (std::size_t p = ports; p-- > 0 && telling.size() < kTellingCables;) {
      if (own[p] < topology.switches()) telling.push_back(own[p] * ports + p);
    }
    const auto known = std::ranges::find_if(telling, [&](auto at) { return led_to[at] != kNoGroup; });
    if (known != telling.end()) {
      group_[s] = led_to[*known];
    } else {
      group_[s] = static_cast<std::uint32_t>(first_.size());
      first_.push_back(s);
      for (const auto at : telling) led_to[at] = group_[s];
    }
    const auto other = next(first_[group_[s]]);
    for (std::size_t p = 0; p < ports; ++p) {
      as_first_[s * words_ + p / 64] |= std::uint64_t{own[p] == other[p] ? 1U : 0U} << (p % 64);
    }
  }
}

}  // namespace smd::routing::inline verify
