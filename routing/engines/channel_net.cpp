// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/channel_net.h"

#include <algorithm>
#include <numeric>

namespace smd::routing::inline engines {

ChannelNet::ChannelNet(const Topology& topology) {
  const auto n = static_cast<SwitchIndex>(topology.switches());
  first_.push_back(0);
  for (SwitchIndex s = 0; s < n; ++s) {
    first_.push_back(first_.back() + static_cast<NetChannel>(topology.groups(s)));
    for (std::size_t g = 0; g < topology.groups(s); ++g) head_.push_back(topology.group(s, g).peer);
  }
  reverse_.resize(head_.size());
  for (SwitchIndex s = 0; s < n; ++s) {
    for (auto c = first_[s]; c < first_[s + 1]; ++c) {
      // Groups are sorted by neighbour.
      const auto begin = head_.begin() + first_[head_[c]], end = head_.begin() + first_[head_[c] + 1];
      reverse_[c] = static_cast<NetChannel>(std::lower_bound(begin, end, s) - head_.begin());
    }
  }
  by_port_.resize(head_.size());
  std::iota(by_port_.begin(), by_port_.end(), NetChannel{0});
  for (SwitchIndex s = 0; s < n; ++s) {
    const auto port = [&](NetChannel c) { return topology.group(s, c - first_[s]).ports.front(); };
    std::ranges::sort(by_port_.begin() + first_[s], by_port_.begin() + first_[s + 1], {}, port);
  }
  for (const auto head : head_) {
    pair_base_.push_back(static_cast<std::uint32_t>(pairs_));
    pairs_ += degree(head);
  }
}

}  // namespace smd::routing::inline engines
