// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/table_rounds.h"

#include <type_traits>

namespace smd::sm::inline planning {
namespace {

/// table_round() is called for these.
constexpr bool is_planned(Phase phase) { return phase == Phase::vl_tables || phase == Phase::guid_info; }

template <class A>
void add_blocks(const PlanInput& in, TableItems<A>& items) {
  static_assert(is_planned(TableKind<A>::kPhase) || std::is_same_v<A, wire::PKeyTable>,
                "no plan writes this kind: its kPhase has no table_round(); P_Key tables have pkey_rounds()");
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
