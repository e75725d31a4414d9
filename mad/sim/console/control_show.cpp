// SPDX-License-Identifier: Apache-2.0
// What is shown: nodes and ports with what is wrong with them, and who is attached.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mad/sim/console/command.h"
#include "mad/sim/fabric/in_force.h"

namespace smd::sim {
namespace {

void add_line(std::string& text, std::string_view line) {
  if (!text.empty()) text += '\n';
  text += line;
}

std::string in_brackets(const std::vector<std::string>& faults) {
  return faults.empty() ? std::string() : fmt::format(" [{}]", fmt::join(faults, ", "));
}

std::string node_line(const Node& node, const std::vector<std::string>& faults) {
  return fmt::format("{} {}:{}", node.guid, node.name, in_brackets(faults));
}

/// Ports that the node shows: an adapter's port 0 is none.
unsigned first_shown(const Node& node) { return node.is_switch() ? 0 : 1; }

}  // namespace

Command::Result Command::show() {
  if (auto good = count(1, 3, "show [NODE [PORT]]"); !good) return std::unexpected(good.error());
  if (words_.size() == 1) return show_all();
  const auto node = find_node(fabric_.state(), word(1));
  if (!node || !has_node(1)) return no_node(1);
  if (words_.size() == 2) return show_node(*node);
  const auto there = place(1);
  const auto index = there ? fabric_.find(*there) : std::nullopt;
  return index ? Result(show_port(*index)) : no_port(1);
}

/// Everything that is in force anywhere.
std::string Command::show_all() const {
  const auto& state = fabric_.state();
  std::string text;
  const auto everywhere = in_force(state);
  if (!everywhere.empty()) text = "everywhere:" + in_brackets(everywhere);
  for (const auto& node : state.nodes) {
    if (const auto faults = in_force(state, node); !faults.empty()) add_line(text, node_line(node, faults));
    for (unsigned number = first_shown(node); number <= node.ports; ++number) {
      const auto port = state.index(node, number);
      if (const auto faults = in_force(state, port); !faults.empty())
        add_line(text, fmt::format("{}:{}", port_text(state, port), in_brackets(faults)));
    }
  }
  return text.empty() ? "no faults active" : text;
}

std::string Command::show_node(NodeIndex index) const {
  const auto& state = fabric_.state();
  const auto& node = state.nodes[index];
  std::string text;
  if (const auto faults = in_force(state, node); !faults.empty()) text = node_line(node, faults);
  for (unsigned number = first_shown(node); number <= node.ports; ++number)
    add_line(text, show_port(state.index(node, number)));
  return text;
}

std::string Command::show_port(PortIndex index) const {
  const auto& state = fabric_.state();
  const auto& port = state.ports[index];
  auto text = fmt::format("{}: {} lid {} {} {}", port_text(state, index), to_string(port.info.port_state),
                          port.info.lid, to_string(wire::link_width(port.info)), to_string(port.speed));
  if (port.peer != kNowhere) text += fmt::format(" -> {}", port_text(state, port.peer));
  text += in_brackets(in_force(state, index));
  if (!port.tables || !port.tables->counters) return text;
  for (unsigned i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    const auto value = port.tables->counters->read(counter, state.now);
    if (value != 0) text += fmt::format(" {} {}", name_of(counter), value);
  }
  return text;
}

Command::Result Command::clients() {
  if (auto good = count(1, 1, "clients"); !good) return std::unexpected(good.error());
  std::string text;
  for (const auto& client : fabric_.state().clients) {
    add_line(text, fmt::format("{} {} sent {} received {}", client.id,
                               port_text(fabric_.state(), client.port), client.sent, client.received));
  }
  return text;
}

}  // namespace smd::sim
