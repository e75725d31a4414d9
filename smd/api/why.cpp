// SPDX-License-Identifier: Apache-2.0
// Why a port is as it is: its state, what was lost with it, and what has happened to both its ends.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mad/base/parse.h"
#include "smd/api/event_view.h"
#include "smd/api/fabric_ports.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/api/places.h"
#include "smd/api/tenant.h"
#include "smd/inventory/losses.h"
#include "smd/log/fields.h"
#include "smd/snapshot/event_end.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

/// Events that are looked through for each question, the latest first, and those that are shown.
constexpr std::size_t kLookedThrough = 10'000, kShown = 5;

/// What is asked for: a node, perhaps one port of it.
struct Subject {
  std::string words;
  std::optional<PortNum> port{};  ///< nothing: all
};

/// "leaf1:3" as port 3 of leaf1.
std::optional<Subject> split_port(const std::string& words) {
  const auto colon = words.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto port = base::parse_port(std::string_view(words).substr(colon + 1));
  if (!port || port->value() == 0) return std::nullopt;
  return Subject{words.substr(0, colon), port};
}

/// Ports, or (0) any port of a node.
using Ends = std::vector<sm::LinkEnd>;

bool is_one_of(const Ends& ends, const std::optional<sm::LinkEnd>& at) {
  if (!at) return false;
  return std::ranges::any_of(ends, [&](const sm::LinkEnd& end) {
    return end.node == at->node && (end.port == PortNum{} || at->port == PortNum{} || end.port == at->port);
  });
}

bool is_loss(std::string_view event) { return event == "node.gone"; }

/// Those that come most often name none.
bool may_name_port(std::string_view event) { return event != "api.call" && event != "sweep"; }

/// The events of one subnet, as the caller sees them.
class Happened {
 public:
  Happened(const Question& question, const SubnetView& view, Backend& backend)
      : subnet_(view.name), seen_(*question.access, backend), log_(backend.event_log()) {}

  /// Those of the latest events of such names for which `wanted(fields)`, oldest first.
  template <class Wanted>
  std::vector<events::EventPtr> latest(std::size_t limit, bool (*named)(std::string_view), Wanted&& wanted) {
    const auto found = log_.find({.limit = limit,
                                  .subnet = subnet_,
                                  .named = named,
                                  .most = kLookedThrough,
                                  .wanted = [&](const events::Event& event) {
                                    const auto fields = seen_.seen(event);
                                    return fields && wanted(*fields);
                                  }});
    return {found.events.begin(), found.events.end()};
  }
  Json json(const events::Event& event) const {
    return event_json(event, seen_.seen(event).value_or(std::vector<log::Field>{}));
  }
  std::vector<log::Field> fields(const events::Event& event) const {
    return seen_.seen(event).value_or(std::vector<log::Field>{});
  }
  /// It was a tenant's: a partition names it, or the caller may read that it has gone.
  bool is_own_lost(Guid node) {
    if (seen_.is_own(subnet_, node)) return true;
    return !latest(1, is_loss, [&](const std::vector<log::Field>& fields) {
              const auto end = sm::event_end(fields, "guid", "port");
              return end && end->node == node;
            }).empty();
  }
  JsonArray about(const Ends& ends) {
    JsonArray list;
    const auto found = latest(kShown, may_name_port, [&](const std::vector<log::Field>& fields) {
      return is_one_of(ends, sm::event_end(fields, "guid", "port")) ||
             is_one_of(ends, sm::event_end(fields, "peer_guid", "peer_port"));
    });
    for (const auto& event : found) list.push_back(json(*event));
    return list;
  }

 private:
  std::string subnet_;
  EventView seen_;
  store::EventLog& log_;
};

Answer why_answer(const SubnetView& view, JsonArray ports, Json lost, JsonArray happened) {
  const auto off = std::chrono::floor<std::chrono::seconds>(view.sweeps_off_until).time_since_epoch().count();
  return answer_of(Json(JsonObject{{"subnet", text(view.name)},
                                   {"sweeps_off_until", sweeps_are_off(view) ? unix_json(off) : Json{}},
                                   {"ports", Json(std::move(ports))},
                                   {"lost", std::move(lost)},
                                   {"events", Json(std::move(happened))}}));
}

/// A tenant's ports; null: the caller sees all.
using OwnPorts = const std::set<sm::LinkEnd>*;

/// A host's port whose link is down is not read: that there was a link, or an order that there be none, is
/// known still.
bool has_story(const sm::Snapshot& now, const sm::Node& node, PortNum num) {
  if (node.ports[num.value()].known || sm::lost_link(now.inventory.get(), node, num)) return true;
  return now.disabled && find_disabled(*now.disabled, {node.guid(), num}) != now.disabled->end();
}

