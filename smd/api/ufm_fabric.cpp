// SPDX-License-Identifier: Apache-2.0
// Ports, systems and links as UFM shows them.
#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mad/base/parse.h"
#include "mad/wire/capability.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/pieces.h"
#include "smd/api/ufm.h"
#include "smd/sweep/end_ports.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

std::string_view logical(PortState state) {
  switch (state) {
    case PortState::active:
      return "Active";
    case PortState::armed:
      return "Armed";
    case PortState::init:
      return "Initialize";
    case PortState::down:
    case PortState::no_change:
      return "Down";
  }
  return "Down";
}

std::string_view physical(PhysState state) {
  switch (state) {
    case PhysState::link_up:
      return "Link Up";
    case PhysState::disabled:
      return "Disabled";
    case PhysState::polling:
      return "Polling";
    case PhysState::training:
      return "Port Configuration Training";
    case PhysState::error_recovery:
      return "Link Error Recovery";
    case PhysState::sleep:
      return "Sleep";
    case PhysState::phy_test:
      return "Phy Test";
    case PhysState::no_change:
      return "No State Change";
  }
  return "No State Change";
}

Guid port_guid_of(const sm::Node& node, std::size_t port) {
  return sm::port_guid(node, PortNum{static_cast<std::uint8_t>(port)});
}

std::string ufm_port_name(const sm::Node& node, std::size_t port) {
  return fmt::format("{}_{}", ufm_text(port_guid_of(node, port)), port);
}

/// What the other end's port is called; nothing: there is none, or it was never reached.
std::optional<std::string> ufm_peer_name(const sm::Subnet& subnet, const sm::Port& port) {
  const auto* node = port.peer ? subnet.find(port.peer->node) : nullptr;
  if (node == nullptr || port.peer->port.value() >= node->ports.size()) return std::nullopt;
  if (sm::port_guid(*node, port.peer->port) == Guid{}) return std::nullopt;
  return ufm_port_name(*node, port.peer->port.value());
}

Json ufm_port_object(const sm::Subnet& subnet, const sm::Node& node, std::size_t number_of) {
  const auto& port = node.ports[number_of];
  const auto lid = node.is_switch() ? node.ports[0].info.lid : port.info.lid;
  JsonObject object{{"guid", text(ufm_text(port_guid_of(node, number_of)))},
                    {"name", text(ufm_port_name(node, number_of))},
                    {"number", number(number_of)},
                    {"dname", text(fmt::format("{}", number_of))},
                    {"systemID", text(ufm_text(node.guid()))},
                    {"system_name", text(node.description)},
                    {"lid", number(lid.value())},
                    {"physical_state", text(port.known ? physical(port.info.phys_state) : "No State Change")},
                    {"logical_state", text(logical(port.known ? port.info.port_state : PortState::down))}};
  if (port.linked()) {
    object.emplace("active_width", text(to_string(static_cast<LinkWidth>(port.info.link_width_active))));
    object.emplace("active_speed", text(to_string(wire::link_speed(port.info, port.mlnx))));
    object.emplace("mtu", number(bytes(port.info.neighbor_mtu)));
  }
  if (const auto peer = ufm_peer_name(subnet, port)) object.emplace("peer", text(*peer));
  return Json(std::move(object));
}

/// Ports that can be addressed: without port 0 of switches, and adapters' ports that were never reached.
template <class Fn>
void for_each_ufm_port_of(const sm::Node& node, Fn fn) {
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    if (port_guid_of(node, p) != Guid{}) fn(p);
  }
}

Json ufm_system_object(const sm::Node& node, bool with_ports) {
  JsonObject object{{"guid", text(ufm_text(node.guid()))},
                    {"system_guid", text(ufm_text(node.info.system_image))},
                    {"name", text(ufm_text(node.guid()))},
                    {"system_name", text(node.description)},
                    {"type", text(node.is_switch() ? "switch" : "host")}};
  if (with_ports) {
    JsonArray ports;
    for_each_ufm_port_of(node, [&](std::size_t p) { ports.push_back(text(ufm_port_name(node, p))); });
    object.emplace("ports", Json(std::move(ports)));
  }
  return Json(std::move(object));
}

/// As clients of UFM expect it of what is not there.
Answer nothing() { return {.status = 200, .body = "{}", .bundle = nullptr, .allow = {}}; }

/// The node of a port with this port GUID; null: there is none. Without a look at the ports of switches,
/// which have the node's.
const sm::Node* node_with_port(const sm::Subnet& subnet, Guid guid, std::size_t port) {
  const auto has = [&](const sm::Node& node) {
    return port < node.ports.size() && port_guid_of(node, port) == guid;
  };
  const auto* own = subnet.find(guid);
  if (own != nullptr && has(*own)) return own;
  const auto at =
      std::ranges::find_if(subnet.nodes, [&](const auto& node) { return !node->is_switch() && has(*node); });
  return at != subnet.nodes.end() ? at->get() : nullptr;
}

/// `sys_type` as UFM has it; a type that no node of ours has: none.
bool is_of_type(const sm::Node& node, std::string_view type) {
  const auto is = [&](std::string_view name) {
    return boost::beast::iequals({type.data(), type.size()}, {name.data(), name.size()});
  };
  if (node.is_switch()) return is("Switch");
  return node.info.type == NodeType::ca ? is("Computer") || is("Host") : is("Router");
}

