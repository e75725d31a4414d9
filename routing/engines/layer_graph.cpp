// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/layer_graph.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace smd::routing::inline engines {
namespace {

std::size_t words_of(const ChannelNet& net) {
  std::size_t most = 0;
  for (SwitchIndex s = 0; s < net.switches(); ++s) most = std::max(most, net.degree(s));
  return most / 64 + 1;
}

}  // namespace

LayerGraph::LayerGraph(const ChannelNet& net)
    : net_(net),
      words_(words_of(net)),
      after_(net.size() * words_),
      before_(net.size() * words_),
      held_(net.pairs() / 64 + 1),
      closing_(net.pairs() / 64 + 1),
      order_(net.size()),
      seen_(net.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
}

template <class Fn>
void LayerGraph::for_each_after(NetChannel c, const Fn& fn) const {
  const auto base = net_.first(net_.head(c));
  for (std::size_t w = 0; w < words_; ++w) {
    for (auto bits = after_[c * words_ + w]; bits != 0; bits &= bits - 1) {
      fn(static_cast<NetChannel>(base + w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

template <class Fn>
void LayerGraph::for_each_before(NetChannel c, const Fn& fn) const {
  const auto base = net_.first(net_.head(net_.reverse(c)));
  for (std::size_t w = 0; w < words_; ++w) {
    for (auto bits = before_[c * words_ + w]; bits != 0; bits &= bits - 1) {
      fn(net_.reverse(
          static_cast<NetChannel>(base + w * 64 + static_cast<std::size_t>(std::countr_zero(bits)))));
    }
  }
}

void LayerGraph::link(const ChannelPair& pair) {
  const auto out = pair.to - net_.first(net_.head(pair.from));
  const auto in = net_.reverse(pair.from) - net_.first(net_.head(pair.from));
  after_[pair.from * words_ + out / 64] |= std::uint64_t{1} << (out % 64);
  before_[pair.to * words_ + in / 64] |= std::uint64_t{1} << (in % 64);
  held_[pair.index / 64] |= std::uint64_t{1} << (pair.index % 64);
}

void LayerGraph::unlink(const ChannelPair& pair) {
  const auto out = pair.to - net_.first(net_.head(pair.from));
  const auto in = net_.reverse(pair.from) - net_.first(net_.head(pair.from));
  after_[pair.from * words_ + out / 64] &= ~(std::uint64_t{1} << (out % 64));
  before_[pair.to * words_ + in / 64] &= ~(std::uint64_t{1} << (in % 64));
  held_[pair.index / 64] &= ~(std::uint64_t{1} << (pair.index % 64));
}

bool LayerGraph::add(std::span<const ChannelPair> dependencies) {
  for (const auto& pair : dependencies) {
    if (closing(pair.index)) return false;
  }
  added_.clear();
  for (const auto& pair : dependencies) {
    if (held(pair.index)) continue;
    if (insert(pair)) {
      link(pair);
      added_.push_back(pair);
      continue;
    }
    for (const auto& other : added_) unlink(other);
    // What it closes without the others of this pair of paths it always will: it is not tried again.
    const bool alone = added_.empty() || (order_[pair.from] > order_[pair.to] && reaches(pair.to, pair.from));
    if (alone) closing_[pair.index / 64] |= std::uint64_t{1} << (pair.index % 64);
    return false;
  }
  return true;
}

/// Makes the order right for a new dependency; false if it would close a cycle.
bool LayerGraph::insert(const ChannelPair& pair) {
  if (order_[pair.from] < order_[pair.to]) return true;
  if (reaches(pair.to, pair.from)) return false;
  collect_before(pair.from, order_[pair.to]);
  reorder();
  return true;
}

/// Collects in ahead_ what `from` leads to, up to the place of `to`.
bool LayerGraph::reaches(NetChannel from, NetChannel to) {
  ++search_;
  ahead_.assign(1, from);
  seen_[from] = search_;
  const auto highest = order_[to];
  bool found = from == to;
  for (std::size_t at = 0; at < ahead_.size() && !found; ++at) {
    for_each_after(ahead_[at], [&](NetChannel next) {
      found = found || next == to;
      if (order_[next] >= highest || seen_[next] == search_) return;
      seen_[next] = search_;
      ahead_.push_back(next);
    });
  }
  return found;
}

void LayerGraph::collect_before(NetChannel from, std::uint32_t lowest) {
  behind_.assign(1, from);
  seen_[from] = search_;
  for (std::size_t at = 0; at < behind_.size(); ++at) {
    for_each_before(behind_[at], [&](NetChannel previous) {
      if (order_[previous] <= lowest || seen_[previous] == search_) return;
      seen_[previous] = search_;
      behind_.push_back(previous);
    });
  }
}

/// behind_ comes before ahead_, in the places that both have.
void LayerGraph::reorder() {
  const auto place = [&](NetChannel c) { return order_[c]; };
  std::ranges::sort(behind_, {}, place);
  std::ranges::sort(ahead_, {}, place);
  places_.clear();
  for (const auto c : behind_) places_.push_back(order_[c]);
  for (const auto c : ahead_) places_.push_back(order_[c]);
  std::ranges::sort(places_);
  std::size_t at = 0;
  for (const auto c : behind_) order_[c] = places_[at++];
  for (const auto c : ahead_) order_[c] = places_[at++];
}

}  // namespace smd::routing::inline engines
