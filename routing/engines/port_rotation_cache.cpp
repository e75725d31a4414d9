// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/port_rotation_cache.h"

#include <algorithm>

namespace smd::routing::inline engines {
namespace {

/// Minimum size. The size is a power of two, and at most half of the table is full.
constexpr std::size_t kSmallestTable = 64;
}  // namespace

void PortRotationCache::begin(const Topology& topology, SwitchIndex s) {
  topology_ = &topology;
  switch_ = s;
  in_turns_ = false;
  ranking_ = nullptr;
  substituted_ = false;
  count_ = 0;
  if (table_.empty()) table_.resize(kSmallestTable);
  std::ranges::fill(table_, kNotYet);
}

void PortRotationCache::begin(const Topology& topology, SwitchIndex s, const DmodkIndex& index) {
  begin(topology, s);
  index_ = index;
  in_turns_ = true;
}

void PortRotationCache::begin(const Topology& topology, SwitchIndex s, const DmodkIndex& index,
                              const SwitchRanking& ranking, const TreeTemplate& tree_template) {
  begin(topology, s, index);
  ranking_ = &ranking;
  rotation_ = std::size_t{tree_template.place[s]} + tree_template.group_of[s];
  round_robin_ = uplink_round_robin(topology, ranking, tree_template, s);
  shared_ = tree_template.of(s).shared;
  to_generation_.clear();
  for (const auto& peers : shared_)
    to_generation_.push_back(uplink_round_robin(topology, ranking, tree_template, s, peers));
}

/// Leaves of a generation with other uplinks are reached by those that both have.
const RoundRobin& PortRotationCache::round_robin_for(const GroupSet& set) const {
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    bool all = true;
    for (std::size_t g = 0; all && g < topology_->groups(switch_); ++g) {
      if ((set.words[g / 64] >> (g % 64) & 1U) != 0)
        all = std::ranges::binary_search(shared_[i], topology_->group(switch_, g).peer);
    }
    if (all) return to_generation_[i];
  }
  return round_robin_;
}

/// The slot of the set, or the free one where it belongs.
std::size_t PortRotationCache::slot(const GroupSet& set) const {
  std::uint64_t hash = 0;
  for (const auto word : set.words) hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  const auto mask = table_.size() - 1;
  auto at = static_cast<std::size_t>(hash >> 32) & mask;
  while (table_[at] != kNotYet && !(cached_[table_[at]].set == set)) at = (at + 1) & mask;
  return at;
}

PortRotationCache::Pick PortRotationCache::find(const GroupSet& set) {
  auto at = slot(set);
  if (table_[at] != kNotYet) return table_[at];
  if ((count_ + 1) * 2 > table_.size()) {
    grow();
    at = slot(set);
  }
  if (count_ == cached_.size()) cached_.emplace_back();
  auto& made = cached_[count_];
  made.set = set;
  make(set, made.candidates);
  return table_[at] = static_cast<Pick>(count_++);
}

void PortRotationCache::grow() {
  table_.assign(table_.size() * 2, kNotYet);
  for (Pick i = 0; i < count_; ++i) table_[slot(cached_[i].set)] = i;
}

void PortRotationCache::make(const GroupSet& set, Candidates& candidates) {
  if (ranking_ != nullptr && ranking_->up(switch_, topology_->group(switch_, first_group(set)).peer)) {
    if (candidates.reset(*topology_, switch_, set, round_robin_for(set), rotation_, index_.divider))
      substituted_ = true;
  } else if (in_turns_) {
    candidates.reset(*topology_, switch_, set, index_.divider);
  } else {
    candidates.reset(*topology_, switch_, set);
  }
}

}  // namespace smd::routing::inline engines
