// SPDX-License-Identifier: Apache-2.0
// Nodes and links of the last sweep.
#include <fmt/format.h>

#include <optional>

#include "config/glob.h"
#include "mad/base/escaped.h"
#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/api/places.h"
#include "smd/api/port_walk.h"
#include "smd/api/tenant.h"
#include "smd/inventory/losses.h"
#include "smd/report/description.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

Lid node_lid(const sm::Node& node, OnlyPorts only) {
  for (std::size_t p = 0; p < node.ports.size(); ++p) {
    const PortNum num{static_cast<std::uint8_t>(p)};
    const auto lid = node.ports[p].info.lid;
    if (sees(only, node, num) && sm::is_end_port(node, num) && lid != Lid{}) return lid;
  }
  return {};
}

}  // namespace

sm::JsonObject node_object(const sm::Node& node, OnlyPorts only) {
  std::uint64_t linked = 0, active = 0;
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    if (!sees(only, node, PortNum{static_cast<std::uint8_t>(p)})) continue;
    linked += node.ports[p].linked() ? 1 : 0;
    active += node.ports[p].known && node.ports[p].info.port_state == PortState::active ? 1 : 0;
  }
  return {{"guid", guid(node.guid())},
          {"name", text(sm::raw_name(node))},
          {"type", text(to_string(node.info.type))},
          {"lid", number(node_lid(node, only).value())},
          {"ports", number(node.port_count())},
          {"ports_linked", number(linked)},
          {"ports_active", number(active)},
          {"system_image_guid", guid(node.info.system_image)},
          {"vendor_id", text(fmt::format("0x{:06x}", node.info.vendor_id))},
          {"device_id", text(fmt::format("0x{:04x}", node.info.device_id))}};
}

namespace {

Json end_of(const sm::Node& node, PortNum port) {
  return Json(JsonObject{
      {"guid", guid(node.guid())}, {"name", text(sm::raw_name(node))}, {"port", number(port.value())}});
}

Json link_json(const sm::Node& a, PortNum at, const sm::Node& b, PortNum there, const sm::LinkRate* best) {
  const auto& port = a.ports[at.value()];
  return Json(JsonObject{{"a", end_of(a, at)},
                         {"b", end_of(b, there)},
                         {"state", text(to_string(port.info.port_state))},
                         {"width", text(to_string(static_cast<LinkWidth>(port.info.link_width_active)))},
                         {"speed", text(to_string(wire::link_speed(port.info, port.mlnx)))},
                         {"mtu", number(bytes(port.info.neighbor_mtu))},
                         {"degraded", Json(best != nullptr)},
                         {"best", best != nullptr ? text(sm::to_string(*best)) : Json{}}});
}

struct LinkFilter {
  bool degraded = false;
  Guid node{};  ///< 0: of all
  AskedPorts asked{};
};

/// Each cable once, from its smaller end, in the order of those ends.
class LinksOf {
 public:
  LinksOf(std::shared_ptr<const sm::Subnet> subnet, LinkFilter filter, std::optional<sm::LinkEnd> after)
      : subnet_(std::move(subnet)), filter_(filter), ports_(*subnet_, after) {}

  std::optional<Entry> operator()() {
    while (const auto at = ports_.next()) {
      if (auto link = link_at(*at->node, at->port)) return link;
    }
    return std::nullopt;
  }

 private:
  std::optional<Entry> link_at(const sm::Node& node, PortNum at) const {
    const auto& port = node.ports[at.value()];
    const auto& f = filter_;
    // What costs least and leaves out most comes first.
    if (!port.peer || !port.linked()) return std::nullopt;
    if (f.node != Guid{} && f.node != node.guid() && f.node != port.peer->node) return std::nullopt;
    const auto* peer = subnet_->find(port.peer->node);
    if (peer == nullptr) return std::nullopt;
    const sm::LinkEnd here{node.guid(), at}, there{peer->guid(), port.peer->port};
    const bool meant = (!f.asked.state || port.info.port_state == *f.asked.state) &&
                       (!f.asked.type || node.info.type == *f.asked.type || peer->info.type == *f.asked.type);
    if (there < here || !meant) return std::nullopt;
    const auto slow = sm::degraded_link(*subnet_, node, at);
    if (f.degraded && !slow) return std::nullopt;
    return Entry{link_json(node, at, *peer, there.port, slow ? &slow->best : nullptr), cursor_of(here)};
  }

