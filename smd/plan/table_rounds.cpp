// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/table_rounds.h"

namespace smd::sm::inline planning {
namespace {

template <class A>
void add_blocks(const PlanInput& in, TableItems<A>& items) {
  const auto& part = in.decided.part<A>();
  if (!part) return;
  for (const auto& desired : part->blocks) {
    const auto index = in.subnet.index_of(desired.at.node);
    if (!index || in.leaves_out(desired.at.node)) continue;
    const auto& node = *in.subnet.nodes[*index];
    if (desired.at.port.value() >= node.ports.size()) continue;
    const auto& held = node.ports[desired.at.port.value()].template held<A>();
    // What sweeps read is written only once it was: the block may have entries that are not ours.
    if constexpr (TableKind<A>::kRead == TableRead::sweep) {
      if (!held || desired.block >= held->row.size()) continue;
    }
    if (held && held->known.test(desired.block) && held->row[desired.block] == desired.content) continue;
    items.push_back({static_cast<NodeIndex>(*index), desired.at.port, desired.block, desired.content});
  }
}

}  // namespace

Round table_round(const PlanInput& in, Phase phase) {
  Round round;
  round.phase = phase;
  for_each_table([&]<class A>() {
    if (TableKind<A>::kPhase == phase) add_blocks<A>(in, round.items<A>());
  });
  return round;
}

}  // namespace smd::sm::inline planning
