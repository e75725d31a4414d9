// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state/state.h"

#include <fmt/format.h>

#include "mad/base/parse.h"
#include "mad/sim/state/words.h"

namespace smd::sim {
namespace {

/// From node `from` on.
std::optional<NodeIndex> next_node(const State& state, std::string_view node, NodeIndex from) {
  const auto guid = node.starts_with("0x") ? base::parse_guid(node) : std::nullopt;
  for (auto i = from; i < state.nodes.size(); ++i) {
    const auto& candidate = state.nodes[i];
    if (candidate.name == node || candidate.id == node || (guid && candidate.guid == *guid)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<NodeIndex> find_node(const State& state, std::string_view node) {
  return next_node(state, node, 0);
}

bool is_ambiguous(const State& state, std::string_view node) {
  const auto first = next_node(state, node, 0);
  return first && next_node(state, node, *first + 1);
}

std::optional<NodeIndex> parse_place(const State& state, std::string_view text,
                                     std::optional<unsigned>& port) {
  if (const auto whole_text = find_node(state, text)) return whole_text;
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = whole(text.substr(colon + 1), 254);
  if (!number) return std::nullopt;
  port = static_cast<unsigned>(*number);
  return find_node(state, text.substr(0, colon));
}

PortIndex end_port_of(const State& state, PortIndex port) {
  const auto& node = state.node_of(port);
  return node.is_switch() ? node.first_port : port;
}

bool is_end_port(const State& state, PortIndex port) {
  return !state.node_of(port).is_switch() || state.ports[port].number == PortNum{0};
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
