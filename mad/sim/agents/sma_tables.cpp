// SPDX-License-Identifier: Apache-2.0
// P_KeyTable, SLtoVLMappingTable, VLArbitrationTable.
#include "mad/sim/agents/sma.h"
#include "mad/sim/state/tables.h"

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
  const unsigned first = (request.smp.modifier() & 0xFFFFU) * kKeyBlock;
  if (first >= pkey_capacity(state, index)) return kInvalid;
  if (request.set) {
    const auto desired = asked<wire::PKeyTable>(request);
    for (unsigned i = 0; i < kKeyBlock; ++i) set_p_key(state, index, first + i, desired.keys[i]);
  }
  wire::PKeyTable table;
  for (unsigned i = 0; i < kKeyBlock; ++i) table.keys[i] = p_key(state, index, first + i);
  return answer(request, table);
}

// Modifier for a switch: input port in bits 15-8, output port in bits 7-0; with OptimizedSLtoVLMapping bit 17
// says 'all input ports' and bit 16 'all output ports'. For a CA it has no meaning.
Status sl_to_vl_table(Request& request) {
  auto& state = request.state;
  auto& node = request.node();
  const auto modifier = request.smp.modifier();
  Range in, out{request.here().number.value(), request.here().number.value()};
  if (node.is_switch()) {
    const bool optimized = state.options.capacities.optimized_sl_to_vl;
    in = {(modifier >> 8U) & 0xFFU, (modifier >> 8U) & 0xFFU};
    out = {modifier & 0xFFU, modifier & 0xFFU};
    if ((modifier & 0x3'0000U) != 0 && !optimized) return kInvalid;
    if ((modifier & 0x2'0000U) != 0) in = {0, node.ports};
    if ((modifier & 0x1'0000U) != 0) out = {1, node.ports};
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

// Modifier: block 1 to 4 (low, low, high, high) above, the switch's port below.
Status vl_arbitration(Request& request) {
  auto index = request.at;
  if (request.node().is_switch()) {
    const auto port = request.port(request.smp.modifier() & 0xFFU);
    if (!port) return kInvalid;
    index = *port;
  }
  auto& port = request.state.ports[index];
  const unsigned block = request.smp.modifier() >> 16U;
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
