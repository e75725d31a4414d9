// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/next_hops.h"

#include <algorithm>
#include <array>
#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace smd::routing::inline engines {
namespace {

/// One bit for each of up to 64 positions: (row & mask) == target.
template <class Cost>
std::uint64_t matches(const Cost* row, Cost mask, const Cost* target, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bits |= std::uint64_t{static_cast<Cost>(row[i] & mask) == target[i] ? 1U : 0U} << i;
  }
  return bits;
}

#ifdef __SSE2__
__m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

std::uint64_t matches_of_64(const std::uint8_t* row, std::uint8_t mask, const std::uint8_t* target) {
  const auto keep = _mm_set1_epi8(static_cast<char>(mask));
  std::uint64_t bits = 0;
  for (unsigned at = 0; at < 64; at += 16) {
    const auto same = _mm_cmpeq_epi8(_mm_and_si128(load(row + at), keep), load(target + at));
    bits |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(same))} << at;
  }
  return bits;
}
#else
std::uint64_t matches_of_64(const std::uint8_t* row, std::uint8_t mask, const std::uint8_t* target) {
  return matches(row, mask, target, 64);
}
#endif

std::uint64_t matches_of_64(const std::uint16_t* row, std::uint16_t mask, const std::uint16_t* target) {
  return matches(row, mask, target, 64);
}

}  // namespace

std::vector<std::uint32_t> columns_by_switch(const Topology& topology,
                                             std::span<const SwitchIndex> destinations) {
  std::vector<std::uint32_t> column(topology.switches(), kNoColumn);
  for (std::uint32_t i = 0; i < destinations.size(); ++i) column[destinations[i]] = i;
  return column;
}

template <std::unsigned_integral Cost>
NextHops<Cost>::NextHops(const Topology& topology, std::span<const Columns<Cost>> parts,
                         std::span<const SwitchIndex> equivalents)
    : topology_(topology),
      parts_(parts),
      equivalents_(equivalents),
      column_of_(topology.switches(), kNoColumn) {
  std::size_t most = 0;
  for (const auto& part : parts) {
    most = std::max(most, part.destinations.size());
    for (const auto destination : part.destinations) {
      column_of_[destination] = static_cast<std::uint32_t>(columns_++);
    }
  }
  down_target_.resize(most);
  up_target_.resize(most);
}

template <std::unsigned_integral Cost>
std::span<const Segment> NextHops<Cost>::of(SwitchIndex s) {
  segments_.clear();
  std::uint32_t first = 0;
  for (const auto& part : parts_) {
    set_targets(s, part);
    find_peer_sets(s, part);
    mark(part);
    emit(part, first);
    first += static_cast<std::uint32_t>(part.destinations.size());
  }
  return segments_;
}

/// The cost a neighbour must have: the whole value for a step down, only the length for a step up.
template <std::unsigned_integral Cost>
void NextHops<Cost>::set_targets(SwitchIndex s, const Columns<Cost>& part) {
  using C = Costs<Cost>;
  const auto own = part.costs->row(s);
  const std::size_t n = own.size();
  const Cost* const __restrict from = own.data();  // lets the compiler vectorise
  Cost* const __restrict below = down_target_.data();
  Cost* const __restrict above = up_target_.data();
  constexpr Cost kNeverUp = C::kNever & C::kLength;
  for (std::size_t c = 0; c < n; ++c) {
    const Cost cost = from[c];
    const auto less = static_cast<Cost>(cost - 1);
    below[c] = cost < C::kGoesUp && cost != 0 ? less : C::kNever;
    above[c] =
        cost >= C::kGoesUp && cost != C::kUnreachable ? static_cast<Cost>(less & C::kLength) : kNeverUp;
  }
}

template <std::unsigned_integral Cost>
void NextHops<Cost>::find_peer_sets(SwitchIndex s, const Columns<Cost>& part) {
  peer_sets_used_ = 0;
  for (std::size_t g = 0; g < topology_.groups(s); ++g) {
    const auto peer = topology_.group(s, g).peer;
    const bool up = part.ranking != nullptr && part.ranking->up(s, peer);
    const auto used = std::span(peer_sets_).first(peer_sets_used_);
    auto known = std::ranges::find_if(used, [&](const EquivalentPeers& peers) {
      return peers.up == up && equivalents_[peers.members.front().peer] == equivalents_[peer];
    });
    std::size_t at = static_cast<std::size_t>(known - used.begin());
    if (known == used.end()) {
      if (peer_sets_used_ == peer_sets_.size()) peer_sets_.emplace_back();
      at = peer_sets_used_++;
      peer_sets_[at].up = up;
      peer_sets_[at].groups = {};
      peer_sets_[at].members.clear();
    }
    peer_sets_[at].members.push_back({static_cast<std::uint8_t>(g), peer});
    peer_sets_[at].groups.words[g / 64] |= std::uint64_t{1} << (g % 64);
  }
}

template <std::unsigned_integral Cost>
void NextHops<Cost>::mark(const Columns<Cost>& part) {
  const std::size_t n = part.destinations.size();
  words_ = (n + 63) / 64;
  bits_.resize(words_ * peer_sets_used_);
  edges_.assign(words_, 0);
  for (std::size_t k = 0; k < peer_sets_used_; ++k) {
    const auto& peers = peer_sets_[k];
    const Cost* const row = part.costs->row(peers.members.front().peer).data();
    const Cost* const target = (peers.up ? up_target_ : down_target_).data();
    const Cost mask = peers.up ? Costs<Cost>::kLength : Costs<Cost>::kUnreachable;
    auto* const bits = bits_.data() + k * words_;
    std::uint64_t before = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      const std::size_t at = w * 64;
      bits[w] = at + 64 <= n ? matches_of_64(row + at, mask, target + at)
                             : matches(row + at, mask, target + at, n - at);
      edges_[w] |= bits[w] ^ (bits[w] << 1 | before);
      before = bits[w] >> 63;
    }
  }
}

