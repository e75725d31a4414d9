// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/port_vl_tables.h"

#include <algorithm>
#include <array>
#include <utility>

namespace smd::sm::inline decisions {
namespace {

/// SL modulo a number of VLs that a port can have, all on VL 0 among them.
bool is_plain(const wire::SlToVl& table) {
  return std::ranges::any_of(std::array{1U, 2U, 4U, 8U, 15U, 16U}, [&](unsigned vls) {
    for (unsigned sl = 0; sl < table.vls.size(); ++sl) {
      if (table.vls[sl].value() != sl % vls) return false;
    }
    return true;
  });
}

/// Entries without weight are skipped by the arbiter.
bool is_plain(const wire::VlArbitration& table) {
  std::set<std::uint8_t> weights;
  for (const auto& entry : table.entries) {
    if (entry.weight != 0) weights.insert(entry.weight);
  }
  return weights.size() < 2;
}

template <class A>
bool is_known(const Node& node, PortNum num) {
  const auto& held = node.ports[num.value()].held<A>();
  const auto wanted = TableKind<A>::blocks(node, num);
  return wanted.empty() || (held && held->asked.contains(wanted));
}

template <class A>
bool all_plain(const HeldBlocks<A>& held) {
  bool plain = true;
  for (std::size_t block = 0; block < held.row.size(); ++block) {
    if (held.known.test(block)) plain = plain && is_plain(held.row[block]);
  }
  return plain;
}

template <class A>
bool is_plain_port(const Port& port) {
  const auto& held = port.held<A>();
  return !held || all_plain(*held);
}

/// Nothing where a table of the node is not known yet.
std::optional<Stored::NodeVlTables> tables_of(const Node& node) {
  Stored::NodeVlTables found;
  for (std::size_t p = 0; p < node.ports.size(); ++p) {
    const PortNum num{static_cast<std::uint8_t>(p)};
    if (!has_vl_tables(node, num)) continue;
    if (!vl_tables_in_use(node, num)) return std::nullopt;
    if (!is_known<wire::SlToVl>(node, num) || !is_known<wire::VlArbitration>(node, num)) return std::nullopt;
    const auto& port = node.ports[p];
    if (is_plain_port<wire::SlToVl>(port) && is_plain_port<wire::VlArbitration>(port)) continue;
    found.push_back({num, port.held<wire::SlToVl>(), port.held<wire::VlArbitration>()});
  }
  return found;
}

/// A port that begins anew has one VL in operation: its blocks are those that it had.
template <class A>
void restore(const PeerPort& at, const HeldPtr<A>& kept, TablePart<A>& part) {
  for (std::size_t block = 0; kept && block < kept->row.size(); ++block) {
    if (kept->known.test(block)) part.blocks.push_back({at, block, kept->row[block]});
  }
}

/// The port is there, has several VLs, and its link comes up; of a switch's port 0 the switch begins anew.
bool begins(const Node& node, PortNum num) {
  if (num.value() >= node.ports.size()) return false;
  const auto& port = node.ports[num.value()];
  const bool comes = num.value() == 0 ? node.has_enhanced_port0() : port.linked();
  return port.known && port.info.vl_cap > 1 && comes && !vl_tables_in_use(node, num);
}

/// Nodes that the inventory has lost long ago, or that it has forgotten: their loss was accepted.
bool forget_lost(Stored& stored, const Subnet& subnet, UnixTime now) {
  if (!stored.inventory) return false;
  return std::erase_if(stored.vl_tables, [&](const auto& row) {
           if (subnet.find(row.first) != nullptr) return false;
           const auto* known = stored.inventory->find(row.first);
           return known == nullptr || (known->lost() && now - known->lost_at > kVlTablesKept);
         }) != 0;
}

}  // namespace

bool is_device_made(const HeldBlocks<wire::SlToVl>& table) { return all_plain(table); }
bool is_device_made(const HeldBlocks<wire::VlArbitration>& table) { return all_plain(table); }

bool note_vl_tables(Stored& stored, const Subnet& subnet, std::set<Guid>& noted, UnixTime now) {
  bool changed = forget_lost(stored, subnet, now);
  for (const auto& node : subnet.nodes) {
    if (noted.contains(node->guid())) continue;
    auto tables = tables_of(*node);
    if (!tables) continue;
    noted.insert(node->guid());
    const auto at = stored.vl_tables.find(node->guid());
    if (tables->empty()) {
      if (at == stored.vl_tables.end()) continue;
      stored.vl_tables.erase(at);
    } else {
      if (at != stored.vl_tables.end() && at->second == *tables) continue;
      stored.vl_tables.insert_or_assign(node->guid(), *std::move(tables));
    }
    changed = true;
  }
  return changed;
}

VlTableDecision restore_vl_tables(const Subnet& subnet, const Stored& stored) {
  VlTableDecision decision;
  for (const auto& [guid, ports] : stored.vl_tables) {
    const auto* node = subnet.find(guid);
    if (node == nullptr) continue;
    for (const auto& kept : ports) {
      if (!begins(*node, kept.port)) continue;
      restore({guid, kept.port}, kept.sl_to_vl, decision.sl_to_vl);
      restore({guid, kept.port}, kept.arbitration, decision.arbitration);
    }
  }
  return decision;
}

}  // namespace smd::sm::inline decisions
