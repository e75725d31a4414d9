// SPDX-License-Identifier: Apache-2.0
#include "smd/report/ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "mad/wire/capability.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/lost.h"
#include "smd/inventory/losses.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

Json peer_json(const sm::Snapshot& now, const sm::Port& port) {
  return port.peer ? end_json(now, {port.peer->node, port.peer->port}) : Json{};
}

/// `Down since 2026-11-23T00:31:41Z (was 4x HDR to "spine000" port 1)`, without its first word.
std::string was_text(const sm::Snapshot& now, const sm::KnownLink& link) {
  const auto* peer = now.inventory->find(link.peer.node);
  const auto since = std::string(unix_json(link.lost_at).as_string());
  return fmt::format("since {} (was {} to \"{}\" port {})", since, sm::to_string(link.rate),
                     peer != nullptr ? peer->name : "", link.peer.port);
}

/// Which ports are asked for.
struct Filter {
  bool all = false;         ///< those that never had a link, too
  bool not_active = false;  ///< without those that never had a link, unless `all`
  bool lost = false;        ///< had a link and have none
  bool degraded = false;    ///< run at less than both ends can
};

struct Flag {
  const char* name;
  bool Filter::* member;
};
constexpr std::array kFlags{Flag{"all", &Filter::all}, Flag{"not_active", &Filter::not_active},
                            Flag{"lost", &Filter::lost}, Flag{"degraded", &Filter::degraded}};

std::expected<Filter, Answer> filter_of(const Question& question) {
  Filter filter;
  for (const auto& flag : kFlags) {
    const auto found = question.query.find(flag.name);
    if (found == question.query.end()) continue;
    const auto& value = found->second;
    if (value != "true" && value != "false" && !value.empty())
      return std::unexpected(
          error_of(400, "bad_query", fmt::format("{}={}: true or false", flag.name, value)));
    filter.*flag.member = value != "false";
  }
  return filter;
}

std::set<sm::LinkEnd> degraded_ends(const sm::Subnet& subnet) {
  std::set<sm::LinkEnd> ends;
  for (const auto& link : sm::degraded_links(subnet)) ends.insert({link.end, link.peer});
  return ends;
}

JsonArray ports_json(const sm::Snapshot& now, const Filter& filter) {
  JsonArray ports;
  const auto slow = filter.degraded ? degraded_ends(*now.subnet) : std::set<sm::LinkEnd>{};
  for (const auto& node : now.subnet->nodes) {
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto& port = node->ports[p];
      const bool active = port.known && port.info.port_state == PortState::active;
      if (!filter.all && sm::is_unused(now.inventory.get(), *node, num)) continue;
      if (filter.not_active && active) continue;
      if (filter.lost && !sm::lost_link(now.inventory.get(), *node, num)) continue;
      if (filter.degraded && !slow.contains({node->guid(), num})) continue;
      ports.push_back(port_json(now, *node, num));
    }
  }
  return ports;
}

}  // namespace

Json port_json(const sm::Snapshot& now, const sm::Node& node, PortNum num) {
  const auto& port = node.ports[num.value()];
  const auto& info = port.info;
  JsonObject object{{"guid", guid(node.guid())},
                    {"name", text(node.description)},
                    {"port", number(num.value())},
                    {"type", text(to_string(node.info.type))}};
  // A node that did not answer says nothing about its port.
  const auto known = [&](Json value) { return port.known ? std::move(value) : Json{}; };
  object.emplace("port_guid", known(guid(node.is_switch() ? node.guid() : port.guid)));
  object.emplace("lid", known(number(node.is_switch() ? node.ports[0].info.lid.value() : info.lid.value())));
  object.emplace("state", known(text(to_string(info.port_state))));
  object.emplace("physical_state", known(text(sm::to_string(info.phys_state))));
  const bool linked = port.linked();
  const auto width = linked ? text(to_string(static_cast<LinkWidth>(info.link_width_active))) : Json{};
  object.emplace("width", width);
  object.emplace("speed", linked ? text(to_string(wire::link_speed(info, port.mlnx))) : Json{});
  object.emplace("mtu", linked ? number(bytes(info.neighbor_mtu)) : Json{});
  object.emplace("peer", peer_json(now, port));
  const auto lost = linked ? std::nullopt : sm::lost_link(now.inventory.get(), node, num);
  const auto reason = lost ? was_text(now, *lost) : sm::why_not_active(*now.subnet, node, num);
  object.emplace("reason", reason.empty() ? Json{} : text(reason));
  object.emplace("lost", lost ? lost_of_port_json(now, node, num) : Json{});
  return Json(std::move(object));
}

Answer get_ports(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto filter = filter_of(question);
  if (!filter) return filter.error();
  const auto& view = *chosen->view;
  JsonObject object{{"subnet", text(view.name)}};
  object.emplace("ports", Json(view.snapshot ? ports_json(*view.snapshot, *filter) : JsonArray{}));
  if (filter->lost && view.snapshot) {
    object.emplace("lost", lost_json(*view.snapshot));
    object.emplace("lost_nodes", lost_nodes_json(*view.snapshot));
    object.emplace("lost_links", lost_links_json(*view.snapshot));
  }
  return answer_of(Json(std::move(object)));
}

}  // namespace smd::api