  std::shared_ptr<const sm::Subnet> subnet_;
  LinkFilter filter_;
  PortWalk ports_;
};

std::expected<LinkFilter, Answer> link_filter_of(const Question& question, const sm::Subnet& subnet) {
  LinkFilter filter;
  const auto degraded = flag_of(question, "degraded");
  if (!degraded) return std::unexpected(degraded.error());
  filter.degraded = *degraded;
  const auto asked = asked_ports(question);
  if (!asked) return std::unexpected(asked.error());
  filter.asked = *asked;
  if (const auto words = question.asked("node"); !words.empty()) {
    const auto node = find_node(subnet, words);
    if (!node) return std::unexpected(node.error());
    filter.node = (*node)->guid();
  }
  return filter;
}

}  // namespace

Answer get_nodes(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto page = page_of(question);
  if (!page) return page.error();
  const auto type = asked_type(question);
  if (!type) return type.error();
  const auto after = page->after.empty() ? std::optional(Guid{}) : base::parse_guid(page->after);
  if (!after) return bad_cursor(page->after);
  if (!chosen->view->snapshot) return not_read(*chosen->view);
  auto next = [subnet = chosen->view->snapshot->subnet, match = base::kept_name(question.asked("match")),
               type = *type, after = *after, at = std::size_t{0}]() mutable -> std::optional<Entry> {
    while (at < subnet->nodes.size()) {
      const auto& node = *subnet->nodes[at++];
      if (after != Guid{} && node.guid() <= after) continue;
      if (type && node.info.type != *type) continue;
      if (!match.empty() && !config::matches_glob(match, node.description)) continue;
      return Entry{Json(node_object(node)), fmt::format("{}", node.guid())};
    }
    return std::nullopt;
  };
  return listing("nodes", *page, std::move(next),
                 {.before = {{"subnet", text(chosen->view->name)}}, .after = {}});
}

Answer get_node(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  if (!chosen->view->snapshot) return not_read(*chosen->view);
  const auto& now = *chosen->view->snapshot;
  const auto only = ports_seen(*question.access, *chosen->view);
  const auto node = find_node(*now.subnet, question.part("node"), only ? &*only : nullptr);
  if (!node) return node.error();
  JsonArray ports;
  for (std::size_t p = 1; p < (*node)->ports.size(); ++p) {
    const PortNum num{static_cast<std::uint8_t>(p)};
    if (!sees(only ? &*only : nullptr, **node, num)) continue;
    auto shown = port_json(now, **node, num);
    ports.push_back(only ? without_peer(std::move(shown)) : std::move(shown));
  }
  auto object = node_object(**node, only ? &*only : nullptr);
  object.emplace("subnet", text(chosen->view->name));
  object.emplace("port_list", Json(std::move(ports)));
  return answer_of(Json(std::move(object)));
}

Answer get_links(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto page = page_of(question);
  if (!page) return page.error();
  const auto after = parse_port_cursor(page->after);
  if (!after && !page->after.empty()) return bad_cursor(page->after);
  if (!chosen->view->snapshot) return not_read(*chosen->view);
  const auto& subnet = chosen->view->snapshot->subnet;
  const auto filter = link_filter_of(question, *subnet);
  if (!filter) return filter.error();
  return listing("links", *page, LinksOf(subnet, *filter, after),
                 {.before = {{"subnet", text(chosen->view->name)}}, .after = {}});
}

}  // namespace smd::api
