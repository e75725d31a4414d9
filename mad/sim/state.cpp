// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state.h"

#include <fmt/format.h>

#include <charconv>

namespace smd::sim {
namespace {

std::optional<Guid> parse_guid(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return Guid{value};
}

}  // namespace

std::optional<NodeIndex> find_node(const State& state, std::string_view node) {
  const auto guid = parse_guid(node);
  for (NodeIndex i = 0; i < state.nodes.size(); ++i) {
    const auto& candidate = state.nodes[i];
    if (candidate.name == node || candidate.id == node || (guid && candidate.guid == *guid)) return i;
  }
  return std::nullopt;
}

std::optional<PortIndex> find_port(const State& state, const Place& place) {
  const auto index = find_node(state, place.node);
  if (!index) return std::nullopt;
  const auto& node = state.nodes[*index];
  if (place.port.value() > node.ports) return std::nullopt;
  if (node.is_switch() || place.port != PortNum{0}) return state.index(node, place.port.value());
  for (unsigned number = 1; number <= node.ports; ++number) {
    if (state.port(node, number).peer != kNowhere) return state.index(node, number);
  }
  return std::nullopt;
}

PortCounters& counters_of(State& state, PortIndex port) {
  auto& tables = state.ports[port].tables;
  if (!tables) tables = std::make_unique<PortTables>();
  if (!tables->counters) tables->counters = std::make_unique<PortCounters>();
  return *tables->counters;
}

std::string port_text(const State& state, PortIndex port) {
  const auto& node = state.node_of(port);
  return fmt::format("{} {} port {}", node.guid, node.name, state.ports[port].number);
}

}  // namespace smd::sim