/// Null: nothing is read yet.
std::expected<std::shared_ptr<const sm::Subnet>, Answer> ufm_subnet_of(const Question& question,
                                                                       Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return std::unexpected(chosen.error());
  if (!chosen->view->snapshot) return std::unexpected(error_of(503, "waiting", "the fabric is not read yet"));
  return chosen->view->snapshot->subnet;
}

/// Of the cable at this port; nothing: there is none, or it is one of the other end's.
std::optional<Json> ufm_link(const sm::Subnet& subnet, const sm::Node& node, std::size_t p) {
  const auto& peer = node.ports[p].peer;
  const auto* other = peer && node.ports[p].linked() ? subnet.find(peer->node) : nullptr;
  const bool second =
      other != nullptr && (other->guid() < node.guid() || (other == &node && peer->port.value() < p));
  if (other == nullptr || second || peer->port.value() >= other->ports.size()) return std::nullopt;
  const auto here = ufm_port_name(node, p), there = ufm_port_name(*other, peer->port.value());
  return Json(
      JsonObject{{"name", text(fmt::format("{}:{}", here, there))},
                 {"source_guid", text(ufm_text(node.guid()))},
                 {"source_port", text(fmt::format("{}", p))},
                 {"source_port_node_description", text(node.description)},
                 {"destination_guid", text(ufm_text(other->guid()))},
                 {"destination_port", text(fmt::format("{}", peer->port.value()))},
                 {"destination_port_node_description", text(other->description)},
                 {"width", text(to_string(static_cast<LinkWidth>(node.ports[p].info.link_width_active)))},
                 {"severity", text("Info")}});
}

/// What `of_node` gives of one node after the other, made as the client takes it: all ports of a large fabric
/// would be a gigabyte as values.
template <class Fn>
Answer ufm_items(std::shared_ptr<const sm::Subnet> subnet, Fn of_node) {
  return answer_in_pieces([nodes = std::move(subnet), of_node = std::move(of_node), at = std::size_t{0},
                           any = false](std::string& text) mutable {
    if (at == 0) text += '[';
    if (at == nodes->nodes.size()) {
      text += "]\n";
      return false;
    }
    of_node(*nodes, *nodes->nodes[at++],
            [&](const Json& one) { text += (std::exchange(any, true) ? "," : "") + sm::to_text(one); });
    return true;
  });
}

}  // namespace

Answer ufm_ports(const Question& question, Backend& backend) {
  const auto subnet = ufm_subnet_of(question, backend);
  if (!subnet) return subnet.error();
  const auto type = question.asked("sys_type");
  const bool active = ufm_is_asked(question, "active");
  return ufm_items(*subnet, [type, active](const sm::Subnet& all, const sm::Node& node, auto add) {
    if (!type.empty() && !is_of_type(node, type)) return;
    for_each_ufm_port_of(node, [&](std::size_t p) {
      const auto& port = node.ports[p];
      if (!active || (port.known && port.info.port_state == PortState::active))
        add(ufm_port_object(all, node, p));
    });
  });
}

Answer ufm_port(const Question& question, Backend& backend) {
  const auto subnet = ufm_subnet_of(question, backend);
  if (!subnet) return subnet.error();
  const auto name = question.part("port");
  const auto dash = std::min(name.find('_'), name.size());
  const auto guid = base::parse_guid(name.substr(0, dash));
  const auto num = dash < name.size() ? base::parse_number(name.substr(dash + 1), 254) : std::nullopt;
  if (!guid || *guid == Guid{} || !num || *num == 0) return nothing();
  const auto* node = node_with_port(**subnet, *guid, *num);
  // The number as it is written there: without zeros before it.
  if (node == nullptr || ufm_port_name(*node, *num) != ufm_text(*guid) + name.substr(dash)) return nothing();
  return answer_of(Json(JsonArray{ufm_port_object(**subnet, *node, *num)}));
}

Answer ufm_systems(const Question& question, Backend& backend) {
  const auto subnet = ufm_subnet_of(question, backend);
  if (!subnet) return subnet.error();
  const bool with_ports = ufm_is_asked(question, "ports");
  return ufm_items(*subnet, [with_ports](const sm::Subnet&, const sm::Node& node, auto add) {
    add(ufm_system_object(node, with_ports));
  });
}

Answer ufm_system(const Question& question, Backend& backend) {
  const auto subnet = ufm_subnet_of(question, backend);
  if (!subnet) return subnet.error();
  const auto guid = base::parse_guid(question.part("system"));
  const auto* node = guid ? (*subnet)->find(*guid) : nullptr;
  if (node == nullptr) return nothing();
  return answer_of(Json(JsonArray{ufm_system_object(*node, ufm_is_asked(question, "ports"))}));
}

Answer ufm_links(const Question& question, Backend& backend) {
  const auto subnet = ufm_subnet_of(question, backend);
  if (!subnet) return subnet.error();
  return ufm_items(*subnet, [](const sm::Subnet& all, const sm::Node& node, auto add) {
    for_each_ufm_port_of(node, [&](std::size_t p) {
      if (auto link = ufm_link(all, node, p)) add(*link);
    });
  });
}

}  // namespace smd::api
