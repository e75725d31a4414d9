// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/table_kinds.h"

#include "smd/sweep/pkeys.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {
namespace {

constexpr std::size_t kArbitration = 32, kGuids = 8;

/// Modifiers name the port of a switch; a CA's port is the one that the SMP came in by.
PortNum named_port(const Node& node, PortNum port) { return node.is_switch() ? port : PortNum{0}; }

}  // namespace

bool has_vl_tables(const Node& node, PortNum num) {
  const auto& port = node.ports[num.value()];
  if (!port.known || port.info.vl_cap <= 1) return false;
  if (num.value() == 0) return node.has_enhanced_port0();
  return port.linked() && port.info.operational_vls > 1;
}

BlockSet sl_to_vl_rows(const Node& node) { return BlockSet::first(node.is_switch() ? node.ports.size() : 1); }

BlockSet arbitration_blocks(const wire::PortInfo& info) {
  BlockSet parts;
  if (info.vl_cap <= 1) return parts;
  const std::size_t capacities[] = {info.vl_arb_low_cap, info.vl_arb_high_cap};
  for (std::size_t i = 0; i < 2; ++i) {
    if (capacities[i] != 0) parts.set(2 * i);
    if (capacities[i] > kArbitration) parts.set(2 * i + 1);
  }
  return parts;
}

bool may_have_vl_tables(const Node& node, PortNum num) {
  const auto& port = node.ports[num.value()];
  if (!port.known) return false;
  return num.value() == 0 ? node.has_enhanced_port0() : port.linked();
}

bool vl_tables_in_use(const Node& node, PortNum num) {
  const auto& info = node.ports[num.value()].info;
  return num.value() == 0 ? info.lid.unicast() : info.port_state > PortState::init;
}

BlockSet TableKind<wire::PKeyTable>::blocks(const Node& node, PortNum port) {
  return BlockSet::first((pkey_capacity(node, port) + kPKeysOfBlock - 1) / kPKeysOfBlock);
}

std::uint32_t TableKind<wire::PKeyTable>::modifier(const Node& node, PortNum port, std::size_t block) {
  return wire::p_key_modifier(static_cast<std::uint32_t>(block), named_port(node, port));
}

BlockSet TableKind<wire::SlToVl>::blocks(const Node& node, PortNum port) {
  BlockSet rows;
  if (!has_vl_tables(node, port)) return rows;
  rows.set(0);
  for (std::size_t p = 1; p < node.ports.size() && node.is_switch(); ++p) {
    if (node.ports[p].linked()) rows.set(p);
  }
  return rows;
}

std::uint32_t TableKind<wire::SlToVl>::modifier(const Node& node, PortNum port, std::size_t block) {
  if (!node.is_switch()) return 0;
  if (block == kAllPorts) return wire::kSlToVlAllModifier;
  if (block == kAllIn) return wire::sl_to_vl_all_in_modifier(port);
  return wire::sl_to_vl_modifier(PortNum{static_cast<std::uint8_t>(block)}, port);
}

BlockSet TableKind<wire::VlArbitration>::blocks(const Node& node, PortNum port) {
  return has_vl_tables(node, port) ? arbitration_blocks(node.ports[port.value()].info) : BlockSet{};
}

std::uint32_t TableKind<wire::VlArbitration>::modifier(const Node& node, PortNum port, std::size_t block) {
  return wire::vl_arb_modifier(static_cast<wire::VlArbPart>(block + 1), named_port(node, port));
}

BlockSet TableKind<wire::GuidInfo>::blocks(const Node& node, PortNum port) {
  const auto& at = node.ports[port.value()];
  const std::size_t guids = at.known ? at.info.guid_cap : 0;
  return BlockSet::first((guids + kGuids - 1) / kGuids);
}

std::uint32_t TableKind<wire::GuidInfo>::modifier(const Node&, PortNum, std::size_t block) {
  return wire::guid_info_modifier(static_cast<std::uint32_t>(block));
}

}  // namespace smd::sm::inline sweeping
