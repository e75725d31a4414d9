// SPDX-License-Identifier: Apache-2.0
#include "smd/report/vl_tables.h"

#include <map>
#include <set>

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

}  // namespace

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
