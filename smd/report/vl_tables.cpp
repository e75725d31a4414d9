// SPDX-License-Identifier: Apache-2.0
#include "smd/report/vl_tables.h"

#include <algorithm>
#include <map>
#include <set>

#include "mad/wire/drop_vl.h"
#include "smd/report/description.h"

namespace smd::sm::inline reports {
namespace {

constexpr std::size_t kVlTableLines = 10;

using PortsByNode = std::map<Guid, std::set<PortNum>>;

/// Ports that do not hold, or are not known to hold, what was decided.
template <class A>
void add_unlike(const Subnet& subnet, const Decided& decided, PortsByNode& found) {
  const auto& part = decided.part<A>();
  if (!part) return;
  for (const auto& block : part->blocks) {
    const auto* node = subnet.find(block.at.node);
    if (node == nullptr || block.at.port.value() >= node->ports.size()) continue;
    const auto& held = node->ports[block.at.port.value()].template held<A>();
    const bool same = held && held->known.test(block.block) && held->row[block.block] == block.content;
    if (!same) found[block.at.node].insert(block.at.port);
  }
}

PortsByNode unlike(const Subnet& subnet, const Decided& decided) {
  PortsByNode found;
  add_unlike<wire::SlToVl>(subnet, decided, found);
  add_unlike<wire::VlArbitration>(subnet, decided, found);
  return found;
}

bool is_linked(const Node& node, std::size_t port) {
  return port == 0 || (port < node.ports.size() && node.ports[port].peer.has_value());
}

}  // namespace

std::vector<PeerPort> ports_that_drop(const Subnet& subnet, Sl sl) {
  std::vector<PeerPort> found;
  for (const auto& node : subnet.nodes) {
    for (std::size_t out = 0; out < node->ports.size(); ++out) {
      const auto& held = node->ports[out].held<wire::SlToVl>();
      if (!held || !is_linked(*node, out)) continue;
      bool drops = false;
      for (std::size_t in = 0; in < held->row.size() && !drops; ++in) {
        const bool passes = node->is_switch() ? in != out && is_linked(*node, in) : in == 0;
        drops = passes && held->known.test(in) && held->row[in].vls[sl.value()] == wire::kDropVl;
      }
      if (drops) found.push_back({node->guid(), PortNum{static_cast<std::uint8_t>(out)}});
    }
  }
  return found;
}

void log_dropped_sl(const log::Log& log, const Subnet& subnet, const std::vector<PeerPort>& before,
                    const std::vector<PeerPort>& now) {
  std::size_t ports = 0;
  for (const auto& at : now) {
    if (std::ranges::find(before, at) != before.end() || ++ports > kVlTableLines) continue;
    log.warn("node.drops_sl")
        .port(at.node, description_of(subnet, at.node), at.port)
        .kv("sl", 0)
        .kv("reason",
            "its SL to VL table, of another SM, maps SL 0 to VL 15: packets of all paths are dropped")
        .kv("action", "without QoS the table stays: qos.enabled lets smd write its own");
  }
  if (ports > kVlTableLines)
    log.warn("node.drops_sl").kv("ports", ports).kv("not_named", ports - kVlTableLines);
}

void log_vl_tables(const log::Log& log, const Subnet& subnet, const Decided& before, const Decided& now) {
  const bool same = before.part<wire::SlToVl>() == now.part<wire::SlToVl>() &&
                    before.part<wire::VlArbitration>() == now.part<wire::VlArbitration>();
  if (same) return;
  const auto was = unlike(subnet, before);
  std::size_t nodes = 0;
  for (const auto& [guid, ports] : unlike(subnet, now)) {
    const auto at = was.find(guid);
    if ((at != was.end() && at->second == ports) || ++nodes > kVlTableLines) continue;
    log.info("node.vl_tables_restored")
        .node(guid, description_of(subnet, guid))
        .kv("ports", ports.size())
        .kv("reason",
            "their links begin anew; another SM's SL to VL and VL arbitration tables are written again");
  }
  if (nodes > kVlTableLines)
    log.info("node.vl_tables_restored").kv("nodes", nodes).kv("not_named", nodes - kVlTableLines);
}

}  // namespace smd::sm::inline reports