Answer why_here(const SubnetView& view, const sm::Node& node, std::optional<PortNum> only, OwnPorts own,
                Happened& log) {
  const auto& now = *view.snapshot;
  Ends ends{{node.guid(), only.value_or(PortNum{})}};
  JsonArray ports;
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    const PortNum num{static_cast<std::uint8_t>(p)};
    if (only ? num != *only : !has_story(now, node, num)) continue;
    if (own != nullptr && !own->contains({node.guid(), num})) continue;
    auto shown = port_json(now, node, num);
    ports.push_back(own != nullptr ? without_peer(std::move(shown)) : std::move(shown));
    if (const auto lost = sm::lost_link(now.inventory.get(), node, num); lost && !node.ports[p].linked())
      ends.push_back(lost->peer);
  }
  if (ports.empty())
    return error_of(404, "no_such_port",
                    only ? fmt::format("{} has no port {}", node.description, *only)
                         : fmt::format("{} has no port that answers", node.description));
  return why_answer(view, std::move(ports), {}, log.about(ends));
}

/// A node that is lost, or was until an operator accepted it.
struct Gone {
  Guid node{};
  std::string name, type;
  events::EventPtr event;  ///< node.gone; null: not kept any more
  bool counted = false;    ///< as lost
};

/// Ports of lost nodes, as absent_ports() has them: a tenant's own, or all.
NamedPorts lost_ports(const Question& question, const SubnetView& view, OwnPorts own) {
  if (own != nullptr) return lost_ports_seen(*question.access, view);
  std::set<Guid> nodes;
  if (const auto& known = view.snapshot->inventory; known) {
    for (const auto& [node, when] : known->lost_nodes()) nodes.insert(node);
  }
  return absent_ports(*view.snapshot, nodes);
}

/// The lost node that has a port with this GUID or LID; nothing: none of `ports` has it.
std::optional<Guid> lost_node_at(const sm::Snapshot& now, const std::vector<config::PortView>& ports,
                                 const std::string& words) {
  const auto guid = base::parse_guid(words);
  const bool decimal = words.find_first_not_of("0123456789") == std::string::npos;
  const auto lid = decimal ? base::parse_lid(words) : std::nullopt;
  for (const auto& port : ports) {
    if (guid && port.port_guid == *guid) return port.node_guid;
    if (!lid || !lid->unicast() || !now.stored) continue;
    const auto kept = now.stored->lids.find(port.port_guid);
    if (kept == now.stored->lids.end()) continue;
    const auto first = kept->second.base.value();
    if (lid->value() >= first && lid->value() - first < kept->second.count()) return port.node_guid;
  }
  return std::nullopt;
}

/// `ports`: those of lost nodes that the caller sees.
std::optional<Gone> find_gone(const sm::Snapshot& now, const std::string& words,
                              const std::vector<config::PortView>& ports, Happened& log) {
  const auto named_guid = base::parse_guid(words);
  const auto is_word = [&](const std::string* value) { return value != nullptr && *value == words; };
  const auto is_guid = [&](const std::string* value) {
    return value != nullptr && named_guid && base::parse_guid(*value) == named_guid;
  };
  const auto matches = [&](const std::vector<log::Field>& fields) {
    const auto* name = log::value_of(fields, "name");
    return is_guid(log::value_of(fields, "guid")) || is_guid(log::value_of(fields, "port_guid")) ||
           (name != nullptr && is_written_as(*name, words)) || is_word(log::value_of(fields, "lid"));
  };
  Gone gone;
  // The event has the GUID and the LID of one port only.
  const auto by_port = lost_node_at(now, ports, words);
  const auto found = log.latest(1, is_loss, [&](const std::vector<log::Field>& fields) {
    if (!by_port) return matches(fields);
    const auto* guid = log::value_of(fields, "guid");
    return guid != nullptr && base::parse_guid(*guid) == by_port;
  });
  if (!found.empty()) gone.event = found.back();
  const auto fields = gone.event ? log.fields(*gone.event) : std::vector<log::Field>{};
  const auto* by_event = log::value_of(fields, "guid");
  const auto guid = by_port ? by_port : by_event != nullptr ? base::parse_guid(*by_event) : named_guid;
  if (now.inventory) {
    for (const auto& [node, when] : now.inventory->lost_nodes()) {
      const auto& known = *now.inventory->find(node);
      const bool is_named = by_port ? node == by_port : node == guid || node == named_guid;
      if (!is_named && !is_written_as(known.name, words)) continue;
      gone.node = node, gone.name = known.name, gone.type = to_string(known.type), gone.counted = true;
      return gone;
    }
  }
  if (!gone.event || !guid || now.subnet->find(*guid) != nullptr) return std::nullopt;
  gone.node = *guid;
  if (const auto* name = log::value_of(fields, "name")) gone.name = *name;
  if (const auto* type = log::value_of(fields, "type")) gone.type = *type;
  return gone;
}

const Json& row_at(const Json& row, std::string_view key) { return row.as_object().at(key); }

