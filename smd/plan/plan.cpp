// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/plan.h"

#include <algorithm>
#include <bitset>
#include <iterator>
#include <numeric>
#include <utility>

#include "smd/plan/lft_rounds.h"

namespace smd::sm {
namespace {

/// Both ends are switches. Ports without a known far end are not planned at all.
bool switch_link(const Subnet& subnet, const Node& node, const Port& port) {
  if (!node.is_switch() || !port.peer) return false;
  const auto* peer = subnet.find(port.peer->node);
  return peer != nullptr && peer->is_switch();
}

/// The state a port is to reach next; no_change where it is there.
PortState next_state(PortState now) {
  return now == PortState::init ? PortState::armed : PortState::no_change;
}

Round round_of(Phase phase) {
  Round round;
  round.phase = phase;
  return round;
}

bool forwards(const Node& node) { return node.switch_info && node.switch_info->linear_fdb_top != 0; }

/// Ports that a switch forwards by; all where a block is not known.
std::bitset<256> leads_by(const Node& node) {
  std::bitset<256> ports;
  if (!forwards(node)) return ports;
  const std::size_t top = node.switch_info->linear_fdb_top;
  for (std::size_t lid = 1; lid <= top; ++lid) {
    if (!node.lft.row || !node.lft.known.test(lid / routing::kLftBlock)) return ports.set();
    if (lid < node.lft.row->size()) ports.set((*node.lft.row)[lid]);
  }
  return ports;
}

/// Links between switches that came up in a fabric that is running and that no table leads over: they become
/// Active before the tables change, so that none leads over a link that carries nothing.
class NewLinks {
 public:
  explicit NewLinks(const Subnet& subnet) : subnet_(subnet), leads_by_(subnet.nodes.size()) {
    running_ = std::ranges::any_of(subnet.nodes, [](const auto& node) { return forwards(*node); });
  }
  bool contains(NodeIndex index, PortNum num) {
    const auto& peer = subnet_.nodes[index]->ports[num.value()].peer;
    const auto far = running_ && peer ? subnet_.index_of(peer->node) : std::nullopt;
    return far && !leads(index, num) && !leads(static_cast<NodeIndex>(*far), peer->port);
  }

