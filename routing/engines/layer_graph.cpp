// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/layer_graph.h"

#include <algorithm>
#include <bit>

namespace smd::routing::inline engines {
namespace {

std::size_t words_of(const ChannelNet& net) {
  std::size_t most = 0;
  for (SwitchIndex s = 0; s < net.switches(); ++s) most = std::max(most, net.degree(s));
  return most / 64 + 1;
}

}  // namespace

LayerGraph::LayerGraph(const ChannelNet& net)
    : net_(&net),
      words_(words_of(net)),
      after_(net.size() * words_),
      before_(net.size() * words_),
      held_(net.pairs() / 64 + 1),
      closing_(net.pairs() / 64 + 1),
      order_(net.size()) {}

template <class Fn>
void LayerGraph::for_each_after(NetChannel c, const Fn& fn) const {
  const auto base = net_->first(net_->head(c));
  for (std::size_t w = 0; w < words_; ++w) {
    for (auto bits = after_[c * words_ + w]; bits != 0; bits &= bits - 1) {
      fn(static_cast<NetChannel>(base + w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

template <class Fn>
void LayerGraph::for_each_before(NetChannel c, const Fn& fn) const {
  const auto base = net_->first(net_->head(net_->reverse(c)));
  for (std::size_t w = 0; w < words_; ++w) {
    for (auto bits = before_[c * words_ + w]; bits != 0; bits &= bits - 1) {
      fn(net_->reverse(
          static_cast<NetChannel>(base + w * 64 + static_cast<std::size_t>(std::countr_zero(bits)))));
    }
  }
}

void LayerGraph::link(const ChannelPair& pair) {
  const auto out = pair.to - net_->first(net_->head(pair.from));
  const auto in = net_->reverse(pair.from) - net_->first(net_->head(pair.from));
  after_[pair.from * words_ + out / 64] |= std::uint64_t{1} << (out % 64);
  before_[pair.to * words_ + in / 64] |= std::uint64_t{1} << (in % 64);
  held_[pair.index / 64] |= std::uint64_t{1} << (pair.index % 64);
}

void LayerGraph::unlink(const ChannelPair& pair) {
  const auto out = pair.to - net_->first(net_->head(pair.from));
  const auto in = net_->reverse(pair.from) - net_->first(net_->head(pair.from));
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
    const bool alone = added_.empty() || leads(pair.to, pair.from);
    if (alone) closing_[pair.index / 64] |= std::uint64_t{1} << (pair.index % 64);
    return false;
  }
  return true;
}

/// Makes the order right for a new dependency; false if it would close a cycle.
bool LayerGraph::insert(const ChannelPair& pair) {
  return order_.insert(
      pair.from, pair.to, [this](NetChannel c, const auto& fn) { for_each_after(c, fn); },
      [this](NetChannel c, const auto& fn) { for_each_before(c, fn); });
}

bool LayerGraph::leads(NetChannel from, NetChannel to) {
  return order_.leads(
      from, to, [this](NetChannel c, const auto& fn) { for_each_after(c, fn); },
      [this](NetChannel c, const auto& fn) { for_each_before(c, fn); });
}

}  // namespace smd::routing::inline engines