bool is_row_of(const Json& row, std::string_view guid_text) {
  return row.is_object() && row_at(row, "guid").as_string() == guid_text;
}

bool is_same_port(const Json& a, const Json& b) {
  return a.is_object() && b.is_object() && row_at(a, "guid") == row_at(b, "guid") &&
         row_at(a, "port") == row_at(b, "port");
}

/// A tenant sees its node alone: what stood at the other ends is not its own.
Answer why_gone_to_tenant(const SubnetView& view, const Gone& gone, Happened& log) {
  Json node(JsonObject{{"guid", text(fmt::format("{}", gone.node))},
                       {"name", text(gone.name)},
                       {"type", text(gone.type)},
                       {"since", unix_json(view.snapshot->inventory->find(gone.node)->lost_at)}});
  Json lost(JsonObject{{"node", std::move(node)},
                       {"links", Json(JsonArray{})},
                       {"ports_disabled", Json(JsonArray{})},
                       {"accepted", Json(false)},
                       {"gone", gone.event ? log.json(*gone.event) : Json{}}});
  return why_answer(view, {}, std::move(lost), log.about({{gone.node, PortNum{}}}));
}

Answer why_gone(const SubnetView& view, const Gone& gone, std::optional<PortNum> only, Happened& log) {
  const auto& now = *view.snapshot;
  const auto guid_text = fmt::format("{}", gone.node);
  Json node(JsonObject{{"guid", text(guid_text)}, {"name", text(gone.name)}, {"type", text(gone.type)}});
  const auto nodes = lost_nodes_json(now);
  for (const auto& row : nodes.as_array()) {
    if (is_row_of(row, guid_text)) node = row;
  }
  Ends ends{{gone.node, only.value_or(PortNum{})}};
  JsonArray links, disabled;
  const auto all_disabled = disabled_ports_json(now), all_links = lost_links_json(now);
  for (const auto& link : all_links.as_array()) {
    const auto& peer = row_at(link, "peer");
    if (!is_row_of(link, guid_text) && !is_row_of(peer, guid_text)) continue;
    const auto& own = is_row_of(link, guid_text) ? link : peer;
    if (only && row_at(own, "port").to_number<unsigned>() != only->value()) continue;
    const auto& other = is_row_of(link, guid_text) ? peer : link;
    const auto far = base::parse_guid(std::string(row_at(other, "guid").as_string()));
    if (far) ends.push_back({*far, PortNum{row_at(other, "port").to_number<std::uint8_t>()}});
    for (const auto& port : all_disabled.as_array()) {
      if (is_same_port(port, link) || is_same_port(port, peer)) disabled.push_back(port);
    }
    links.push_back(link);
  }
  if (only && links.empty() && gone.counted)
    return error_of(404, "no_such_port", fmt::format("{} has no lost link at port {}", gone.name, *only));
  Json lost(JsonObject{{"node", std::move(node)},
                       {"links", Json(std::move(links))},
                       {"ports_disabled", Json(std::move(disabled))},
                       {"accepted", Json(!gone.counted)},
                       {"gone", gone.event ? log.json(*gone.event) : Json{}}});
  return why_answer(view, {}, std::move(lost), log.about(ends));
}

/// Nothing: no such node is there, or known as lost. The error is one of its own.
std::optional<Answer> why_of(const Question& question, const SubnetView& view, const Subject& subject,
                             OwnPorts own, Happened& log) {
  const auto node = find_node(*view.snapshot->subnet, subject.words, own);
  if (node) return why_here(view, **node, subject.port, own, log);
  if (node.error().status != 404) return node.error();
  const auto gone = find_gone(*view.snapshot, subject.words, lost_ports(question, view, own).ports, log);
  if (own != nullptr) {
    if (!gone || !gone->counted || !log.is_own_lost(gone->node)) return std::nullopt;
    return why_gone_to_tenant(view, *gone, log);
  }
  return gone ? std::optional(why_gone(view, *gone, subject.port, log)) : std::nullopt;
}

}  // namespace

Answer get_why(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto port = question.asked("port"), node = question.asked("node");
  if (port.empty() == node.empty())
    return error_of(400, "bad_query", "port (NODE:PORT or a node) or node: one of the two");
  const auto& view = *chosen->view;
  if (!view.snapshot) return not_read(view);
  const auto only = ports_seen(*question.access, view);
  const auto* own = only ? &*only : nullptr;
  Happened log(question, view, backend);
  const auto& words = node.empty() ? port : node;
  if (auto answered = why_of(question, view, {.words = words}, own, log)) return *std::move(answered);
  const auto subject = node.empty() ? split_port(words) : std::nullopt;
  if (subject) {
    if (auto answered = why_of(question, view, *subject, own, log)) return *std::move(answered);
  }
  const auto none = find_node(*view.snapshot->subnet, subject ? subject->words : words, own);
  return none ? error_of(404, "no_such_port", fmt::format("no port {} is there", words)) : none.error();
}

}  // namespace smd::api