template <std::unsigned_integral Cost>
bool NextHops<Cost>::nearer(const Columns<Cost>& part, const EquivalentPeers& peers, SwitchIndex peer,
                            std::size_t column) const {
  const Cost cost = part.costs->row(peer)[column];
  return peers.up ? static_cast<Cost>(cost & Costs<Cost>::kLength) == up_target_[column]
                  : cost == down_target_[column];
}

template <std::unsigned_integral Cost>
GroupSet NextHops<Cost>::set_at(const Odd& odd, const Columns<Cost>& part) const {
  GroupSet set;
  for (std::size_t k = 0; k < peer_sets_used_; ++k) {
    const bool all = (bits_[k * words_ + odd.column / 64] >> (odd.column % 64) & 1U) != 0;
    if (all && k != odd.peer_set) set |= peer_sets_[k].groups;
  }
  // All its equivalent peers but the one itself are equally far from it.
  const auto& peers = peer_sets_[odd.peer_set];
  const auto& member = peers.members[odd.member];
  if (nearer(part, peers, peers.members[odd.member == 0 ? 1 : 0].peer, odd.column)) set |= peers.groups;
  const auto bit = std::uint64_t{1} << (member.group % 64);
  auto& word = set.words[member.group / 64];
  word = nearer(part, peers, member.peer, odd.column) ? word | bit : word & ~bit;
  return set;
}

template <std::unsigned_integral Cost>
void NextHops<Cost>::emit(const Columns<Cost>& part, std::uint32_t first) {
  const auto n = static_cast<std::uint32_t>(part.destinations.size());
  odd_.clear();
  const auto edge = [&](std::uint32_t column) {
    if (column < n) edges_[column / 64] |= std::uint64_t{1} << (column % 64);
  };
  for (std::uint32_t k = 0; k < peer_sets_used_; ++k) {
    const auto& members = peer_sets_[k].members;
    for (std::uint32_t m = 0; members.size() > 1 && m < members.size(); ++m) {
      const auto column = column_of_[members[m].peer];
      if (column < first || column - first >= n) continue;
      odd_.push_back({column - first, k, m});
      edge(column - first);
      edge(column - first + 1);
    }
  }
  std::ranges::sort(odd_, {}, &Odd::column);
  edge(0);
  const std::size_t before = segments_.size();
  auto next_odd = odd_.begin();
  for (std::size_t w = 0; w < words_; ++w) {
    const auto here = segments_.size();
    emit_word(w, n, first, segments_.size() != before);
    for (; next_odd != odd_.end() && next_odd->column / 64 == w; ++next_odd) {
      const auto until = edges_[w] & ((std::uint64_t{1} << (next_odd->column % 64)) - 1);
      segments_[here + static_cast<std::size_t>(std::popcount(until))].set = set_at(*next_odd, part);
    }
  }
  if (segments_.size() != before) segments_.back().end = first + n;
}

/// Emits the segments that begin at the edges of one word; each neighbour adds itself to those that it is
/// nearer to.
template <std::unsigned_integral Cost>
void NextHops<Cost>::emit_word(std::size_t w, std::uint32_t columns, std::uint32_t first, bool ends_one) {
  if (columns < (w + 1) * 64) edges_[w] &= (std::uint64_t{1} << (columns % 64)) - 1;
  const auto here = segments_.size();
  std::array<std::uint8_t, 64> place;
  std::uint8_t count = 0;
  for (auto word = edges_[w]; word != 0; word &= word - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
    if (ends_one || count != 0) segments_.back().end = first + static_cast<std::uint32_t>(w * 64) + bit;
    segments_.emplace_back();
    place[bit] = count++;
  }
  if (count == 0) return;
  for (std::size_t k = 0; k < peer_sets_used_; ++k) {
    for (auto word = bits_[k * words_ + w] & edges_[w]; word != 0; word &= word - 1) {
      segments_[here + place[static_cast<std::size_t>(std::countr_zero(word))]].set |= peer_sets_[k].groups;
    }
  }
}

template <std::unsigned_integral Cost>
GroupSet NextHops<Cost>::towards(SwitchIndex s, SwitchIndex destination) const {
  using C = Costs<Cost>;
  GroupSet set;
  std::size_t column = column_of_[destination];
  if (column == kNoColumn) return set;
  for (const auto& part : parts_) {
    if (column >= part.destinations.size()) {
      column -= part.destinations.size();
      continue;
    }
    const Cost own = part.costs->row(s)[column];
    if (own == C::kUnreachable || own == 0) return set;
    const bool goes_up = own >= C::kGoesUp;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto peer = topology_.group(s, g).peer;
      const bool up = part.ranking != nullptr && part.ranking->up(s, peer);
      const Cost theirs = part.costs->row(peer)[column];
      const bool near =
          up ? goes_up && C::length(theirs) + 1 == C::length(own) : !goes_up && theirs + 1U == own;
      if (near) set.words[g / 64] |= std::uint64_t{1} << (g % 64);
    }
    return set;
  }
  return set;
}

template class NextHops<std::uint8_t>;
template class NextHops<std::uint16_t>;

}  // namespace smd::routing::inline engines
