// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/dependencies.h"

#include <algorithm>
#include <bit>

#include "routing/verify/scc.h"

namespace smd::routing::inline verify {
namespace {

/// Number of words with a bit for every VL of every port number of the largest switch.
std::size_t words_for(const Topology& topology, std::size_t vls = 1) {
  unsigned most = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) most = std::max(most, topology.ports(s));
  return (most * vls + vls - 1) / 64 + 1;
}

/// At most so many LIDs are looked up one by one; more of them by the egress sets of the next switch.
constexpr std::size_t kFewLids = 3;

bool at_most_few(LidBits lids) {
  for (std::size_t i = 0; i < kFewLids; ++i) lids &= lids - 1;
  return lids == 0;
}

}  // namespace

Dependencies::Dependencies(const Topology& topology, unsigned vls)
    : topology_(&topology),
      vls_(vls),
      words_(words_for(topology, vls)),
      waits_(topology.channels() * vls_ * words_),
      next_switch_(topology.channels(), kNoSwitch) {
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const auto port = PortNum{static_cast<std::uint8_t>(p)};
      next_switch_[topology.channel(s, port)] = topology.peer(s, port).sw;
    }
  }
}

Dependencies::Dependencies(const Topology& topology, const Topology& before, std::span<const SwitchIndex> was,
                           std::span<const std::uint64_t> waits)
    : Dependencies(topology) {
  const auto words = words_for(before);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto now = topology.peer(s, port).sw, then = before.peer(was[s], port).sw;
      if (now == kNoSwitch || then != was[now]) continue;
      const auto from = waits.subspan(before.channel(was[s], port) * words, words);
      // Fewer words are enough if the largest switches are gone.
      std::copy_n(from.begin(), std::min(words, words_),
                  waits_.begin() + static_cast<std::ptrdiff_t>(topology.channel(s, port) * words_));
    }
  }
}

void Dependencies::add(const Channel& channel, PortNum next) {
  auto* const waits = waits_.data() + topology_->channel(channel.sw, channel.out) * words_;
  waits[next.value() / 64] |= std::uint64_t{1} << (next.value() % 64);
}

std::pair<std::size_t, std::uint64_t> Dependencies::place(const Channel& channel, unsigned vl, PortNum next,
                                                          unsigned next_vl) const {
  const auto waits = (topology_->channel(channel.sw, channel.out) * vls_ + vl) * words_;
  const auto bit = next.value() * vls_ + next_vl;
  return {waits + bit / 64, std::uint64_t{1} << (bit % 64)};
}

void Dependencies::add(const Channel& channel, unsigned vl, PortNum next, unsigned next_vl) {
  const auto [word, bit] = place(channel, vl, next, next_vl);
  waits_[word] |= bit;
}

bool Dependencies::contains(const Channel& channel, unsigned vl, PortNum next, unsigned next_vl) const {
  const auto [word, bit] = place(channel, vl, next, next_vl);
  return (waits_[word] & bit) != 0;
}

void Dependencies::remove(const Channel& channel, unsigned vl, PortNum next, unsigned next_vl) {
  const auto [word, bit] = place(channel, vl, next, next_vl);
  waits_[word] &= ~bit;
}

void Dependencies::add(SwitchIndex s, std::span<const std::uint64_t> waits, std::size_t words) {
  auto* const into = waits_.data() + topology_->channel(s, PortNum{0}) * words_;
  const auto ports = std::min(waits.size() / words, topology_->ports(s) + std::size_t{1});
  if (words == words_) {
    for (std::size_t i = 0; i < ports * words; ++i) into[i] |= waits[i];
    return;
  }
  const auto common = std::min(words, words_);
  for (std::size_t i = 0; i < ports * common; ++i) {
    into[i / common * words_ + i % common] |= waits[i / common * words + i % common];
  }
}

void Dependencies::add(const EgressSets& egress, LidBits lids, const Routes* rows, Lid first,
                       const std::vector<LidBits>* crossing) {
  std::vector<bool> leads(topology_->switches());
  for (SwitchIndex s = 0; s < leads.size(); ++s) {
    if (egress.leader(s) != s) leads[egress.leader(s)] = true;
  }
  if (shared_.empty() && std::ranges::find(leads, true) != leads.end()) shared_.resize(waits_.size());
  for (SwitchIndex s = 0; s < topology_->switches(); ++s) {
    if (egress.leader(s) != s) continue;
    auto& into = leads[s] ? shared_ : waits_;
    for (const auto& set : egress.of(s)) {
      LidBits held = set.lids & lids & egress.forwarded(set.peer);
      if (crossing != nullptr) held &= (*crossing)[s];
      if (held == 0) continue;
      auto* const waits = into.data() + topology_->channel(s, set.out) * words_;
      const auto onwards = egress.of(set.peer);
      const auto wait_for = [&](std::uint8_t port) { waits[port / 64] |= std::uint64_t{1} << (port % 64); };
      if (rows != nullptr && onwards.size() > kFewLids && at_most_few(held)) {
        const auto* const row = rows->rows[set.peer]->data() + first.value();
        for (; held != 0; held &= held - 1) wait_for(row[std::countr_zero(held)]);
      } else if (words_ == 1) {
        std::uint64_t ports = 0;
        for (const auto& onward : onwards) {
          ports |= std::uint64_t{(onward.lids & held) != 0 ? 1U : 0U} << onward.out.value();
        }
        *waits |= ports;
      } else {
        for (const auto& onward : onwards) {
          if ((onward.lids & held) != 0) wait_for(onward.out.value());
        }
      }
    }
  }
}

