// SPDX-License-Identifier: Apache-2.0
#include "smd/report/ports.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "config/glob.h"
#include "mad/base/escaped.h"
#include "mad/base/parse.h"
#include "mad/wire/capability.h"
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
#include "smd/sweep/end_ports.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

Json peer_json(const sm::Snapshot& now, const sm::Port& port) {
  return port.peer ? end_json(now, {port.peer->node, port.peer->port}) : Json{};
}

/// `Down since 2026-11-23T00:31:41Z (was 4x HDR to "spine000" port 1)`.
std::string was_text(const sm::Snapshot& now, const sm::KnownLink& link) {
  const auto* peer = now.inventory->find(link.peer.node);
  const auto since = std::string(unix_json(link.lost_at).as_string());
  return fmt::format("Down since {} (was {} to \"{}\" port {})", since, sm::to_string(link.rate),
                     peer != nullptr ? peer->name : "", link.peer.port);
}

/// Which ports are asked for.
struct Filter {
  bool all = false;         ///< those that never had a link, too
  bool not_active = false;  ///< without those that never had a link, unless `all`
  bool lost = false;        ///< had a link and have none
  bool degraded = false;    ///< run at less than both ends can
  AskedPorts asked{};
  Guid node{};        ///< 0: of all
  std::string match;  ///< a pattern of nodes' names; empty: any
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
    const auto given = flag_of(question, flag.name);
    if (!given) return std::unexpected(given.error());
    filter.*flag.member = *given;
  }
  const auto asked = asked_ports(question);
  if (!asked) return std::unexpected(asked.error());
  filter.asked = *asked;
  filter.match = base::kept_name(question.asked("match"));
  return filter;
}

std::set<sm::LinkEnd> degraded_ends(const sm::Subnet& subnet) {
  std::set<sm::LinkEnd> ends;
  for (const auto& link : sm::degraded_links(subnet)) ends.insert({link.end, link.peer});
  return ends;
}

/// `only`: these and no others, without what is at their other ends.
class PortsOf {
 public:
  PortsOf(std::shared_ptr<const sm::Snapshot> now, Filter filter, std::optional<std::set<sm::LinkEnd>> only,
          std::optional<sm::LinkEnd> after)
      : now_(std::move(now)),
        filter_(std::move(filter)),
        only_(std::move(only)),
        slow_(filter_.degraded ? degraded_ends(*now_->subnet) : std::set<sm::LinkEnd>{}),
        ports_(*now_->subnet, after) {}

  std::optional<Entry> operator()() {
    while (const auto at = ports_.next()) {
      if (!is_meant(*at->node, at->port)) continue;
      auto shown = port_json(*now_, *at->node, at->port);
      return Entry{only_ ? without_peer(std::move(shown)) : std::move(shown),
                   cursor_of({at->node->guid(), at->port})};
    }
    return std::nullopt;
  }

 private:
  bool is_meant(const sm::Node& node, PortNum num) const {
    // What costs least and leaves out most comes first.
    if (filter_.node != Guid{} && filter_.node != node.guid()) return false;
    const auto& port = node.ports[num.value()];
    const sm::LinkEnd end{node.guid(), num};
    const bool active = port.known && port.info.port_state == PortState::active;
    if (only_ && !only_->contains(end)) return false;
    if (!filter_.all && sm::is_unused(now_->inventory.get(), node, num)) return false;
    if (filter_.not_active && active) return false;
    if (filter_.lost && !sm::lost_link(now_->inventory.get(), node, num)) return false;
    if (filter_.degraded && !slow_.contains(end)) return false;
    if (filter_.asked.type && node.info.type != *filter_.asked.type) return false;
    if (filter_.asked.state && (!port.known || port.info.port_state != *filter_.asked.state)) return false;
    return filter_.match.empty() || config::matches_glob(filter_.match, node.description);
  }

  std::shared_ptr<const sm::Snapshot> now_;
  Filter filter_;
  std::optional<std::set<sm::LinkEnd>> only_;
  std::set<sm::LinkEnd> slow_;
  PortWalk ports_;
};

}  // namespace

