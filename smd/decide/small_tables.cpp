// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/small_tables.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace smd::sm::inline decisions {
namespace {

/// Parts of the fabric that hang together, and how many LIDs of hosts are in each.
class Islands {
 public:
  explicit Islands(std::size_t switches) : parent_(switches), hosts_(switches) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t sw) {
    while (parent_[sw] != sw) sw = parent_[sw] = parent_[parent_[sw]];
    return sw;
  }
  void add_hosts(std::size_t sw, std::size_t lids) {
    const auto island = of(sw);
    hosts_[island] += lids;
    if (hosts_[island] > hosts_[largest_]) largest_ = island;
  }
  void join(std::size_t a, std::size_t b) {
    const auto into = of(a), from = of(b);
    if (into == from) return;
    parent_[from] = into;
    add_hosts(into, std::exchange(hosts_[from], 0));
    if (largest_ == from) largest_ = into;
  }
  std::size_t largest() { return of(largest_); }
  std::size_t most_hosts() { return hosts_[largest()]; }

 private:
  std::vector<std::size_t> parent_, hosts_;
  std::size_t largest_ = 0;
};

struct Table {
  const Node* node = nullptr;
  unsigned capacity = 0;
};

/// Switches that answered, those with the largest tables first.
std::vector<Table> tables_of(const Subnet& subnet) {
  std::vector<Table> tables;
  for (const auto& node : subnet.nodes) {
    const auto capacity = node->is_switch() ? lft_capacity(*node) : 0;
    if (capacity > 1) tables.push_back({node.get(), capacity});
  }
  std::ranges::sort(tables, [](const Table& a, const Table& b) {
    return std::pair(b.capacity, a.node->guid()) < std::pair(a.capacity, b.node->guid());
  });
  return tables;
}

unsigned last_of(unsigned capacity) { return std::min<unsigned>(capacity - 1U, kLastUnicastLid.value()); }

}  // namespace

TableLimit table_limit(const Subnet& subnet, const LidsBehind& hosts, std::size_t needed, Lid first) {
  const auto tables = tables_of(subnet);
  std::unordered_map<Guid, std::size_t> index;
  Islands islands(tables.size());
  TableLimit best;
  std::size_t reached = 0;
  bool any = false;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto& node = *tables[i].node;
    index.emplace(node.guid(), i);
    const auto behind = hosts.find(node.guid());
    if (behind != hosts.end()) islands.add_hosts(i, behind->second);
    for (const auto& port : node.ports) {
      const auto peer = port.linked() && port.peer ? index.find(port.peer->node) : index.end();
      if (peer != index.end()) islands.join(i, peer->second);
    }
    if (i + 1 < tables.size() && tables[i + 1].capacity == tables[i].capacity) continue;
    const unsigned last = last_of(tables[i].capacity);
    const bool fits = tables[i].capacity > needed;
    const std::size_t room = last >= first.value() ? last - first.value() + 1U : 0U;
    const auto now = std::min(islands.most_hosts(), fits ? needed : room);
    const bool better = !any || fits || now > reached;
    if (!better) continue;
    any = true;
    reached = now;
    best = {.last = Lid{static_cast<std::uint16_t>(last)}, .all_fit = fits};
  }
  return best;
}

std::vector<Guid> beyond_tables(const Subnet& subnet, const routing::TopologyInput& routed) {
  std::unordered_map<Guid, std::size_t> index;
  for (std::size_t i = 0; i < routed.switches.size(); ++i) index.emplace(routed.switches[i].guid, i);
  std::vector<Guid> beyond;
  for (const auto& node : subnet.nodes) {
    if (node->is_switch() && node->switch_info && !index.contains(node->guid()))
      beyond.push_back(node->guid());
  }
  if (beyond.empty()) return beyond;
  Islands islands(routed.switches.size());
  for (const auto& link : routed.links) islands.join(link.a, link.b);
  for (const auto& end : routed.end_ports) {
    if (end.sw != routing::kNoSwitch) islands.add_hosts(end.sw, 1);
  }
  for (std::size_t i = 0; i < routed.switches.size(); ++i) {
    if (islands.of(i) != islands.largest()) beyond.push_back(routed.switches[i].guid);
  }
  std::ranges::sort(beyond);
  return beyond;
}

}  // namespace smd::sm::inline decisions
