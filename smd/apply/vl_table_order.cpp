// SPDX-License-Identifier: Apache-2.0
#include "smd/apply/vl_table_order.h"

#include "mad/wire/drop_vl.h"

namespace smd::sm::inline applying {

using MapKind = TableKind<wire::SlToVl>;

void VlTableOrder::note(const TableAnswer<wire::VlArbitration>& answer) {
  auto& state = ports_[{answer.node, answer.port}];
  if (!answer.held) state.kept_arbitration = true;
  if (answer.block >= kBlocks || answer.refused) return;  // a refused block is as it was
  state.turns[answer.block] = answer.held ? served_vls({&*answer.held, 1}) : VlSet{};
}

void VlTableOrder::note(const TableAnswer<wire::SlToVl>& answer) {
  if (!answer.held) note_kept_map(answer.node, answer.port, answer.block);
}

bool VlTableOrder::waits(const TableItem<wire::SlToVl>& item, Phase /*phase*/) {
  const bool all = item.block == MapKind::kAllPorts;
  const auto first = ports_.lower_bound({item.node, all ? PortNum{1} : item.port});
  const auto lacks_turns = [&](const auto& row) {
    return row.second.kept_arbitration && (new_vls(item) & ~turns_of(row.first, row.second)).any();
  };
  bool found = false;
  for (auto at = first; at != ports_.end() && at->first.first == item.node && !found; ++at) {
    if (!all && at->first.second != item.port) break;
    found = lacks_turns(*at);
  }
  if (found) note_kept_map(item.node, item.port, item.block);
  return found;
}

bool VlTableOrder::waits(const TableItem<wire::VlArbitration>& item, Phase phase) const {
  const auto at = ports_.find({item.node, item.port});
  return phase == Phase::vl_weights && at != ports_.end() && at->second.kept_map;
}

/// All VLs where a block that counts is not known: it may have them.
VlSet VlTableOrder::turns_of(const Place& place, const State& state) const {
  const auto& node = *subnet_.nodes[place.first];
  const auto& held = node.ports[place.second.value()].held<wire::VlArbitration>();
  VlSet turns;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    if (state.turns[block]) {
      turns |= *state.turns[block];
    } else if (!held || (held->asked.test(block) && !held->known.test(block))) {
      return ~VlSet{};
    } else if (held->known.test(block)) {
      turns |= served_vls({&held->row[block], 1});
    }
  }
  return turns;
}

/// VLs of SLs that have another one now, as far as that is known.
VlSet VlTableOrder::new_vls(const TableItem<wire::SlToVl>& item) const {
  const auto& node = *subnet_.nodes[item.node];
  const auto& held = node.ports[item.port.value()].held<wire::SlToVl>();
  const bool one_row = item.block < MapKind::kAllIn && held && held->known.test(item.block);
  VlSet vls;
  for (std::size_t sl = 0; sl < item.content.vls.size(); ++sl) {
    const auto vl = item.content.vls[sl];
    const bool stays = one_row && held->row[item.block].vls[sl] == vl;
    if (!stays && vl != wire::kDropVl) vls.set(vl.value());
  }
  return vls;
}

void VlTableOrder::note_kept_map(NodeIndex node, PortNum port, std::size_t block) {
  if (block != MapKind::kAllPorts) {
    ports_[{node, port}].kept_map = true;
    return;
  }
  for (std::size_t p = 1; p < subnet_.nodes[node]->ports.size(); ++p)
    ports_[{node, PortNum{static_cast<std::uint8_t>(p)}}].kept_map = true;
}

}  // namespace smd::sm::inline applying