namespace {

/// By whom and since when; null: no operator has disabled it.
Json disabled_json(const sm::Snapshot& now, const sm::Node& node, PortNum num) {
  if (!now.disabled) return {};
  const auto at = find_disabled(*now.disabled, {node.guid(), num});
  if (at == now.disabled->end()) return {};
  return Json(JsonObject{{"by", text(at->second.by)}, {"since", unix_json(at->second.since)}});
}

}  // namespace

Json port_json(const sm::Snapshot& now, const sm::Node& node, PortNum num) {
  const auto& port = node.ports[num.value()];
  const auto& info = port.info;
  JsonObject object{{"guid", guid(node.guid())},
                    {"name", text(sm::raw_name(node))},
                    {"port", number(num.value())},
                    {"type", text(to_string(node.info.type))}};
  // A node that did not answer says nothing about its port.
  const auto known = [&](Json value) { return port.known ? std::move(value) : Json{}; };
  object.emplace("port_guid", known(guid(sm::port_guid(node, num))));
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
  auto disabled = disabled_json(now, node, num);
  auto reason =
      lost ? was_text(now, *lost) : sm::why_not_active(*now.subnet, node, num, now.decided.partitions.get());
  if (!disabled.is_null())
    reason = "disabled by an operator" + (reason.empty() ? std::string() : "; " + reason);
  else if (now.disabled && port.known && info.phys_state == PhysState::disabled)
    reason += ", and not by an order that is kept here: smd port enable ends it";
  object.emplace("reason", reason.empty() ? Json{} : text(reason));
  object.emplace("disabled", std::move(disabled));
  object.emplace("lost", lost ? lost_of_port_json(now, node, num) : Json{});
  return Json(std::move(object));
}

Json without_peer(Json port) {
  auto& members = port.as_object();
  for (const auto* key : {"peer", "reason", "lost"}) members[key] = nullptr;
  return port;
}

Answer get_port(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  if (!chosen->view->snapshot) return not_read(*chosen->view);
  const auto& now = *chosen->view->snapshot;
  const auto words = question.part("port");
  const auto no_such_port = [&] {
    return error_of(404, "no_such_port", fmt::format("no port {} is there: GUID_NUMBER", words));
  };
  const auto mark = words.rfind('_');
  const auto num = mark == std::string::npos ? std::nullopt : base::parse_port(words.substr(mark + 1));
  if (!num) return no_such_port();
  const auto only = ports_seen(*question.access, *chosen->view);
  const auto node = find_node(*now.subnet, words.substr(0, mark), only ? &*only : nullptr);
  if (!node) return node.error().status == 404 ? no_such_port() : node.error();
  const bool there = num->value() < (*node)->ports.size() && (num->value() > 0 || (*node)->is_switch());
  if (!there || (only && !only->contains({(*node)->guid(), *num}))) return no_such_port();
  auto shown = port_json(now, **node, *num);
  return answer_of(only ? without_peer(std::move(shown)) : std::move(shown));
}

Answer get_ports(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  auto filter = filter_of(question);
  if (!filter) return filter.error();
  const auto page = page_of(question);
  if (!page) return page.error();
  const auto after = parse_port_cursor(page->after);
  if (!after && !page->after.empty()) return bad_cursor(page->after);
  const auto& view = *chosen->view;
  auto only = ports_seen(*question.access, view);
  Around around{.before = {{"subnet", text(view.name)}}, .after = {}};
  if (!view.snapshot) return not_read(view);
  if (const auto words = question.asked("node"); !words.empty()) {
    const auto node = find_node(*view.snapshot->subnet, words, only ? &*only : nullptr);
    // A tenant does not learn which other nodes there are.
    const bool not_own = only && !node && node.error().status == 404;
    if (!node && !not_own) return node.error();
    if (node) filter->node = (*node)->guid();
    if (not_own) filter->match = words;
  }
  if (filter->lost && !only) {
    around.after.emplace("lost", lost_json(*view.snapshot));
    around.after.emplace("lost_nodes", lost_nodes_json(*view.snapshot));
    around.after.emplace("lost_links", lost_links_json(*view.snapshot));
  }
  return listing("ports", *page, PortsOf(view.snapshot, *std::move(filter), std::move(only), after),
                 std::move(around));
}

}  // namespace smd::api
