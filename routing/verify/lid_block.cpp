// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/lid_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace smd::routing::inline verify {
namespace {

std::vector<std::vector<SwitchIndex>> groups_of(std::span<const SwitchIndex> equivalents) {
  std::vector<std::vector<SwitchIndex>> all(equivalents.size());
  for (SwitchIndex s = 0; s < equivalents.size(); ++s) all[equivalents[s]].push_back(s);
  std::erase_if(all, [](const auto& group) { return group.size() < 2; });
  return all;
}

std::vector<SwitchIndex> from_leaves_outwards(const Topology& topology) {
  std::vector<SwitchIndex> order(topology.leaves().begin(), topology.leaves().end());
  std::vector<bool> seen(topology.switches());
  for (const auto s : order) seen[s] = true;
  const auto spread_from = [&](std::size_t at) {
    for (; at < order.size(); ++at) {
      for (std::size_t g = 0; g < topology.groups(order[at]); ++g) {
        const auto peer = topology.group(order[at], g).peer;
        if (!seen[peer]) order.push_back(peer);
        seen[peer] = true;
      }
    }
  };
  spread_from(0);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (seen[s]) continue;
    seen[s] = true;
    order.push_back(s);
    spread_from(order.size() - 1);
  }
  return order;
}

}  // namespace

LidBlock::LidBlock(const Topology& topology, const LidMap& lids, const Routes& routes,
                   std::span<const SwitchIndex> equivalents)
    : topology_(topology),
      routes_(routes),
      outwards_(from_leaves_outwards(topology)),
      entries_(topology.switches()),
      next_switch_(topology.channels(), kNoSwitch),
      own_(topology, lids),
      is_destination_(topology.switches()),
      egress_(topology.switches()),
      arrive_(topology.switches()),
      routed_(topology.switches()) {
  groups_ = groups_of(equivalents);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto* const row = s < routes.rows.size() ? routes.rows[s].get() : nullptr;
    if (row != nullptr && row->size() >= lids.row_size()) entries_[s] = row->data();
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      next_switch_[topology.channel(s, port)] = topology.peer(s, port).sw;
    }
  }
}

void LidBlock::load(std::size_t number) {
  own_.load(number);
  is_destination_.assign(topology_.switches(), false);
  for (unsigned bit = 0; bit < 64; ++bit) {
    if (const auto sw = own_.destination(bit).sw; sw != kNoSwitch) is_destination_[sw] = true;
  }
  egress_.clear();
  find_leaders();
  const auto n = static_cast<SwitchIndex>(topology_.switches());
  for (SwitchIndex s = 0; s < n; ++s) {
    if (s + kPrefetchDistance < n && entries_[s + kPrefetchDistance] != nullptr)
      fetch(entries_[s + kPrefetchDistance] + own_.first());
    if (egress_.leader(s) == s) scan(s);
  }
}

/// The first switch of a group represents all of it if all have the same entries and none is a destination.
void LidBlock::find_leaders() {
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) egress_.begin(s);
  const auto entries = [&](SwitchIndex s) {
    return entries_[s] != nullptr ? entries_[s] + own_.first() : nullptr;
  };
  for (const auto& group : groups_) {
    for (const auto s : group) {
      if (entries_[s] != nullptr) fetch(entries_[s] + own_.first());
    }
    const auto* const wanted = entries(group.front());
    const bool alike = wanted != nullptr && std::ranges::all_of(group, [&](SwitchIndex s) {
                         const auto* const own = entries(s);
                         return own != nullptr && std::memcmp(own, wanted, 64) == 0 && !is_destination_[s];
                       });
    if (!alike) continue;
    for (const auto s : group) egress_.follow(s, group.front());
  }
}

void LidBlock::scan(SwitchIndex s) {
  egress_.begin(s);
  arrive_[s] = routed_[s] = 0;
  if (own_.live() == 0) return;
  std::array<std::uint8_t, 64> padded;
  const auto* block = entries_[s];
  if (block != nullptr) {
    block += own_.first();
  } else {
    const auto* const row = s < routes_.rows.size() ? routes_.rows[s].get() : nullptr;
    if (row == nullptr) return;
    block = block_of(row, own_.first(), padded);
  }
  routed_[s] = own_.live() & ~equal_to(block, kNoRoute);
  for_each_port(block, routed_[s], [&](std::uint8_t port, LidBits bits) { add(s, port, bits); });
}

void LidBlock::add(SwitchIndex s, std::uint8_t port, LidBits bits) {
  const auto peer =
      port <= topology_.ports(s) ? next_switch_[topology_.channel(s, PortNum{port})] : kNoSwitch;
  if (peer != kNoSwitch) {
    egress_.add(s, peer, PortNum{port}, bits);
    return;
  }
  for (; bits != 0; bits &= bits - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(bits));
    const auto& to = own_.destination(bit);
    if (to.sw == s && to.port.value() == port) arrive_[s] |= LidBits{1} << bit;
  }
}

bool LidBlock::sweep(bool upwards) {
  bool changed = false;
  const std::size_t n = outwards_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto s = outwards_[upwards ? i : n - 1 - i];
    auto arrived = arrive_[s];
    if (arrived == routed_[s] || egress_.leader(s) != s) continue;
    for (const auto& set : egress_.of(s)) arrived |= set.lids & arrive(set.peer);
    changed = changed || arrived != arrive_[s];
    arrive_[s] = arrived;
  }
  return changed;
}

void LidBlock::follow() {
  // Needs a sweep for each time that the longest path turns against the direction: two in trees, and one to
  // detect the end.
  for (bool upwards = true; sweep(upwards);) upwards = !upwards;
}

std::vector<LidBits> LidBlock::end_to_end() const {
  std::vector<LidBits> crossing(topology_.switches());
  std::vector<SwitchIndex> work;
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
    if (topology_.end_ports_of(s).empty()) continue;
    crossing[s] = own_.end_ports();
    work.push_back(s);
  }
  while (!work.empty()) {
    const auto s = work.back();
    work.pop_back();
    for (const auto& set : egress_.of(s)) {
      const auto fresh = set.lids & crossing[s] & ~crossing[set.peer];
      if (fresh == 0) continue;
      crossing[set.peer] |= fresh;
      work.push_back(set.peer);
    }
  }
  return crossing;
}

}  // namespace smd::routing::inline verify
