// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/repair_row.h"

#include <algorithm>

namespace smd::routing::inline repair {

template <std::unsigned_integral Cost>
RowRepairer<Cost>::RowRepairer(const Topology& topology, const LidMap& lids, const SwitchRanking& ranking,
                               const Costs<Cost>& costs, std::span<const LidRun> runs,
                               std::span<const SwitchIndex> equivalents)
    : topology_(topology),
      lids_(lids),
      ranking_(ranking),
      costs_(costs),
      runs_(runs),
      equivalents_(equivalents),
      entry_repairer_(topology, lids, costs, runs) {
  for (auto& word : legal_) word.resize(topology.switches());
}

/// Down where possible, to a switch that goes on down; else up to a switch with a path.
template <std::unsigned_integral Cost>
bool RowRepairer<Cost>::leads(Cost own, Cost theirs, bool up) const {
  using C = Costs<Cost>;
  return up ? own >= C::kGoesUp && theirs != C::kUnreachable : own < C::kGoesUp && theirs < C::kGoesUp;
}

template <std::unsigned_integral Cost>
void RowRepairer<Cost>::find_legal(SwitchIndex s) {
  words_ = (topology_.groups(s) + 63) / 64;
  for (std::size_t w = 0; w < words_; ++w) std::ranges::fill(legal_[w], std::uint64_t{0});
  peer_sets_.clear();
  group_of_.fill(kNoGroup);
  for (std::size_t g = 0; g < topology_.groups(s); ++g) {
    const auto group = topology_.group(s, g);
    const bool up = ranking_.up(s, group.peer);
    auto known = std::ranges::find_if(peer_sets_, [&](const EquivalentPeers& peers) {
      return peers.up == up && equivalents_[peers.first] == equivalents_[group.peer];
    });
    if (known == peer_sets_.end()) known = peer_sets_.insert(known, EquivalentPeers{group.peer, up, {}});
    known->groups.words[g / 64] |= std::uint64_t{1} << (g % 64);
    for (const auto port : group.ports) group_of_[port.value()] = static_cast<std::uint8_t>(g);
  }
  for (const auto& peers : peer_sets_) mark(s, peers);
  // Equivalent switches differ in their distance from each other.
  const auto own = costs_.row(s);
  for (std::size_t g = 0; g < topology_.groups(s); ++g) {
    const auto peer = topology_.group(s, g).peer;
    const bool up = ranking_.up(s, peer);
    const auto peers = std::ranges::find_if(peer_sets_, [&](const EquivalentPeers& k) {
      return k.up == up && equivalents_[k.first] == equivalents_[peer];
    });
    if (peers->first == peer) continue;
    for (const auto column : {peer, peers->first}) {
      const auto bit = std::uint64_t{1} << (g % 64);
      auto& word = legal_[g / 64][column];
      word = leads(own[column], costs_.row(peer)[column], up) ? word | bit : word & ~bit;
    }
  }
}

template <std::unsigned_integral Cost>
void RowRepairer<Cost>::mark(SwitchIndex s, const EquivalentPeers& peers) {
  using C = Costs<Cost>;
  const auto own = costs_.row(s), theirs = costs_.row(peers.first);
  for (std::size_t w = 0; w < words_; ++w) {
    const auto groups = peers.groups.words[w];
    if (groups == 0) continue;
    auto* const word = legal_[w].data();
    if (peers.up) {
      for (std::size_t c = 0; c < own.size(); ++c) {
        word[c] |= own[c] >= C::kGoesUp && theirs[c] != C::kUnreachable ? groups : 0;
      }
    } else {
      for (std::size_t c = 0; c < own.size(); ++c) {
        word[c] |= own[c] < C::kGoesUp && theirs[c] < C::kGoesUp ? groups : 0;
      }
    }
  }
}

template <std::unsigned_integral Cost>
GroupSet RowRepairer<Cost>::legal(SwitchIndex destination) const {
  GroupSet set;
  for (std::size_t w = 0; w < words_; ++w) set.words[w] = legal_[w][destination];
  return set;
}

template <std::unsigned_integral Cost>
void RowRepairer<Cost>::find_broken(SwitchIndex s, const LftRow& row) {
  broken_.clear();
  std::array<std::uint8_t, 256> bad;
  GroupSet last;
  bool fresh = true;
  for (const auto& run : runs_) {
    const bool own = run.destination == s;
    const auto set = own ? GroupSet{} : legal(run.destination);
    if (own) {
      for (std::uint32_t i = 0; i < run.length; ++i) {
        const auto lid = static_cast<std::uint16_t>(run.lid + i);
        if (row[lid] != lids_.destination(Lid{lid}).port.value()) broken_.push_back({lid, 0, run.kind, s});
      }
      continue;
    }
    if (run.length == 1) {
      const auto port = row[run.lid];
      const auto g = group_of_[port];
      const bool good =
          port == kNoRoute ? set.empty() : g != kNoGroup && (set.words[g / 64U] >> (g % 64U) & 1U) != 0;
      if (!good) broken_.push_back({run.lid, run.number, run.kind, run.destination});
      continue;
    }
    if (fresh || !(set == last)) {
      bad.fill(1);
      bad[kNoRoute] = set.empty() ? 0 : 1;
      for (std::size_t g = 0; g < topology_.groups(s); ++g) {
        if ((set.words[g / 64] >> (g % 64) & 1U) == 0) continue;
        for (const auto port : topology_.group(s, g).ports) bad[port.value()] = 0;
      }
      last = set;
      fresh = false;
    }
    const auto entries = std::span(row).subspan(run.lid, run.length);
    std::uint8_t any = 0;
    for (const auto port : entries) any |= bad[port];
    if (any == 0) continue;
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      if (bad[entries[i]] == 0) continue;
      broken_.push_back({static_cast<std::uint16_t>(run.lid + i), run.number + i, run.kind, run.destination});
    }
  }
}

template <std::unsigned_integral Cost>
RepairedRow RowRepairer<Cost>::repair(SwitchIndex s, const std::shared_ptr<const LftRow>& old) {
  RepairedRow result{old, 0, 0, 0};
  std::shared_ptr<LftRow> row;
  if (old == nullptr || old->size() != lids_.row_size()) {
    row = old != nullptr ? std::make_shared<LftRow>(*old) : std::make_shared<LftRow>();
    row->resize(lids_.row_size(), kNoRoute);
    result.row = row;
  }
  find_legal(s);
  find_broken(s, *result.row);
  if (broken_.empty()) return result;
  if (row == nullptr) row = std::make_shared<LftRow>(*old);
  entry_repairer_.replace(s, broken_, [this](SwitchIndex to) { return legal(to); }, *row, result);
  result.row = std::move(row);
  return result;
}

template class RowRepairer<std::uint8_t>;
template class RowRepairer<std::uint16_t>;

}  // namespace smd::routing::inline repair
