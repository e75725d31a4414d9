// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state/tables.h"

namespace smd::sim {
namespace {

PortTables& tables_of(State& state, PortIndex port) {
  auto& tables = state.ports[port].tables;
  if (!tables) tables = std::make_unique<PortTables>();
  return *tables;
}

std::size_t row_of(const Node& node, PortNum in, PortNum out) {
  return std::size_t{in.value()} * (node.ports + std::size_t{1}) + out.value();
}

}  // namespace

unsigned data_vls(std::uint8_t code) {
  switch (code) {
    case 1:
      return 1;
    case 2:
      return 2;
    case 3:
      return 4;
    case 4:
      return 8;
    case 5:
      return 15;
    default:
      return 0;
  }
}

std::uint64_t sl_to_vl_row(const State& state, PortIndex out, PortNum in) {
  const auto& node = state.node_of(out);
  if (node.is_switch()) {
    if (node.sw->sl_to_vl.empty()) return kDefaultSlToVl;
    return node.sw->sl_to_vl[row_of(node, in, state.ports[out].number)];
  }
  const auto& tables = state.ports[out].tables;
  return tables ? tables->sl_to_vl.value_or(kDefaultSlToVl) : kDefaultSlToVl;
}

void set_sl_to_vl_row(State& state, PortIndex out, PortNum in, std::uint64_t row) {
  if (sl_to_vl_row(state, out, in) == row) return;
  auto& node = state.node_of(out);
  if (!node.is_switch()) {
    tables_of(state, out).sl_to_vl = row;
    return;
  }
  if (node.sw->sl_to_vl.empty()) {
    const std::size_t ports = node.ports + std::size_t{1};
    node.sw->sl_to_vl.assign(ports * ports, kDefaultSlToVl);
  }
  node.sw->sl_to_vl[row_of(node, in, state.ports[out].number)] = row;
}

Vl sl_to_vl(const State& state, PortIndex out, PortNum in, Sl sl) {
  const auto row = sl_to_vl_row(state, out, in);
  return Vl{static_cast<std::uint8_t>((row >> (4U * (sl.value() & 15U))) & 15U)};
}

bool starves(const State& state, PortIndex port, Vl vl) {
  const auto& tables = state.ports[port].tables;
  if (!tables) return false;
  bool any = false;
  for (const auto& block : tables->vl_arb) {
    for (const auto& entry : block.entries) {
      if (entry.weight == 0) continue;
      if (entry.vl == vl) return false;
      any = true;
    }
  }
  return any;
}

unsigned pkey_capacity(const State& state, PortIndex port) {
  const auto& node = state.node_of(port);
  if (!node.is_switch()) return state.options.capacities.ca_pkeys;
  return state.ports[port].number == PortNum{0} ? state.options.capacities.switch_pkeys
                                                : node.sw->info.partition_enforcement_cap;
}

PKey p_key(const State& state, PortIndex port, unsigned index) {
  const auto& tables = state.ports[port].tables;
  if (!tables || tables->pkeys.empty()) return index == 0 ? kDefaultPKey : PKey{};
  return index < tables->pkeys.size() ? PKey{tables->pkeys[index]} : PKey{};
}

void set_p_key(State& state, PortIndex port, unsigned index, PKey key) {
  const auto capacity = pkey_capacity(state, port);
  if (index >= capacity || p_key(state, port, index) == key) return;
  auto& keys = tables_of(state, port).pkeys;
  if (keys.empty()) {
    keys.resize(capacity);
    keys[0] = kDefaultPKey.value();
  }
  keys[index] = key.value();
}

namespace {

/// Index of the first entry that fits.
template <class Fits>
std::optional<unsigned> finds_p_key(const State& state, PortIndex port, Fits&& fits) {
  for (unsigned index = 0, capacity = pkey_capacity(state, port); index < capacity; ++index) {
    if (fits(p_key(state, port, index))) return index;
  }
  return std::nullopt;
}

/// By which an end port accepts a packet with this key.
std::optional<unsigned> accepting(const State& state, PortIndex port, PKey key) {
  return finds_p_key(state, port, [&](PKey own) { return own.matches(key); });
}

}  // namespace

bool holds_p_key(const State& state, PortIndex port, PKey key) {
  return key.partition() != 0 && finds_p_key(state, port, [&](PKey own) { return own == key; }).has_value();
}

bool passes_p_key(const State& state, PortIndex port, PKey key) {
  return finds_p_key(state, port, [&](PKey own) { return own.same_partition(key); }).has_value();
}

bool has_p_key(const State& state, PortIndex port, PKey key) {
  return accepting(state, port, key).has_value();
}

std::uint16_t p_key_index(const State& state, PortIndex port, PKey key) {
  return static_cast<std::uint16_t>(accepting(state, port, key).value_or(0));
}

}  // namespace smd::sim
