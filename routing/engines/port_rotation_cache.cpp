// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/port_rotation_cache.h"

#include <algorithm>

namespace smd::routing {
namespace {

/// At least; always a power of two, and never more than half full.
constexpr std::size_t kSmallestTable = 64;
}  // namespace

void Patterns::begin(const Topology& topology, SwitchIndex s) {
  topology_ = &topology;
  switch_ = s;
  in_turns_ = false;
  order_ = nullptr;
  made_up_ = false;
  count_ = 0;
  if (table_.empty()) table_.resize(kSmallestTable);
  std::ranges::fill(table_, kNotYet);
}

void Patterns::begin(const Topology& topology, SwitchIndex s, const Step& step) {
  begin(topology, s);
  step_ = step;
  in_turns_ = true;
}

void Patterns::begin(const Topology& topology, SwitchIndex s, const Step& step, const Order& order,
                     const Shape& shape) {
  begin(topology, s, step);
  order_ = &order;
  rotation_ = std::size_t{shape.place[s]} + shape.family[s];
  turns_ = turns_upwards(topology, order, shape, s);
}

/// Where the set is, or would go.
std::size_t Patterns::slot(const GroupSet& set) const {
  std::uint64_t hash = 0;
  for (const auto word : set.words) hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  const auto mask = table_.size() - 1;
  auto at = static_cast<std::size_t>(hash >> 32) & mask;
  while (table_[at] != kNotYet && !(made_[table_[at]].set == set)) at = (at + 1) & mask;
  return at;
}

Patterns::Pick Patterns::find(const GroupSet& set) {
  auto at = slot(set);
  if (table_[at] != kNotYet) return table_[at];
  if ((count_ + 1) * 2 > table_.size()) {
    grow();
    at = slot(set);
  }
  if (count_ == made_.size()) made_.emplace_back();
  auto& made = made_[count_];
  made.set = set;
  make(set, made.candidates);
  return table_[at] = static_cast<Pick>(count_++);
}

void Patterns::grow() {
  table_.assign(table_.size() * 2, kNotYet);
  for (Pick i = 0; i < count_; ++i) table_[slot(made_[i].set)] = i;
}

void Patterns::make(const GroupSet& set, Candidates& candidates) {
  if (order_ != nullptr && order_->up(switch_, topology_->group(switch_, first_group(set)).peer)) {
    if (candidates.reset(*topology_, switch_, set, turns_, rotation_, step_.divider)) made_up_ = true;
  } else if (in_turns_) {
    candidates.reset(*topology_, switch_, set, step_.divider);
  } else {
    candidates.reset(*topology_, switch_, set);
  }
}

}  // namespace smd::routing
