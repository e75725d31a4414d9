// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/lid_tile.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace smd::routing::inline verify {
namespace {

/// Copies entries, without those of unassigned LIDs, capped at `most`. False if one is a port number above
/// `ports` other than 255. Plain loops over 64 bytes, which the compiler vectorises.
bool take(const std::uint8_t* from, const std::uint8_t* unassigned, std::uint8_t ports, std::uint8_t most,
          std::uint8_t* into) {
  std::uint8_t wrong = 0;
  for (unsigned i = 0; i < 64; ++i) {
    const auto port = static_cast<std::uint8_t>(from[i] | unassigned[i]);
    wrong |= static_cast<std::uint8_t>((port > ports ? 1 : 0) & (port != kNoRoute ? 1 : 0));
    into[i] = std::min(port, most);
  }
  return wrong == 0;
}

}  // namespace

template <std::size_t kWords>
LidTile<kWords>::LidTile(const Topology& topology, const LidMap& lids, const Routes& routes,
                         const NextSwitches& next_switches)
    : topology_(topology),
      lids_(lids),
      routes_(routes),
      next_switches_(next_switches),
      blocks_(kBlocks, BlockLids(topology, lids)),
      entries_((topology.switches() + 1) * kLids, kNone),
      routed_(topology.switches()),
      groups_(next_switches.groups()),
      count_(topology, lids, routes) {
  for (auto& group : groups_) group.waits.resize(kBits * kWords);
}

template <std::size_t kWords>
bool LidTile<kWords>::add(std::size_t number, Dependencies& graph, Verification& found) {
  if (!load(number)) return false;
  for (auto& group : groups_) group.last = kNoSwitch;
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
    auto& group = groups_[next_switches_.group(s)];
    if (!same_as_last(s, group) && !look(s, group)) return false;
    const auto rows = topology_.ports(group.last) + std::size_t{1};
    graph.add(s, std::span(group.waits).first(rows * kWords), kWords);
  }
  tally(found);
  return found.host_pairs_unreachable == 0;
}

template <std::size_t kWords>
bool LidTile<kWords>::load(std::size_t number) {
  for (std::size_t b = 0; b < kBlocks; ++b) {
    auto& block = blocks_[b];
    block.load(number * kBlocks + b);
    for (unsigned bit = 0; bit < 64; ++bit) {
      unassigned_[b * 64 + bit] = (block.live() >> bit & 1U) != 0 ? 0 : kNoRoute;
    }
  }
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
    if (s + kPrefetchDistance < routes_.rows.size() && routes_.rows[s + kPrefetchDistance] != nullptr) {
      const auto soon = std::span(*routes_.rows[s + kPrefetchDistance]);
      for (const auto& block : blocks_) {
        if (block.first() < soon.size()) fetch(&soon[block.first()]);
      }
    }
    if (!load(s)) return false;
  }
  return mark_destinations();
}

template <std::size_t kWords>
bool LidTile<kWords>::load(SwitchIndex s) {
  const auto* const entries = s < routes_.rows.size() ? routes_.rows[s].get() : nullptr;
  const auto ports = static_cast<std::uint8_t>(topology_.ports(s));
  std::array<std::uint8_t, 64> padded;
  bool good = true;
  for (std::size_t b = 0; b < kBlocks; ++b) {
    auto* const into = row(s) + b * 64;
    const auto* const from = block_of(entries, blocks_[b].first(), padded);
    good = take(from, unassigned_.data() + b * 64, ports, kNone, into) && good;
    routed_[s][b] = ~equal_to(into, kNone);
  }
  return good;
}

/// False if a LID's own switch has another entry for it.
template <std::size_t kWords>
bool LidTile<kWords>::mark_destinations() {
  for (std::size_t i = 0; i < kLids; ++i) {
    const auto& to = blocks_[i / 64].destination(i % 64);
    if (to.sw == kNoSwitch) continue;
    auto& entry = row(to.sw)[i];
    if (entry != to.port.value() || topology_.peer(to.sw, to.port).sw != kNoSwitch) return false;
    entry = kHere;
  }
  return true;
}

/// Whether the last switch of the group had the same entries, and they lead to the same switches.
template <std::size_t kWords>
bool LidTile<kWords>::same_as_last(SwitchIndex s, const PortUsage& group) {
  if (group.last == kNoSwitch || std::memcmp(row(s), row(group.last), kLids) != 0) return false;
  const auto own = next_switches_.as_first(s), other = next_switches_.as_first(group.last);
  for (std::size_t w = 0; w < kWords; ++w) {
    if ((group.used[w] & ~(own[w] & other[w])) != 0) return false;
  }
  return true;
}

/// False if an entry leads to a switch without an entry.
template <std::size_t kWords>
bool LidTile<kWords>::look(SwitchIndex s, PortUsage& group) {
  const auto ports = topology_.ports(s);
  auto* const waits = group.waits.data();
  std::fill_n(waits, (ports + 1) * kWords, 0);
  const auto* const own = row(s);
  const auto* const entries = entries_.data();
  const auto* const next = next_switches_.next(s).data();
  for (std::size_t i = 0; i < kLids; ++i) {
    const auto port = own[i];
    const auto onwards = entries[next[port] * kLids + i];
    waits[port * kWords + onwards / 64] |= std::uint64_t{1} << (onwards % 64);
  }
  group.last = s;
  group.used = {};
  std::uint64_t all = 0;
  for (std::size_t p = 0; p <= ports; ++p) {
    auto* const of_port = waits + p * kWords;
    auto any = of_port[0];
    for (std::size_t w = 1; w < kWords; ++w) any |= of_port[w];
    group.used[p / 64] |= std::uint64_t{any != 0 ? 1U : 0U} << (p % 64);
    all |= of_port[kWords - 1];
    of_port[kWords - 1] &= ~(std::uint64_t{1} << (kHere % 64));
  }
  return (all >> (kNone % 64) & 1U) == 0;
}

template <std::size_t kWords>
void LidTile<kWords>::tally(Verification& found) {
  for (std::size_t b = 0; b < kBlocks; ++b) {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      const auto routed = routed_[s][b];
      const auto unreached = blocks_[b].connected(s) & ~routed;
      if (unreached != 0) count_.add_unreached(blocks_[b], s, routed, unreached, found);
    }
  }
}

template class LidTile<1>;
template class LidTile<2>;
template class LidTile<4>;

}  // namespace smd::routing::inline verify
