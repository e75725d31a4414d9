// SPDX-License-Identifier: Apache-2.0
#pragma once
// 64 LIDs of forwarding tables at a time, a bit each, by the port that they leave by.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "routing/routes.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline verify {

using LidBits = std::uint64_t;

/// LIDs that leave a switch by one port towards another switch.
struct EgressSet {
  SwitchIndex peer = 0;
  PortNum out;
  LidBits lids = 0;
};

/// The egress sets of all switches. A switch may refer to another one with the same entries and neighbours.
class EgressSets {
 public:
  /// `switches`: number of them; each needs begin() or follow() before it is read.
  explicit EgressSets(std::size_t switches)
      : first_(switches), end_(switches), leader_(switches), forwarded_(switches) {}
  void clear() { egress_.clear(); }  ///< before the next block; begin() of each switch follows
  /// For each switch: begin(), then add() its sets, before the next switch.
  void begin(SwitchIndex s) {
    leader_[s] = s;
    forwarded_[s] = 0;
    first_[s] = end_[s] = static_cast<std::uint32_t>(egress_.size());
  }
  /// Of the switch of the last begin(); each port once.
  void add(SwitchIndex s, SwitchIndex peer, PortNum out, LidBits lids) {
    auto& set = egress_.emplace_back();  // filled in place: reading it back as a whole at once would stall
    set.peer = peer;
    set.out = out;
    set.lids = lids;
    ++end_[s];
    forwarded_[s] |= lids;
  }
  /// Uses the sets of `leader` for `s`.
  void follow(SwitchIndex s, SwitchIndex leader) { leader_[s] = leader; }

  /// The switch whose sets are used; itself without follow().
  SwitchIndex leader(SwitchIndex s) const { return leader_[s]; }
  /// The egress sets of the switch, or of its leader. Valid until the next add() or clear().
  std::span<const EgressSet> of(SwitchIndex s) const {
    const auto leader = leader_[s];
    return {egress_.data() + first_[leader], egress_.data() + end_[leader]};
  }
  /// LIDs that go to another switch.
  LidBits forwarded(SwitchIndex s) const { return forwarded_[leader_[s]]; }

 private:
  std::vector<std::uint32_t> first_, end_;
  std::vector<SwitchIndex> leader_;
  std::vector<EgressSet> egress_;
  std::vector<LidBits> forwarded_;
};

/// Entries of a block of 64 that equal `port`, a bit each.
inline LidBits equal_to(const std::uint8_t* block, std::uint8_t port) {
  LidBits bits = 0;
#ifdef __SSE2__
  const auto wanted = _mm_set1_epi8(static_cast<char>(port));
  for (unsigned at = 0; at < 64; at += 16) {
    __m128i entries;
    std::memcpy(&entries, block + at, 16);
    const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(entries, wanted)));
    bits |= LidBits{mask} << at;
  }
#else
  for (unsigned i = 0; i < 64; ++i) bits |= LidBits{block[i] == port ? 1U : 0U} << i;
#endif
  return bits;
}

/// Rows are far apart in memory: prefetch the row of the switch so many places ahead.
inline constexpr SwitchIndex kPrefetchDistance = 12;
/// Starts to load the cache line; any address is allowed.
inline void fetch(const std::uint8_t* memory) { __builtin_prefetch(memory); }

/// The 64 entries of a row from `first` on; `padded` holds them if the row is null or shorter.
const std::uint8_t* block_of(const LftRow* row, std::size_t first, std::array<std::uint8_t, 64>& padded);

/// The LIDs of the block that begins at `first` whose paths are in the layer.
LidBits lids_of_layer(const Layers& layers, unsigned layer, Lid first);
/// One more than the highest layer in use, whatever `count` says.
unsigned layers_in_use(const Layers& layers);

/// Calls fn(port, bits) for each port that occurs among `lids`.
template <class Fn>
void for_each_port(const std::uint8_t* block, LidBits lids, const Fn& fn) {
  // Rows of inner switches have few ports in a block, rows of leaves have many: comparing port by port is
  // cheaper for the former, entry by entry for the latter.
  constexpr int kPortByPort = 6;
  for (int i = 0; lids != 0 && i < kPortByPort; ++i) {
    const auto port = block[std::countr_zero(lids)];
    const auto same = equal_to(block, port) & lids;
    fn(port, same);
    lids &= ~same;
  }
  if (lids == 0) return;
  std::array<LidBits, 256> by_port;
  std::array<std::uint8_t, 64> ports;
  std::array<bool, 256> seen{};
  std::size_t count = 0;
  for (; lids != 0; lids &= lids - 1) {
    const auto port = block[std::countr_zero(lids)];
    const auto bit = lids & (~lids + 1);
    by_port[port] = seen[port] ? by_port[port] | bit : bit;
    if (!seen[port]) ports[count++] = port;
    seen[port] = true;
  }
  for (std::size_t i = 0; i < count; ++i) fn(ports[i], by_port[ports[i]]);
}

}  // namespace smd::routing::inline verify