void Dependencies::merge(const Dependencies& other) {
  for (std::size_t i = 0; i < waits_.size(); ++i) waits_[i] |= other.waits_[i];
  if (shared_.empty()) shared_.resize(other.shared_.size());
  for (std::size_t i = 0; i < other.shared_.size(); ++i) shared_[i] |= other.shared_[i];
}

void Dependencies::share(std::span<const SwitchIndex> equivalents) {
  if (shared_.empty()) return;
  for (SwitchIndex s = 0; s < equivalents.size(); ++s) {
    const auto from = topology_->channel(equivalents[s], PortNum{0}) * words_;
    const auto to = topology_->channel(s, PortNum{0}) * words_;
    const auto count = (topology_->ports(s) + std::size_t{1}) * words_;
    for (std::size_t i = 0; i < count; ++i) waits_[to + i] |= shared_[from + i];
  }
  shared_.clear();
}

template <class Fn>
void Dependencies::for_each_next(std::size_t channel, const Fn& fn) const {
  const auto next = next_switch_[channel / vls_];
  if (next == kNoSwitch) return;
  const auto base = topology_->channel(next, PortNum{0}) * vls_;
  const auto words = waits_of(channel);
  for (std::size_t w = 0; w < words_; ++w) {
    for (auto word = words[w]; word != 0; word &= word - 1) {
      fn(base + w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    }
  }
}

/// Removes channels that nothing waits for, repeatedly (Kahn); the remaining ones are marked 1. Numbers them
/// in `order` unless null.
std::vector<std::uint8_t> Dependencies::in_cycles_or_between(std::vector<std::uint32_t>* order) const {
  const std::size_t n = next_switch_.size() * vls_;
  std::vector<std::uint32_t> waiters(n);
  for (std::size_t c = 0; c < n; ++c) {
    for_each_next(c, [&](std::size_t next) { ++waiters[next]; });
  }
  std::vector<std::uint8_t> left(n, 1);
  std::vector<std::size_t> idle;
  idle.reserve(n);
  for (std::size_t c = 0; c < n; ++c) {
    if (waiters[c] == 0) idle.push_back(c);
  }
  // First in, first out: numbers ascend with the longest path to the channel, so that other paths through the
  // same levels of a tree mostly follow them too.
  for (std::size_t taken = 0; taken < idle.size(); ++taken) {
    const auto c = idle[taken];
    left[c] = 0;
    if (order != nullptr) (*order)[c] = static_cast<std::uint32_t>(taken);
    for_each_next(c, [&](std::size_t next) {
      if (--waiters[next] == 0) idle.push_back(next);
    });
  }
  return left;
}

bool Dependencies::any_cycle() const {
  const auto left = in_cycles_or_between();
  return std::ranges::find(left, 1) != left.end();
}

std::vector<std::size_t> Dependencies::groups() const {
  return scc_numbers(next_switch_.size() * vls_,
                     [&](std::size_t c, const auto& fn) { for_each_next(c, fn); });
}

Dependencies::Cycles Dependencies::cycles() const {
  Cycles found;
  found.order.resize(next_switch_.size() * vls_);
  const auto left = in_cycles_or_between(&found.order);
  if (std::ranges::find(left, 1) == left.end()) return found;
  found.order.clear();
  const auto groups = strongly_connected_components(left.size(), [&](std::size_t c, const auto& fn) {
    if (left[c] == 0) return;
    for_each_next(c, [&](std::size_t next) {
      if (left[next] != 0) fn(next);
    });
  });
  for (const auto& group : groups) {
    const auto c = group.front();
    bool alone = group.size() == 1;
    if (alone) for_each_next(c, [&](std::size_t next) { alone = alone && next != c; });
    if (alone) continue;
    if (found.count++ != 0) continue;
    for (const auto member : shortest_cycle(group)) {
      found.example.push_back(channel(member / vls_));
      found.vls.push_back(static_cast<unsigned>(member % vls_));
    }
  }
  return found;
}

/// Through the first channel of the group.
std::vector<std::size_t> Dependencies::shortest_cycle(std::span<const std::size_t> group) const {
  constexpr auto kNone = ~std::size_t{0};
  const auto start = *std::ranges::min_element(group);
  std::vector<std::size_t> came_from(next_switch_.size() * vls_, kNone);
  std::vector<std::size_t> queue{start};
  for (std::size_t at = 0; at < queue.size() && came_from[start] == kNone; ++at) {
    for_each_next(queue[at], [&](std::size_t next) {
      if (came_from[next] != kNone) return;
      came_from[next] = queue[at];
      queue.push_back(next);
    });
  }
  std::vector<std::size_t> cycle{start};
  for (auto c = came_from[start]; c != start && c != kNone; c = came_from[c]) cycle.push_back(c);
  std::reverse(cycle.begin() + 1, cycle.end());
  return cycle;
}

Dependencies::Channel Dependencies::channel(std::size_t index) const {
  SwitchIndex low = 0, high = static_cast<SwitchIndex>(topology_->switches());
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (topology_->channel(middle, PortNum{0}) <= index ? low : high) = middle;
  }
  return {low, PortNum{static_cast<std::uint8_t>(index - topology_->channel(low, PortNum{0}))}};
}

}  // namespace smd::routing::inline verify
