// SPDX-License-Identifier: Apache-2.0
#include "mad/base/fabric_edit.h"

#include <fmt/format.h>

#include "mad/base/error_list.h"
#include "mad/base/lines.h"
#include "mad/base/node_finder.h"

namespace smd::base {
namespace {

/// A comment starts at a '#' that is the first of the line or has a space in front, outside of quotes.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    const bool starts = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
    if (line[i] == '#' && starts && !quoted) return trim(line.substr(0, i));
  }
  return line;
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// The two halves of "leaf 1 12": a name that may have spaces, and the last word.
std::pair<std::string_view, std::string_view> split_last_word(std::string_view text) {
  const auto space = text.find_last_of(" \t");
  if (space == std::string_view::npos) return {text, {}};
  return {trim(text.substr(0, space)), text.substr(space + 1)};
}

class RemovalReader {
 public:
  explicit RemovalReader(const Fabric& fabric) : fabric_(fabric), finder_(fabric) {}
  const Removals& removals() const { return removals_; }

  /// Empty, or what is wrong with the line.
  std::string read(std::string_view line) {
    line = without_comment(line);
    if (line.empty()) return {};
    const auto what = take_word(line);
    if (what == "node") return read_node(unquoted(line));
    if (what == "link") return read_link(line);
    return fmt::format("'{}': 'node NODE' or 'link NODE PORT' is needed", what);
  }

 private:
  std::string read_node(std::string_view name) {
    if (name.empty()) return "node: a node's name or GUID is needed";
    const auto node = finder_.find(name);
    if (!node) return node.error();
    removals_.nodes.push_back(*node);
    return {};
  }

  std::string read_link(std::string_view text) {
    const auto [name, port_text] = split_last_word(text);
    const auto port = parse_port(port_text);
    if (!port) return fmt::format("link {}: 'link NODE PORT' is needed", text);
    const auto node = finder_.find(unquoted(name));
    if (!node) return node.error();
    const auto& ports = fabric_.nodes[*node].ports;
    if (port->value() == 0 || port->value() >= ports.size()) {
      return fmt::format("port {}: '{}' has ports 1 to {}", *port, name, ports.size() - 1);
    }
    if (!ports[port->value()].peer) return fmt::format("port {} of '{}' has no link", *port, name);
    removals_.links.push_back({*node, *port});
    return {};
  }

  const Fabric& fabric_;
  NodeFinder finder_;
  Removals removals_;
};

}  // namespace

std::expected<Removals, FileErrors> read_removals(const Fabric& fabric, std::string_view text,
                                                  const std::string& file_name) {
  RemovalReader reader(fabric);
  ErrorList errors;
  for_each_line(text, [&](unsigned number, std::string_view line) {
    if (auto what = reader.read(line); !what.empty()) errors.add(file_name, number, std::move(what));
  });
  if (!errors.empty()) return std::unexpected(errors.take(file_name));
  return reader.removals();
}

Fabric without(const Fabric& fabric, const Removals& removals) {
  std::vector<bool> gone(fabric.nodes.size(), false);
  for (const auto node : removals.nodes) gone.at(node) = true;
  std::vector<NodeIndex> moved(fabric.nodes.size());  // where a node that stays stands in the new fabric
  Fabric result;
  for (NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    moved[i] = static_cast<NodeIndex>(result.nodes.size());
    if (!gone[i]) result.nodes.push_back(fabric.nodes[i]);
  }
  const auto unlink = [](FabricPort& port) {
    port.peer.reset();
    port.rate = {};
  };
  for (const auto& end : removals.links) {
    const auto peer = fabric.nodes.at(end.node).ports.at(end.port.value()).peer;
    if (!gone[end.node]) unlink(result.nodes[moved[end.node]].ports[end.port.value()]);
    if (peer && !gone[peer->node]) unlink(result.nodes[moved[peer->node]].ports[peer->port.value()]);
  }
  for (auto& node : result.nodes) {
    for (auto& port : node.ports) {
      if (!port.peer) continue;
      if (gone[port.peer->node]) {
        unlink(port);
      } else {
        port.peer->node = moved[port.peer->node];
      }
    }
  }
  return result;
}

}  // namespace smd::base
