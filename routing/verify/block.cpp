// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace smd::routing {
namespace {

/// Rows of inner switches have few ports in a block, rows of leaves have many: the former are cheaper to
/// compare port by port, the latter entry by entry.
constexpr int kPortByPort = 6;

std::vector<SwitchIndex> from_leaves_outwards(const Topology& topology) {
  std::vector<SwitchIndex> order(topology.leaves().begin(), topology.leaves().end());
  std::vector<bool> seen(topology.switches());
  for (const auto s : order) seen[s] = true;
  const auto spread_from = [&](std::size_t at) {
    for (; at < order.size(); ++at) {
      for (std::size_t g = 0; g < topology.groups(order[at]); ++g) {
        const auto peer = topology.group(order[at], g).peer;
        if (!seen[peer]) order.push_back(peer);
        seen[peer] = true;
      }
    }
  };
  spread_from(0);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (seen[s]) continue;
    seen[s] = true;
    order.push_back(s);
    spread_from(order.size() - 1);
  }
  return order;
}

}  // namespace

LidBits equal_to(const std::uint8_t* block, std::uint8_t port) {
#ifdef __SSE2__
  const auto wanted = _mm_set1_epi8(static_cast<char>(port));
  LidBits bits = 0;
  for (unsigned part = 0; part < 4; ++part) {
    __m128i entries;
    std::memcpy(&entries, block + std::size_t{part} * 16, 16);
    const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(entries, wanted)));
    bits |= LidBits{mask} << (part * 16);
  }
  return bits;
#else
  LidBits bits = 0;
  for (unsigned i = 0; i < 64; ++i) bits |= LidBits{block[i] == port ? 1U : 0U} << i;
  return bits;
#endif
}

Block::Block(const Topology& topology, const LidMap& lids, const Routes& routes)
    : topology_(topology),
      lids_(lids),
      routes_(routes),
      outwards_(from_leaves_outwards(topology)),
      destinations_(64),
      connected_(topology.components()),
      base_(topology.switches() + 1),
      arrive_(topology.switches()),
      routed_(topology.switches()),
      forwarded_(topology.switches()) {}

void Block::load(std::size_t number) {
  first_ = number * 64;
  own_ = {};
  std::ranges::fill(connected_, LidBits{0});
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto to = destinations_[bit] = lids_.destination(lid(bit));
    if (to.sw == kNoSwitch) continue;
    const auto mask = LidBits{1} << bit;
    own_.live |= mask;
    connected_[topology_.component(to.sw)] |= mask;
    if (to.end == kNoEnd) continue;
    own_.end_ports |= mask;
    if (topology_.end_ports()[to.end].kind != EndKind::aggregation) own_.hosts |= mask;
  }
  ways_.clear();
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
    base_[s] = static_cast<std::uint32_t>(ways_.size());
    arrive_[s] = routed_[s] = forwarded_[s] = 0;
    const auto* const row = s < routes_.rows.size() ? routes_.rows[s].get() : nullptr;
    if (row != nullptr && own_.live != 0) scan(s, *row);
  }
  base_[topology_.switches()] = static_cast<std::uint32_t>(ways_.size());
}

void Block::scan(SwitchIndex s, const LftRow& row) {
  std::array<std::uint8_t, 64> padded;
  const std::uint8_t* block = nullptr;
  if (row.size() >= first_ + 64) {
    block = row.data() + first_;
  } else {
    padded.fill(kNoRoute);
    if (row.size() > first_)
      std::copy(row.begin() + static_cast<std::ptrdiff_t>(first_), row.end(), padded.begin());
    block = padded.data();
  }
  LidBits rest = own_.live & ~equal_to(block, kNoRoute);
  routed_[s] = rest;
  for (int i = 0; rest != 0 && i < kPortByPort; ++i) {
    const auto port = block[std::countr_zero(rest)];
    const auto same = equal_to(block, port) & rest;
    add(s, port, same);
    rest &= ~same;
  }
  if (rest == 0) return;
  std::array<LidBits, 256> by_port;
  std::array<std::uint8_t, 64> ports;
  std::array<bool, 256> seen{};
  std::size_t count = 0;
  for (; rest != 0; rest &= rest - 1) {
    const auto port = block[std::countr_zero(rest)];
    const auto bit = rest & (~rest + 1);
    if (seen[port]) {
      by_port[port] |= bit;
    } else {
      seen[port] = true;
      by_port[port] = bit;
      ports[count++] = port;
    }
  }
  for (std::size_t i = 0; i < count; ++i) add(s, ports[i], by_port[ports[i]]);
}

void Block::add(SwitchIndex s, std::uint8_t port, LidBits lids) {
  const auto peer = topology_.peer(s, PortNum{port});
  if (peer.sw != kNoSwitch) {
    ways_.push_back({peer.sw, PortNum{port}, lids});
    forwarded_[s] |= lids;
    return;
  }
  for (; lids != 0; lids &= lids - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(lids));
    const auto& to = destinations_[bit];
    if (to.sw == s && to.port.value() == port) arrive_[s] |= LidBits{1} << bit;
  }
}

bool Block::sweep(bool upwards) {
  bool changed = false;
  const std::size_t n = outwards_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto s = outwards_[upwards ? i : n - 1 - i];
    auto arrived = arrive_[s];
    if (arrived == routed_[s]) continue;
    for (const auto& way : ways(s)) arrived |= way.lids & arrive_[way.peer];
    changed = changed || arrived != arrive_[s];
    arrive_[s] = arrived;
  }
  return changed;
}

void Block::follow() {
  // As many sweeps as the longest path turns against their direction: in trees two, and one to see the end.
  for (bool upwards = true; sweep(upwards);) upwards = !upwards;
}

std::vector<LidBits> Block::end_to_end() const {
  std::vector<LidBits> crossing(topology_.switches());
  std::vector<SwitchIndex> work;
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
    if (topology_.end_ports_of(s).empty()) continue;
    crossing[s] = own_.end_ports;
    work.push_back(s);
  }
  while (!work.empty()) {
    const auto s = work.back();
    work.pop_back();
    for (const auto& way : ways(s)) {
      const auto fresh = way.lids & crossing[s] & ~crossing[way.peer];
      if (fresh == 0) continue;
      crossing[way.peer] |= fresh;
      work.push_back(way.peer);
    }
  }
  return crossing;
}

}  // namespace smd::routing
