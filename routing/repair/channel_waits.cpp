// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/channel_waits.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace smd::routing::inline repair {

GrowingWaits::GrowingWaits(const Topology& topology) : topology_(&topology), seen_(topology.channels()) {
  unsigned most = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) most = std::max(most, topology.ports(s));
  words_ = most / 64 + 1;
  waits_.resize(topology.channels() * words_);
}

bool GrowingWaits::try_add(SwitchIndex s, std::uint8_t out, std::uint8_t then) {
  if (has(s, out, then)) return true;
  const auto next = topology_->peer(s, PortNum{out}).sw;
  if (leads({next, then}, topology_->channel(s, PortNum{out}))) return false;
  add(s, out, then);
  return true;
}

bool GrowingWaits::leads(Channel from, std::size_t to) {
  ++epoch_;
  open_.assign(1, from);
  while (!open_.empty()) {
    const auto [sw, out] = open_.back();
    open_.pop_back();
    const auto channel = topology_->channel(sw, PortNum{out});
    if (channel == to) return true;
    if (std::exchange(seen_[channel], epoch_) == epoch_) continue;
    const auto next = topology_->peer(sw, PortNum{out}).sw;
    if (next == kNoSwitch) continue;
    for (std::size_t w = 0; w < words_; ++w) {
      for (auto bits = waits_[channel * words_ + w]; bits != 0; bits &= bits - 1)
        open_.push_back(
            {next, static_cast<std::uint8_t>(w * 64 + static_cast<unsigned>(std::countr_zero(bits)))});
    }
  }
  return false;
}

}  // namespace smd::routing::inline repair
