// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/lid_moves.h"

#include <map>
#include <vector>

#include "smd/sweep/end_ports.h"

namespace smd::sm::inline planning {
namespace {

/// A port whose LID changes.
struct Move {
  NodeIndex node = 0;
  PortNum port;
  unsigned from = 0, from_count = 0;  ///< 0: what it has is not in use
  unsigned to = 0, to_count = 0;
};

std::vector<Move> moves(const PlanInput& in) {
  std::vector<Move> found;
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    const std::size_t last = node.is_switch() ? 1 : node.ports.size();
    for (std::size_t p = node.is_switch() ? 0 : 1; p < last && p < node.ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto& port = node.ports[p];
      if (!port.known || !is_end_port(node, num)) continue;
      const auto* desired = in.decided.lids->find(port_guid(node, num));
      if (desired == nullptr || (desired->base == port.info.lid && desired->lmc == port.info.lmc)) continue;
      Move move{.node = i, .port = num, .to = desired->base.value(), .to_count = 1U << desired->lmc};
      const bool in_service = node.is_switch() || port.info.port_state >= PortState::armed;
      if (in_service && port.info.lid.unicast()) {
        move.from = port.info.lid.value();
        move.from_count = 1U << port.info.lmc;
      }
      found.push_back(move);
    }
  }
  return found;
}

}  // namespace

std::set<std::pair<NodeIndex, PortNum>> waiting_for_lids(const PlanInput& in) {
  const auto all = moves(in);
  std::map<unsigned, std::size_t> given_up;  // LID: the move that frees it
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (unsigned lid = all[i].from; lid < all[i].from + all[i].from_count; ++lid) given_up.emplace(lid, i);
  }
  std::set<std::pair<NodeIndex, PortNum>> waiting;
  for (std::size_t i = 0; i < all.size() && !given_up.empty(); ++i) {
    const auto at = given_up.lower_bound(all[i].to);
    for (auto lid = at; lid != given_up.end() && lid->first < all[i].to + all[i].to_count; ++lid) {
      if (lid->second != i) waiting.insert({all[i].node, all[i].port});
    }
  }
  return waiting.size() == all.size() ? decltype(waiting){} : waiting;
}

}  // namespace smd::sm::inline planning
