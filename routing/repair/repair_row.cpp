// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/repair_row.h"

#include <algorithm>

namespace smd::routing {

template <std::unsigned_integral Cost>
Mender<Cost>::Mender(const Topology& topology, const LidMap& lids, const Order& order,
                     const Costs<Cost>& costs, std::span<const Run> runs, std::span<const SwitchIndex> twins)
    : topology_(topology),
      lids_(lids),
      order_(order),
      costs_(costs),
      runs_(runs),
      twins_(twins),
      replacer_(topology, lids, costs, runs) {
  for (auto& word : legal_) word.resize(topology.switches());
}

/// Down where that is possible at all, to a switch that goes on down; else up to one that has a path.
template <std::unsigned_integral Cost>
bool Mender<Cost>::leads(Cost own, Cost theirs, bool up) const {
  using C = Costs<Cost>;
  return up ? own >= C::kGoesUp && theirs != C::kUnreachable : own < C::kGoesUp && theirs < C::kGoesUp;
}

template <std::unsigned_integral Cost>
void Mender<Cost>::find_legal(SwitchIndex s) {
  words_ = (topology_.groups(s) + 63) / 64;
  for (std::size_t w = 0; w < words_; ++w) std::ranges::fill(legal_[w], std::uint64_t{0});
  kins_.clear();
  group_of_.fill(kNoGroup);
  for (std::size_t g = 0; g < topology_.groups(s); ++g) {
    const auto group = topology_.group(s, g);
    const bool up = order_.up(s, group.peer);
    auto known = std::ranges::find_if(
        kins_, [&](const Kin& kin) { return kin.up == up && twins_[kin.first] == twins_[group.peer]; });
    if (known == kins_.end()) known = kins_.insert(known, Kin{group.peer, up, {}});
    known->groups.words[g / 64] |= std::uint64_t{1} << (g % 64);
    for (const auto port : group.ports) group_of_[port.value()] = static_cast<std::uint8_t>(g);
  }
  for (const auto& kin : kins_) mark(s, kin);
  // Twins differ in how far they are from each other.
  const auto own = costs_.row(s);
  for (std::size_t g = 0; g < topology_.groups(s); ++g) {
    const auto peer = topology_.group(s, g).peer;
    const bool up = order_.up(s, peer);
    const auto kin = std::ranges::find_if(
        kins_, [&](const Kin& k) { return k.up == up && twins_[k.first] == twins_[peer]; });
    if (kin->first == peer) continue;
    for (const auto column : {peer, kin->first}) {
      const auto bit = std::uint64_t{1} << (g % 64);
      auto& word = legal_[g / 64][column];
      word = leads(own[column], costs_.row(peer)[column], up) ? word | bit : word & ~bit;
    }
  }
}

template <std::unsigned_integral Cost>
void Mender<Cost>::mark(SwitchIndex s, const Kin& kin) {
  using C = Costs<Cost>;
  const auto own = costs_.row(s), theirs = costs_.row(kin.first);
  for (std::size_t w = 0; w < words_; ++w) {
    const auto groups = kin.groups.words[w];
    if (groups == 0) continue;
    auto* const word = legal_[w].data();
    if (kin.up) {
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
GroupSet Mender<Cost>::legal(SwitchIndex destination) const {
  GroupSet set;
  for (std::size_t w = 0; w < words_; ++w) set.words[w] = legal_[w][destination];
  return set;
}

template <std::unsigned_integral Cost>
void Mender<Cost>::find_wrong(SwitchIndex s, const LftRow& row) {
  wrong_.clear();
  std::array<std::uint8_t, 256> bad;
  GroupSet last;
  bool fresh = true;
  for (const auto& run : runs_) {
    const bool own = run.destination == s;
    const auto set = own ? GroupSet{} : legal(run.destination);
    if (own) {
      for (std::uint32_t i = 0; i < run.length; ++i) {
        const auto lid = static_cast<std::uint16_t>(run.lid + i);
        if (row[lid] != lids_.destination(Lid{lid}).port.value())
          wrong_.push_back({lid, 0, run.of_switch, s});
      }
      continue;
    }
    if (run.length == 1) {
      const auto port = row[run.lid];
      const auto g = group_of_[port];
      const bool good =
          port == kNoRoute ? set.empty() : g != kNoGroup && (set.words[g / 64U] >> (g % 64U) & 1U) != 0;
      if (!good) wrong_.push_back({run.lid, run.number, run.of_switch, run.destination});
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
      wrong_.push_back(
          {static_cast<std::uint16_t>(run.lid + i), run.number + i, run.of_switch, run.destination});
    }
  }
}

template <std::unsigned_integral Cost>
Mended Mender<Cost>::mend(SwitchIndex s, const std::shared_ptr<const LftRow>& old) {
  Mended result{old, 0, 0, 0};
  std::shared_ptr<LftRow> row;
  if (old == nullptr || old->size() != lids_.row_size()) {
    row = old != nullptr ? std::make_shared<LftRow>(*old) : std::make_shared<LftRow>();
    row->resize(lids_.row_size(), kNoRoute);
    result.row = row;
  }
  find_legal(s);
  find_wrong(s, *result.row);
  if (wrong_.empty()) return result;
  if (row == nullptr) row = std::make_shared<LftRow>(*old);
  replacer_.replace(s, wrong_, [this](SwitchIndex to) { return legal(to); }, *row, result);
  result.row = std::move(row);
  return result;
}

template class Mender<std::uint8_t>;
template class Mender<std::uint16_t>;

}  // namespace smd::routing
