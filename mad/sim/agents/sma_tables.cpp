// SPDX-License-Identifier: Apache-2.0
// P_KeyTable, SLtoVLMappingTable, VLArbitrationTable.
#include "mad/sim/agents/sma.h"
#include "mad/sim/state/tables.h"
#include "mad/wire/modifier.h"

namespace smd::sim {
namespace {

constexpr unsigned kKeyBlock = 32;

wire::SlToVl unpack(std::uint64_t row) {
  wire::SlToVl table;
  for (unsigned sl = 0; sl < 16; ++sl) table.vls[sl] = Vl{static_cast<std::uint8_t>((row >> (4 * sl)) & 15U)};
  return table;
}

std::uint64_t pack(const wire::SlToVl& table) {
  std::uint64_t row = 0;
  for (unsigned sl = 0; sl < 16; ++sl) row |= std::uint64_t{table.vls[sl].value() & 15U} << (4 * sl);
  return row;
}

/// Ports from which (or to which) a SL2VL Set counts.
struct Range {
  unsigned first = 0, last = 0;
};

}  // namespace

Status p_key_table(Request& request) {
  // Modifier: the block, and for a switch the port above it.
  auto& state = request.state;
  auto index = request.at;
  if (request.node().is_switch()) {
    const auto port = request.port(request.smp.modifier() >> 16U);
    if (!port) return kInvalid;
    index = *port;
  }
  const unsigned first = wire::block_of_p_key(request.smp.modifier()) * kKeyBlock;
  if (first >= pkey_capacity(state, index)) return kInvalid;
  if (request.set) {
    const auto desired = asked<wire::PKeyTable>(request);
    for (unsigned i = 0; i < kKeyBlock; ++i) set_p_key(state, index, first + i, desired.keys[i]);
  }
  wire::PKeyTable table;
  for (unsigned i = 0; i < kKeyBlock; ++i) table.keys[i] = p_key(state, index, first + i);
  return answer(request, table);
}

// The modifier has no meaning for a CA.
Status sl_to_vl_table(Request& request) {
  auto& state = request.state;
  auto& node = request.node();
  const auto modifier = request.smp.modifier();
  Range in, out{request.here().number.value(), request.here().number.value()};
  if (node.is_switch()) {
    const bool optimized = state.options.capacities.optimized_sl_to_vl;
    const unsigned from = wire::in_port_of_sl_to_vl(modifier).value();
    const unsigned to = wire::out_port_of_sl_to_vl(modifier).value();
    in = {from, from};
    out = {to, to};
    if ((modifier & wire::kSlToVlAllModifier) != 0 && !optimized) return kInvalid;
    if ((modifier & wire::kAllInPorts) != 0) in = {0, node.ports};
    if ((modifier & wire::kAllOutPorts) != 0) out = {1, node.ports};
    if (in.last > node.ports || out.last > node.ports) return kInvalid;
  }
  if (request.set) {
    const auto row = pack(asked<wire::SlToVl>(request));
    for (unsigned o = out.first; o <= out.last; ++o) {
      for (unsigned i = in.first; i <= in.last; ++i) {
        set_sl_to_vl_row(state, state.index(node, o), PortNum{static_cast<std::uint8_t>(i)}, row);
      }
    }
  }
  const auto shown =
      sl_to_vl_row(state, state.index(node, out.first), PortNum{static_cast<std::uint8_t>(in.first)});
  return answer(request, unpack(shown));
}

Status vl_arbitration(Request& request) {
  auto index = request.at;
  if (request.node().is_switch()) {
    const auto port = request.port(wire::port_of_vl_arb(request.smp.modifier()).value());
    if (!port) return kInvalid;
    index = *port;
  }
  auto& port = request.state.ports[index];
  const unsigned block = wire::part_of_vl_arb(request.smp.modifier());  // low, low, high, high
  if (block < 1 || block > 4) return kInvalid;
  const unsigned capacity = block <= 2 ? port.info.vl_arb_low_cap : port.info.vl_arb_high_cap;
  const unsigned first = (block - 1) % 2 * 32;
  if (first >= capacity) return kInvalid;
  if (request.set) {
    auto desired = asked<wire::VlArbitration>(request);
    for (unsigned i = capacity - first; i < 32; ++i) desired.entries[i] = {};
    if (!port.tables) port.tables = std::make_unique<PortTables>();
    port.tables->vl_arb.resize(4);
    port.tables->vl_arb[block - 1] = desired;
  }
  const bool written = port.tables && !port.tables->vl_arb.empty();
  return answer(request, written ? port.tables->vl_arb[block - 1] : wire::VlArbitration{});
}

}  // namespace smd::sim
