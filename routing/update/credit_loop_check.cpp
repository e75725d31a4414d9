// SPDX-License-Identifier: Apache-2.0
#include "routing/update/credit_loop_check.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace smd::routing::inline update {

void CreditLoopCheck::add(const EgressSets& egress, std::size_t b, Graphs& graphs) const {
  for (unsigned layer = 0; layer < graphs.size(); ++layer) {
    graphs[layer].add(egress, lids_of_layer(routes_.layers, layer, writes_.first_lid(b)), nullptr,
                      writes_.first_lid(b), nullptr);
  }
}

CreditLoopCheck::Graphs CreditLoopCheck::dependencies(bool both) const {
  return over_blocks([&](std::size_t b, Graphs& graphs) {
    writes_.with_state(
        b, [&](const TransitionState& state) { add(both ? state.both() : state.before(), b, graphs); });
  });
}

CreditLoopCheck::Graphs CreditLoopCheck::dependencies_now() const {
  return over_blocks([&](std::size_t b, Graphs& graphs) {
    LidBits live = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
      const auto lid = Lid{static_cast<std::uint16_t>(writes_.first_lid(b).value() + bit)};
      if (lids_.destination(lid).sw != kNoSwitch) live |= LidBits{1} << bit;
    }
    if (live == 0) return;
    EgressSets egress(writes_.switches());
    PendingWrites::Entries scratch;
    std::deque<PendingWrites::Entries> more;
    std::vector<std::pair<SwitchIndex, const std::uint8_t*>> perhaps;
    writes_.for_each_perhaps(
        b, more, [&](SwitchIndex s, const std::uint8_t* block) { perhaps.emplace_back(s, block); });
    auto other = perhaps.begin();
    for (SwitchIndex s = 0; s < writes_.switches(); ++s) {
      egress.begin(s);
      const auto add_ports = [&](const std::uint8_t* block) {
        for_each_port(block, live, [&](std::uint8_t port, LidBits bits) {
          const auto peer = topology_.peer(s, PortNum{port});
          if (peer.sw != kNoSwitch) egress.add(s, peer.sw, PortNum{port}, bits);
        });
      };
      add_ports(writes_.before(b, s, scratch));
      for (; other != perhaps.end() && other->first == s; ++other) add_ports(other->second);
    }
    add(egress, b, graphs);
  });
}

bool CreditLoopCheck::plainly_free_of_credit_loops() {
  if (ever_.empty()) ever_ = dependencies_now();
  auto graphs = ever_;
  for (std::size_t b = 0; b < writes_.blocks(); ++b) {
    if (!writes_.any_chosen(b)) continue;
    writes_.with_state(b, [&](const TransitionState& state) { add(state.both(), b, graphs); });
  }
  if (std::ranges::any_of(graphs, &Dependencies::any_cycle)) return false;
  ever_ = std::move(graphs);
  return true;
}

bool CreditLoopCheck::take_back(Granularity grain) {
  if (plain_ && plainly_free_of_credit_loops()) return false;
  plain_ = false;  // for this step: `ever_` has become too large, or there were credit loops from the start
  ever_.clear();
  const auto graphs = dependencies(true);
  if (std::ranges::none_of(graphs, &Dependencies::any_cycle)) return false;
  const auto graphs_before = dependencies(false);
  bool any = false;
  for (unsigned layer = 0; layer < graphs.size(); ++layer) {
    const auto now = graphs[layer].groups(), then = graphs_before[layer].groups();
    for (std::size_t b = 0; b < writes_.blocks(); ++b) {
      const auto lids = lids_of_layer(routes_.layers, layer, writes_.first_lid(b));
      const auto fault = writes_.with_state(
          b, [&](const TransitionState& state) { return closing(state, lids, now, then); });
      any = writes_.take_back(b, fault, grain) || any;
    }
  }
  return any;
}

std::vector<LidBits> CreditLoopCheck::closing(const TransitionState& state, LidBits lids,
                                              const std::vector<std::size_t>& now,
                                              const std::vector<std::size_t>& then) const {
  std::vector<LidBits> fault(writes_.switches());
  for (SwitchIndex s = 0; s < writes_.switches(); ++s) {
    const auto egress = state.both().of(s);
    for (std::size_t i = 0; i < egress.size(); ++i) {
      const auto& set = egress[i];
      const auto held = topology_.channel(s, set.out);
      const auto onwards = state.both().of(set.peer);
      for (std::size_t j = 0; j < onwards.size(); ++j) {
        const auto wanted = topology_.channel(set.peer, onwards[j].out);
        const auto both = set.lids & onwards[j].lids & lids;
        if (both == 0) continue;
        if (now[held] != now[wanted] || then[held] == then[wanted]) continue;
        if (i >= state.first_new(s)) fault[s] |= both;
        if (j >= state.first_new(set.peer)) fault[set.peer] |= both;
      }
    }
  }
  return fault;
}

}  // namespace smd::routing::inline update
