// SPDX-License-Identifier: Apache-2.0
#include "smd/report/ports.h"

#include <fmt/format.h>

#include "mad/wire/capability.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"

namespace smd::api {

using sm::Json;

namespace {

Json peer_json(const sm::Subnet& subnet, const sm::Port& port) {
  if (!port.peer) return {};
  const auto* node = subnet.find(port.peer->node);
  return Json{Json::Object{{"guid", guid(port.peer->node)},
                           {"name", text(node != nullptr ? node->description : "")},
                           {"port", number(port.peer->port.value())}}};
}

}  // namespace

Json port_json(const sm::Subnet& subnet, const sm::Node& node, PortNum num) {
  const auto& port = node.ports[num.value()];
  const auto& info = port.info;
  Json::Object object{{"guid", guid(node.guid())},
                      {"name", text(node.description)},
                      {"port", number(num.value())},
                      {"type", text(to_string(node.info.type))}};
  // A node that did not answer says nothing about its port.
  const auto known = [&](Json value) { return port.known ? std::move(value) : Json{}; };
  object.emplace_back("port_guid", known(guid(node.is_switch() ? node.guid() : port.guid)));
  object.emplace_back("lid",
                      known(number(node.is_switch() ? node.ports[0].info.lid.value() : info.lid.value())));
  object.emplace_back("state", known(text(to_string(info.port_state))));
  object.emplace_back("physical_state", known(text(sm::to_string(info.phys_state))));
  const bool linked = port.linked();
  const auto width = linked ? text(to_string(static_cast<LinkWidth>(info.link_width_active))) : Json{};
  object.emplace_back("width", width);
  object.emplace_back("speed", linked ? text(to_string(wire::link_speed(info, port.mlnx))) : Json{});
  object.emplace_back("mtu", linked ? number(bytes(info.neighbor_mtu)) : Json{});
  object.emplace_back("peer", peer_json(subnet, port));
  const auto reason = sm::why_not_active(subnet, node, num);
  object.emplace_back("reason", reason.empty() ? Json{} : text(reason));
  return Json{std::move(object)};
}

Answer get_ports(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto wanted = question.query.find("not_active");
  const bool all = wanted == question.query.end() || wanted->second == "false";
  if (!all && wanted->second != "true" && !wanted->second.empty())
    return error_of(400, "bad_query", fmt::format("not_active={}: true or false", wanted->second));
  Json::Array ports;
  const auto& view = *chosen->view;
  if (view.snapshot) {
    const auto& subnet = *view.snapshot->subnet;
    for (const auto& node : subnet.nodes) {
      for (std::size_t p = 1; p < node->ports.size(); ++p) {
        const auto& port = node->ports[p];
        if (!all && port.known && port.info.port_state == PortState::active) continue;
        ports.push_back(port_json(subnet, *node, PortNum{static_cast<std::uint8_t>(p)}));
      }
    }
  }
  return answer_of(Json{Json::Object{{"subnet", text(view.name)}, {"ports", Json{std::move(ports)}}}});
}

}  // namespace smd::api
