// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "smd/plan/lft_rounds.h"
#include "smd/plan/lid_moves.h"
#include "smd/plan/m_key_rounds.h"
#include "smd/plan/mft_rounds.h"
#include "smd/plan/new_links.h"
#include "smd/plan/pkey_rounds.h"
#include "smd/plan/qos_rounds.h"
#include "smd/plan/retrain.h"
#include "smd/plan/table_rounds.h"
#include "smd/plan/vl_moves.h"
#include "smd/sweep/unkept_entries.h"

namespace smd::sm::inline planning {
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

struct PortRounds {
  Round switch_lids = round_of(Phase::switch_lids);
  Round new_links = round_of(Phase::switch_links);
  Round activate_new_links = round_of(Phase::activate_switch_links);
  Round switch_links = round_of(Phase::switch_links);
  Round host_links = round_of(Phase::host_links);
  Round activate_switch_links = round_of(Phase::activate_switch_links);
  Round activate_host_links = round_of(Phase::activate_host_links);
};

/// An enhanced port 0 has states as any end port has; the others are Active by nature.
void plan_port0(const Node& node, NodeIndex index, const wire::PortInfo& desired, PortRounds& rounds) {
  const auto& now = node.ports[0].info;
  const bool enhanced = node.has_enhanced_port0();
  const auto target = enhanced ? next_state(now.port_state) : PortState::no_change;
  if (desired != now || target != PortState::no_change)
    rounds.switch_lids.ports.push_back({index, PortNum{0}, target});
  if (enhanced && (now.port_state == PortState::init || now.port_state == PortState::armed))
    rounds.activate_switch_links.ports.push_back({index, PortNum{0}, PortState::active});
}

void plan_port(const PlanInput& in, NodeIndex index, PortNum num, NewLinks& fresh, PortRounds& rounds) {
  const auto& node = *in.subnet.nodes[index];
  const auto& port = node.ports[num.value()];
  const auto desired = desired_port_info(in, node, num);
  if (!desired) return;
  if (num.value() == 0) return plan_port0(node, index, *desired, rounds);
  const bool between_switches = switch_link(in.subnet, node, port);
  const auto target = next_state(port.info.port_state);
  const bool comes_up = port.info.port_state == PortState::init || port.info.port_state == PortState::armed;
  const bool is_new = between_switches && comes_up && fresh.contains(index, num);
  if (*desired != port.info || target != PortState::no_change) {
    auto& links = between_switches ? rounds.switch_links : rounds.host_links;
    (is_new ? rounds.new_links : links).ports.push_back({index, num, target});
  }
  if (comes_up && !stays_armed(in, node, num)) {
    auto& links = between_switches ? rounds.activate_switch_links : rounds.activate_host_links;
    (is_new ? rounds.activate_new_links : links).ports.push_back({index, num, PortState::active});
  }
}

/// Takes some switches out of the round.
template <class Which>
Round taken_out(const Subnet& subnet, Round& all, Which which) {
  Round round = round_of(Phase::switch_info);
  const auto starts = [&](NodeIndex i) { return which(*subnet.nodes[i]); };
  std::ranges::copy_if(all.switch_infos, std::back_inserter(round.switch_infos), starts);
  std::erase_if(all.switch_infos, starts);
  return round;
}

/// The ends of a link one after the other where links in operation change: they have different values at
/// their ends no longer than two Sets take.
void pair_ends(const Subnet& subnet, Round& round) {
  const auto in_operation = [](const PortItem& item) { return item.target == PortState::no_change; };
  if (std::ranges::none_of(round.ports, in_operation)) return;
  const auto link = [&](const PortItem& item) {
    const PeerPort self{subnet.nodes[item.node]->guid(), item.port};
    const auto peer = subnet.nodes[item.node]->ports[item.port.value()].peer.value_or(self);
    const std::pair here{self.node, self.port}, there{peer.node, peer.port};
    return std::pair{std::min(here, there), here};
  };
  std::ranges::sort(round.ports, {}, link);
}

}  // namespace

bool Round::writes_tables() const {
  bool found = phase == Phase::pkeys_removed || phase == Phase::vl_weights;
  for_each_table([&]<class A>() { found = found || TableKind<A>::kPhase == phase; });
  return found;
}

std::size_t Round::sets() const {
  auto sum = ports.size() + switch_infos.size() + ar_infos.size();
  for_each_table([&]<class A>() { sum += items<A>().size(); });
  for (const auto& item : lfts) sum += item.writes();
  for (const auto& item : mfts) sum += item.parts.count();
  return sum;
}

void Plan::append(Round&& round) {
  if (round.sets() != 0) rounds.push_back(std::move(round));
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

Plan plan(const PlanInput& in, const routing::Parallel& parallel, const std::stop_token& stop) {
  PortRounds ports;
  const auto waiting = waiting_for_lids(in);
  NewLinks fresh(in);
  Round switch_info = round_of(Phase::switch_info), adaptive = round_of(Phase::adaptive_routing);
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    if (in.leaves_out(node.guid())) continue;
    for (std::size_t p = node.is_switch() ? 0 : 1; p < node.ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      if (waiting.empty() || !waiting.contains({i, num})) plan_port(in, i, num, fresh, ports);
    }
    const auto desired = desired_switch_info(in, node);
    if (desired && *desired != *node.switch_info) switch_info.switch_infos.push_back(i);
    if (desired_ar_info(in, node)) adaptive.ar_infos.push_back(i);
  }

  pair_ends(in.subnet, ports.switch_links);
  pair_ends(in.subnet, ports.host_links);
  Plan plan;
  plan.links_down = links_to_retrain(in);
  auto pkeys = pkey_rounds(in);
  for (auto& round : pkeys.widen) plan.append(std::move(round));
  plan.append(std::move(adaptive));
  plan.append(std::move(ports.switch_lids));
  plan.append(std::move(ports.new_links));
  plan.append(std::move(ports.activate_new_links));
  plan.append(taken_out(in.subnet, switch_info, [&](const Node& node) {
    return raises_top_first(node) && node.switch_info->linear_fdb_top < in.decided.routes->top.value();
  }));
  // Paths of a new layer begin when its VLs are there.
  auto qos = qos_rounds(in);
  const bool layered = in.decided.routes->layers.count > 1;
  if (layered) append_in_steps(plan, std::move(qos.before), vl_moves(in, parallel, stop));
  auto tables = lft_rounds(in, parallel, plan, stop);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    plan.append(std::move(tables[i]));
    // Tables of switches that forward by nothing yet are whole after the first round: others may lead there.
    if (i == 0 && tables.size() > 1)
      plan.append(taken_out(in.subnet, switch_info, [](const Node& node) { return !node.forwards(); }));
  }
  plan.append(std::move(switch_info));
  for (auto& round : mft_rounds(in)) plan.append(std::move(round));
  plan.append(table_round(in, Phase::vl_tables));
  if (!layered)
    for (auto& round : qos.before) plan.append(std::move(round));
  plan.append(std::move(ports.switch_links));
  plan.append(std::move(ports.host_links));
  plan.append(std::move(ports.activate_switch_links));
  plan.append(std::move(ports.activate_host_links));
  plan.append(std::move(qos.after));
  for (auto& round : pkeys.narrow) plan.append(std::move(round));
  for (auto& round : m_key_rounds(in)) plan.append(std::move(round));
  return plan;
}

}  // namespace smd::sm::inline planning
