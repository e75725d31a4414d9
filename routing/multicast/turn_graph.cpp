// SPDX-License-Identifier: Apache-2.0
#include "routing/multicast/turn_graph.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace smd::routing::inline multicast {
namespace {

constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

McTurnVls vls_of(const Topology& topology, const VlMap& vls, const McTurn& turn) {
  if (!vls.by_port()) return {};
  const auto from = topology.peer(turn.at, turn.in);
  const bool turned =
      vls.indexes() == VlMap::kWithTurns && vls.dimension(from.sw, from.port) != VlMap::kNoDimension;
  return {.before = turned ? 0b101U : 0b1U, .after = vls.vl(turn.at, turn.in, turn.out, 0)};
}

TurnGraph::TurnGraph(const Topology& topology, const VlMap& vls, std::vector<std::uint64_t> waits,
                     std::vector<std::uint32_t> places)
    : topology_(&topology),
      map_(&vls),
      vls_(vls.by_port() ? vls.indexes() : 1U),
      words_(waits.size() / std::max<std::size_t>(1, topology.channels() * vls_)),
      waits_(std::move(waits)),
      tail_(topology.channels()),
      first_(topology.channels(), kNone),
      order_(std::move(places)) {
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 0; p <= topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto channel = topology.channel(s, port);
      const auto next = topology.peer(s, port).sw;
      tail_[channel] = s;
      if (next != kNoSwitch)
        first_[channel] = static_cast<std::uint32_t>(topology.channel(next, PortNum{0}) * vls_);
    }
  }
}

template <class Fn>
void TurnGraph::for_each_after(Node node, const Fn& fn) const {
  const auto base = first_[node / vls_];
  if (base == kNone) return;
  for (std::size_t w = 0; w < words_; ++w) {
    for (auto bits = waits_[node * words_ + w]; bits != 0; bits &= bits - 1)
      fn(static_cast<Node>(base + w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
  }
}

template <class Fn>
void TurnGraph::for_each_before(Node node, const Fn& fn) const {
  const auto s = tail_[node / vls_];
  const auto bit = node - topology_->channel(s, PortNum{0}) * vls_;
  for (unsigned p = 1; p <= topology_->ports(s); ++p) {
    const auto peer = topology_->peer(s, PortNum{static_cast<std::uint8_t>(p)});
    if (peer.sw == kNoSwitch) continue;
    const auto previous = static_cast<Node>(topology_->channel(peer.sw, peer.port) * vls_);
    for (Node vl = 0; vl < vls_; ++vl) {
      if (waits(previous + vl, bit)) fn(previous + vl);
    }
  }
}

bool TurnGraph::insert(const Edge& edge) {
  if (waits(edge.from, edge.bit)) return true;
  const bool fits = order_.insert(
      edge.from, edge.to, [this](Node node, const auto& fn) { for_each_after(node, fn); },
      [this](Node node, const auto& fn) { for_each_before(node, fn); });
  if (!fits) return false;
  waits_[edge.from * words_ + edge.bit / 64] |= std::uint64_t{1} << edge.bit % 64;
  added_.push_back(edge);
  return true;
}

bool TurnGraph::add(std::span<const McTurn> turns) {
  added_.clear();
  for (const auto& turn : turns) {
    const auto from = topology_->peer(turn.at, turn.in);
    const auto vls = vls_of(*topology_, *map_, turn);
    const auto bit = turn.out.value() * vls_ + vls.after;
    const auto to = static_cast<Node>(topology_->channel(turn.at, PortNum{0}) * vls_ + bit);
    for (unsigned vl = 0; vl < vls_; ++vl) {
      if ((vls.before >> vl & 1U) == 0) continue;
      const auto node = static_cast<Node>(topology_->channel(from.sw, from.port) * vls_ + vl);
      if (insert({node, to, bit})) continue;
      for (const auto& edge : added_)
        waits_[edge.from * words_ + edge.bit / 64] &= ~(std::uint64_t{1} << edge.bit % 64);
      return false;
    }
  }
  return true;
}

}  // namespace smd::routing::inline multicast