 private:
  bool leads(NodeIndex index, PortNum port) {
    auto& known = leads_by_[index];
    if (!known) known = leads_by(*subnet_.nodes[index]);
    return known->test(port.value());
  }
  const Subnet& subnet_;
  bool running_ = false;
  std::vector<std::optional<std::bitset<256>>> leads_by_;
};

struct PortRounds {
  Round switch_lids = round_of(Phase::switch_lids);
  Round new_links = round_of(Phase::switch_links);
  Round activate_new_links = round_of(Phase::activate_switch_links);
  Round retrain = round_of(Phase::retrain);
  Round switch_links = round_of(Phase::switch_links);
  Round host_links = round_of(Phase::host_links);
  Round activate_switch_links = round_of(Phase::activate_switch_links);
  Round activate_host_links = round_of(Phase::activate_host_links);
};

void plan_port(const PlanInput& in, NodeIndex index, PortNum num, NewLinks& fresh, PortRounds& rounds) {
  const auto& node = *in.subnet.nodes[index];
  const auto& port = node.ports[num.value()];
  const auto wish = wished_port_info(in, node, num);
  if (!wish) return;
  if (num.value() == 0) {
    if (*wish != port.info) rounds.switch_lids.ports.push_back({index, num, PortState::no_change});
    return;
  }
  if (must_retrain(in, node, num)) rounds.retrain.ports.push_back({index, num, PortState::down});
  const bool between_switches = switch_link(in.subnet, node, port);
  const auto target = next_state(port.info.port_state);
  const bool comes_up = port.info.port_state == PortState::init || port.info.port_state == PortState::armed;
  const bool is_new = between_switches && comes_up && fresh.contains(index, num);
  if (*wish != port.info || target != PortState::no_change) {
    auto& links = between_switches ? rounds.switch_links : rounds.host_links;
    (is_new ? rounds.new_links : links).ports.push_back({index, num, target});
  }
  if (comes_up) {
    auto& links = between_switches ? rounds.activate_switch_links : rounds.activate_host_links;
    (is_new ? rounds.activate_new_links : links).ports.push_back({index, num, PortState::active});
  }
}

/// Links that must come up anew come first, and what they will be is read before anything else is planned.
/// Both ends are told what is enabled before one of them takes the link down.
Round far_ends(const PlanInput& in, const Round& retrain) {
  Round round = round_of(Phase::host_links);
  for (const auto& item : retrain.ports) {
    const auto& peer = *in.subnet.nodes[item.node]->ports[item.port.value()].peer;
    const auto index = in.subnet.index_of(peer.node);
    if (index) round.ports.push_back({static_cast<NodeIndex>(*index), peer.port, PortState::no_change});
  }
  return round;
}

/// Takes the switches that do not forward yet out of the round.
Round first_tops(const Subnet& subnet, Round& all) {
  Round round = round_of(Phase::switch_info);
  const auto starts = [&](NodeIndex i) { return !forwards(*subnet.nodes[i]); };
  std::ranges::copy_if(all.switch_infos, std::back_inserter(round.switch_infos), starts);
  std::erase_if(all.switch_infos, starts);
  return round;
}

void append(Plan& plan, Round&& round) {
  if (round.sets() != 0) plan.rounds.push_back(std::move(round));
}

}  // namespace

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::switch_lids:
      return "switch_lids";
    case Phase::lft:
      return "lft";
    case Phase::switch_info:
      return "switch_info";
    case Phase::retrain:
      return "retrain";
    case Phase::switch_links:
      return "switch_links";
    case Phase::host_links:
      return "host_links";
    case Phase::activate_switch_links:
      return "activate_switch_links";
    case Phase::activate_host_links:
      return "activate_host_links";
  }
  return "unknown";
}

std::size_t Round::sets() const {
  return std::accumulate(lfts.begin(), lfts.end(), ports.size() + switch_infos.size(),
                         [](std::size_t sum, const LftItem& item) { return sum + item.writes(); });
}

std::size_t Plan::sets() const {
  return std::accumulate(rounds.begin(), rounds.end(), std::size_t{0},
                         [](std::size_t sum, const Round& round) { return sum + round.sets(); });
}

std::size_t Plan::lft_blocks() const {
  std::size_t blocks = 0;
  for (const auto& round : rounds) {
    for (const auto& item : round.lfts) blocks += item.writes();
  }
  return blocks;
}

Plan plan(const PlanInput& in, const routing::Parallel& parallel) {
  PortRounds ports;
  NewLinks fresh(in.subnet);
  Round switch_info = round_of(Phase::switch_info);
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    for (std::size_t p = node.is_switch() ? 0 : 1; p < node.ports.size(); ++p) {
      plan_port(in, i, PortNum{static_cast<std::uint8_t>(p)}, fresh, ports);
    }
    const auto wish = wished_switch_info(in, node);
    if (wish && *wish != *node.switch_info) switch_info.switch_infos.push_back(i);
  }

  Plan plan;
  if (!ports.retrain.ports.empty()) {
    append(plan, far_ends(in, ports.retrain));
    append(plan, std::move(ports.retrain));
    return plan;
  }
  append(plan, std::move(ports.switch_lids));
  append(plan, std::move(ports.new_links));
  append(plan, std::move(ports.activate_new_links));
  auto tables = lft_rounds(in, parallel, plan.lft_entries_changed);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    append(plan, std::move(tables[i]));
    // Tables of switches that forward by nothing yet are whole after the first round: others may lead there.
    if (i == 0 && tables.size() > 1) append(plan, first_tops(in.subnet, switch_info));
  }
  append(plan, std::move(switch_info));
  append(plan, std::move(ports.switch_links));
  append(plan, std::move(ports.host_links));
  append(plan, std::move(ports.activate_switch_links));
  append(plan, std::move(ports.activate_host_links));
  return plan;
}

}  // namespace smd::sm
