// SPDX-License-Identifier: Apache-2.0
#include "smd/report/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mad/base/counted.h"
#include "smd/inventory/losses.h"
#include "smd/report/m_keys.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/unresponsive.h"

namespace smd::sm::inline reports {
namespace {

void count_ports(const Node& node, SweepSummary& summary, std::uint64_t& linked_ends) {
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    const auto& port = node.ports[p];
    if (!port.linked()) continue;
    ++(port.info.port_state == PortState::active ? summary.ports_active : summary.ports_not_active);
    if (port.peer) ++linked_ends;
  }
}

/// A switch that could be asked and is left out of the routes: its table is too small.
bool left_out(const Subnet& subnet, const RoutePart& routes) {
  return std::ranges::any_of(subnet.nodes, [&](const NodePtr& node) {
    return node->switch_info && routes.find(node->guid()) == nullptr;
  });
}

/// "SL to VL or VL arbitration tables refused by 2 ports, first …"; empty where there are none.
std::string refused_vl_tables(const Subnet& subnet) {
  std::set<std::pair<Guid, PortNum>> ports;
  std::string first;
  for (const auto& set : subnet.refused) {
    const bool of_vls =
        set.attribute == wire::SlToVl::kAttribute || set.attribute == wire::VlArbitration::kAttribute;
    const auto* node = of_vls ? subnet.find(set.at.node) : nullptr;
    if (node == nullptr) continue;
    if (first.empty()) first = port_text(*node, set.at.port);
    ports.emplace(set.at.node, set.at.port);
  }
  if (ports.empty()) return {};
  return fmt::format("SL to VL or VL arbitration tables not taken by {}, first {}",
                     base::counted(ports.size(), "port", "ports"), first);
}

/// What keeps a routed fabric from being up, by how much an operator has to do about it.
std::string lacks(const Subnet& subnet, const Decided& decided, const SweepSummary& summary) {
  std::vector<std::string> found;
  const auto count = [&](std::uint64_t number, std::string_view one, std::string_view many) {
    if (number != 0) found.push_back(base::counted(number, one, many));
  };
  if (is_cut_off(subnet)) found.emplace_back("our own port has no link");
  count(summary.unresponsive, "node does not answer", "nodes do not answer");
  count(unknown_m_keys(subnet).size(), "node with an M_Key that smd does not know",
        "nodes with an M_Key that smd does not know");
  count(subnet.duplicates.size(), "node whose GUID is there twice", "nodes whose GUID is there twice");
  count(decided.lids->without_lid.size(), "port without a LID", "ports without a LID");
  count(summary.sets_left, "Set not done", "Sets not done");
  // What was made good is left over in the list.
  if (auto tables = refused_vl_tables(subnet); summary.sets_left != 0 && !tables.empty())
    found.push_back(std::move(tables));
  count(summary.ports_not_active, "linked port not Active", "linked ports not Active");
  const auto restarted =
      static_cast<std::uint64_t>(std::ranges::count(subnet.altered, true, &AlteredTable::restarted));
  count(restarted, "table of a port lost by a restart", "tables of ports lost by restarts");
  count(subnet.altered.size() - restarted, "table of a port changed externally",
        "tables of ports changed externally");
  if (!decided.routes->verification.ok()) found.emplace_back("routes that are not proven");
  if (decided.lids->not_held_from != 0 || left_out(subnet, *decided.routes))
    found.emplace_back("switches with too small a table");
  return fmt::format("{}", fmt::join(found, ", "));
}

void judge(const Subnet& subnet, const Decided* decided, SweepSummary& summary) {
  const bool routed = decided != nullptr && decided->routes;
  summary.why = routed ? lacks(subnet, *decided, summary) : "no routes";
  summary.state = !routed ? SweepState::failed : summary.why.empty() ? SweepState::up : SweepState::degraded;
}

}  // namespace

void tally(const Subnet& subnet, const Decided* decided, SweepSummary& summary) {
  std::uint64_t linked_ends = 0;
  for (const auto& node : subnet.nodes) {
    switch (node->info.type) {
      case NodeType::switch_:
        ++summary.switches;
        break;
      case NodeType::router:
        ++summary.routers;
        break;
      default:
        ++summary.cas;
        break;
    }
    count_ports(*node, summary, linked_ends);
  }
  summary.links = linked_ends / 2;
  summary.unresponsive = silent_nodes(subnet).size();
  if (decided != nullptr && decided->routes) {
    for (const auto& entry : decided->lids->entries) summary.lids += std::uint64_t{1} << entry.lmc;
    summary.engine = decided->routes->engine;
    summary.sm_lid = decided->lids->sm_lid;
  }
  judge(subnet, decided, summary);
}

void tally_standby(const Subnet& subnet, const OtherSm* polled, SweepSummary& summary) {
  const auto read = std::ranges::find_if(subnet.other_sms, [](const OtherSm& other) {
    return other.info.state == wire::SmState::master && other.answered;
  });
  const auto* master = polled != nullptr ? polled : read != subnet.other_sms.end() ? &*read : nullptr;
  summary.state = master != nullptr ? SweepState::standby : SweepState::failed;
  summary.why =
      master != nullptr ? fmt::format("{} is master", master->node_description) : "no master answers";
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      const bool counts = is_end_port(*node, PortNum{static_cast<std::uint8_t>(p)}) && port.known;
      if (counts && port.info.lid.unicast()) summary.lids += std::uint64_t{1} << port.info.lmc;
    }
  }
  const auto* self = subnet.find(subnet.sm_node);
  const auto at = self != nullptr && self->is_switch() ? std::size_t{0} : subnet.sm_port.value();
  if (self != nullptr && at < self->ports.size()) summary.sm_lid = self->ports[at].info.lid;
}

void judge_losses(const Inventory& known, std::uint32_t hosts_missing, SweepSummary& summary) {
  if (!is_working(summary.state)) return;
  const auto lost = known.lost();
  const bool too_few_hosts = lost.hosts * 1000 > std::size_t{hosts_missing} * known.hosts();
  const bool reduced = lost.switches != 0 || lost.switch_links != 0 || too_few_hosts;
  summary.state = reduced ? SweepState::reduced : SweepState::up;
  summary.why = reduced ? fmt::format("lost {}: smd ports --lost", counts_text(lost)) : std::string{};
}

std::vector<LidChange> lid_changes(const Subnet& subnet, const LidPart& lids) {
  std::vector<LidChange> changes;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = node->is_switch() ? 0 : 1; p < (node->is_switch() ? 1 : node->ports.size()); ++p) {
      const auto& port = node->ports[p];
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto* entry = port.known ? lids.find(port_guid(*node, num)) : nullptr;
      if (entry == nullptr || entry->base == port.info.lid) continue;
      changes.push_back({.at = {node->guid(), num}, .from = port.info.lid, .to = entry->base});
    }
  }
  return changes;
}

std::uint64_t lids_changed(const Subnet& subnet, const LidPart& lids) {
  const auto changes = lid_changes(subnet, lids);
  return static_cast<std::uint64_t>(
      std::ranges::count_if(changes, [](const LidChange& change) { return change.from.unicast(); }));
}

}  // namespace smd::sm::inline reports
