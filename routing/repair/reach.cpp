// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/reach.h"

namespace smd::routing::inline repair {
namespace {

/// Words per switch and piece of work: a cache line.
constexpr std::size_t kWordsAtOnce = 8;

}  // namespace

Reach::Reach(const Topology& topology, const SwitchRanking& ranking, std::span<const std::uint32_t> columns,
             std::size_t count, const Parallel& parallel)
    : words_((count + 63) / 64), down_(topology.switches() * words_), any_(topology.switches() * words_) {
  const std::size_t n = topology.switches();
  std::vector<SwitchIndex> from_top(n);
  for (SwitchIndex s = 0; s < n; ++s) {
    from_top[ranking.position[s]] = s;
    if (columns[s] != kNone) down_[s * words_ + columns[s] / 64] |= std::uint64_t{1} << (columns[s] % 64);
  }
  for_ranges(parallel, words_, kWordsAtOnce, [&](std::size_t begin, std::size_t end) {
    const auto add = [&](const std::vector<std::uint64_t>& from, SwitchIndex peer,
                         std::vector<std::uint64_t>& to, SwitchIndex s) {
      for (std::size_t w = begin; w < end; ++w) to[s * words_ + w] |= from[peer * words_ + w];
    };
    for (std::size_t i = n; i-- > 0;) {
      const auto s = from_top[i];
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto peer = topology.group(s, g).peer;
        if (!ranking.up(s, peer)) add(down_, peer, down_, s);
      }
    }
    for (const auto s : from_top) {
      add(down_, s, any_, s);
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto peer = topology.group(s, g).peer;
        if (ranking.up(s, peer)) add(any_, peer, any_, s);
      }
    }
  });
}

}  // namespace smd::routing::inline repair
