// SPDX-License-Identifier: Apache-2.0
#include "smd/api/lost.h"

#include <string>

#include "smd/api/json_out.h"
#include "smd/inventory/losses.h"
#include "smd/log/format.h"
#include "smd/report/description.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

Json width_json(const sm::LinkRate& rate) { return text(to_string(rate.width)); }
Json speed_json(const sm::LinkRate& rate) { return text(to_string(rate.speed)); }

/// Of a link whose ends are a switch and a host the switch's end stands first.
bool is_turned(const sm::Inventory& known, const sm::LinkEnd& end, const sm::LinkEnd& peer) {
  const auto* a = known.find(end.node);
  const auto* b = known.find(peer.node);
  return a != nullptr && b != nullptr && !a->is_switch() && b->is_switch();
}

}  // namespace

std::string name_of(const sm::Snapshot& now, Guid guid) {
  const auto* node = now.subnet->find(guid);
  if (node != nullptr) return sm::raw_name(*node);
  const auto* known = now.inventory ? now.inventory->find(guid) : nullptr;
  return known != nullptr ? known->name : std::string{};
}

Json unix_json(sm::UnixTime when) {
  if (when == 0) return {};
  auto words = log::to_utc(std::chrono::system_clock::time_point(std::chrono::seconds(when)));
  words.erase(words.find('.'));  // whole seconds
  return text(words + "Z");
}

Json end_json(const sm::Snapshot& now, const sm::LinkEnd& end) {
  return Json(JsonObject{
      {"guid", guid(end.node)}, {"name", text(name_of(now, end.node))}, {"port", number(end.port.value())}});
}

Json disabled_ports_json(const sm::Snapshot& now) {
  JsonArray ports;
  if (!now.disabled) return Json(std::move(ports));
  for (const auto& [at, port] : *now.disabled) {
    auto object = std::move(end_json(now, {at.first, at.second}).as_object());
    object.emplace("peer",
                   port.peer.first == Guid{} ? Json{} : end_json(now, {port.peer.first, port.peer.second}));
    object.emplace("by", text(port.by));
    object.emplace("since", unix_json(port.since));
    ports.push_back(Json(std::move(object)));
  }
  return Json(std::move(ports));
}

Json lost_json(const sm::Snapshot& now) {
  if (!now.inventory) return {};
  const auto lost = now.inventory->lost();
  const bool complete = lost.none();
  return Json(JsonObject{{"switches", number(lost.switches)},
                         {"hosts", number(lost.hosts)},
                         {"links", number(lost.links)},
                         {"switch_links", number(lost.switch_links)},
                         {"complete_at", complete ? Json{} : unix_json(now.inventory->complete_at())}});
}

Json lost_nodes_json(const sm::Snapshot& now) {
  JsonArray nodes;
  if (!now.inventory) return Json(std::move(nodes));
  for (const auto& [node, when] : now.inventory->lost_nodes()) {
    const auto& known = *now.inventory->find(node);
    Json behind;
    std::uint64_t links = 0;
    now.inventory->for_each_link(node, [&](const sm::LinkEnd&, const sm::KnownLink& link) {
      if (links++ == 0) behind = end_json(now, link.peer);
    });
    nodes.push_back(Json(JsonObject{{"guid", guid(node)},
                                    {"name", text(known.name)},
                                    {"type", text(to_string(known.type))},
                                    {"since", unix_json(when)},
                                    {"links", number(links)},
                                    {"behind", known.is_switch() ? Json{} : std::move(behind)}}));
  }
  return Json(std::move(nodes));
}

Json lost_links_json(const sm::Snapshot& now) {
  JsonArray links;
  if (!now.inventory) return Json(std::move(links));
  for (const auto& [end, when] : now.inventory->lost_links()) {
    const auto& link = *now.inventory->find(end);
    const bool turned = is_turned(*now.inventory, end, link.peer);
    auto object = std::move(end_json(now, turned ? link.peer : end).as_object());
    object.emplace("peer", end_json(now, turned ? end : link.peer));
    object.emplace("width", width_json(link.rate));
    object.emplace("speed", speed_json(link.rate));
    object.emplace("since", unix_json(when));
    links.push_back(Json(std::move(object)));
  }
  return Json(std::move(links));
}

Json lost_of_port_json(const sm::Snapshot& now, const sm::Node& node, PortNum port) {
  const auto link = sm::lost_link(now.inventory.get(), node, port);
  if (!link) return {};
  return Json(JsonObject{{"since", unix_json(link->lost_at)},
                         {"width", width_json(link->rate)},
                         {"speed", speed_json(link->rate)},
                         {"peer", end_json(now, link->peer)}});
}

Json degraded_json(const sm::Snapshot& now) {
  JsonArray links;
  for (const auto& link : sm::degraded_links(*now.subnet)) {
    auto object = std::move(end_json(now, link.end).as_object());
    object.emplace("peer", end_json(now, link.peer));
    object.emplace("width", width_json(link.rate));
    object.emplace("speed", speed_json(link.rate));
    object.emplace("best_width", width_json(link.best));
    object.emplace("best_speed", speed_json(link.best));
    links.push_back(Json(std::move(object)));
  }
  return Json(std::move(links));
}

}  // namespace smd::api
