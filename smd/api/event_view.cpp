// SPDX-License-Identifier: Apache-2.0
#include "smd/api/event_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "mad/base/parse.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/tenant.h"
#include "smd/log/fields.h"
#include "smd/log/format.h"
#include "smd/snapshot/event_end.h"
#include "smd/sweep/end_ports.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

/// What a tenant sees of an event: nothing about other nodes, ways and operators.
constexpr std::array<std::string_view, 20> kOfTenant{
    "guid",     "name",     "port",       "partition",      "pkey", "change",   "state",
    "rate",     "best",     "was",        "downs",          "lid",  "up_for",   "members",
    "down_for", "lost_for", "suppressed", "physical_state", "trap", "trap_name"};

/// The other end is the tenant's: then the event is about that.
std::vector<log::Field> turned_round(std::vector<log::Field> fields) {
  std::erase_if(fields, [](const auto& field) {
    return field.key == "guid" || field.key == "name" || field.key == "port";
  });
  for (auto& field : fields) {
    if (field.key.starts_with("peer_")) field.key.erase(0, 5);
  }
  return fields;
}

}  // namespace

std::string to_text(events::EventId id) { return fmt::format("{}-{}", id.epoch, id.number); }

std::optional<events::EventId> parse_event_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto epoch = base::parse_number(text.substr(0, dash));
  const auto number = base::parse_number(text.substr(dash + 1));
  if (!epoch || !number) return std::nullopt;
  return events::EventId{.epoch = *epoch, .number = *number};
}

Json event_json(const events::Event& event, const std::vector<log::Field>& fields) {
  const auto& line = std::get<events::NamedLogEvent>(event.payload);
  JsonObject shown;
  for (const auto& field : fields) {
    const auto value = field.bare ? parse_json(field.value) : std::unexpected(std::string());
    shown.insert_or_assign(field.key, value ? *value : text(field.value));
  }
  return Json(JsonObject{{"id", text(to_text(event.id()))},
                         {"time", Json(log::to_utc(event.wall))},
                         {"subnet", text(event.subnet)},
                         {"level", text(config::to_string(line.level))},
                         {"event", text(line.name)},
                         {"fields", Json(std::move(shown))}});
}

events::EventId latest_seen(store::EventQuery seen, events::EventId last, Backend& backend) {
  seen.after.reset();
  seen.limit = 1;
  const auto any = backend.event_log().find(seen);
  if (any.events.empty()) return {};
  if (any.events.back()->id() <= last) return any.events.back()->id();
  seen.asker.clear();
  seen.wanted = [inner = std::move(seen.wanted), last](const events::Event& event) {
    return event.id() <= last && inner(event);
  };
  const auto latest = backend.event_log().find(seen);
  return latest.events.empty() ? events::EventId{} : latest.events.back()->id();
}

EventView::EventView(access::Access access, const Backend& backend) : access_(std::move(access)) {
  std::vector<std::string> names;
  for (const auto& view : backend.subnets()) {
    names.push_back(view->name);
    auto only = access_.only_partitions(view->name);
    if (!only) {
      if (access_.in(view->name)) others_.push_back(view->name);
      continue;
    }
    auto& tenant = tenants_[view->name];
    tenant.partitions = *std::move(only);
    if (auto ports = ports_seen(access_, *view)) tenant.ports = *std::move(ports);
    const auto lost = lost_ports_seen(access_, *view);
    for (const auto& port : lost.ports) {
      tenant.nodes.insert(port.node_guid);
      tenant.port_guids.insert(port.port_guid);
    }
    for (const auto& end : tenant.ports) {
      tenant.nodes.insert(end.node);
      const auto* node = view->snapshot->subnet->find(end.node);
      if (node != nullptr && end.port.value() < node->ports.size())
        tenant.port_guids.insert(sm::port_guid(*node, end.port));
    }
  }
  sees_process_ = access_.is_local() || access_.in_all(names) >= access::Role::viewer;
}

std::optional<std::vector<log::Field>> EventView::seen(const events::Event& event) const {
  const auto& line = std::get<events::NamedLogEvent>(event.payload);
  // Of 100,000 events that are looked through most are for others: these are not unpacked.
  if (event.subnet.empty()) return sees_process_ ? std::optional(line.fields.unpack()) : std::nullopt;
  if (!access_.in(event.subnet)) return std::nullopt;
  const auto tenant = tenants_.find(event.subnet);
  if (tenant != tenants_.end()) return seen_by(tenant->second, line.members, line.fields.unpack());
  return access_.only_partitions(event.subnet) ? std::nullopt : std::optional(line.fields.unpack());
}

store::EventQuery EventView::query(const std::optional<std::string>& subnet, std::string_view list) const {
  const auto known = list.empty() ? std::string() : digest();
  return {.subnet = subnet,
          .about = about(),
          .wanted = [this](const events::Event& event) { return seen(event).has_value(); },
          .asker = known.empty() ? known : fmt::format("{} {}\n{}", known, subnet.value_or(""), list)};
}

/// Of a tenant: the events that it may see as one, of those of its other subnets all.
std::optional<store::AboutPartitions> EventView::about() const {
  if (tenants_.empty()) return std::nullopt;
  store::AboutPartitions about;
  for (const auto& [subnet, tenant] : tenants_) {
    about.subnets.push_back(subnet);
    about.partitions.insert(about.partitions.end(), tenant.partitions.begin(), tenant.partitions.end());
  }
  return about;
}

/// Of a tenant: changes with what it sees of events. Others see most of them: empty.
std::string EventView::digest() const {
  if (tenants_.empty()) return {};
  std::string text;
  auto out = std::back_inserter(text);
  for (const auto& name : others_) fmt::format_to(out, "{}\n", name);
  for (const auto& [subnet, tenant] : tenants_) {
    fmt::format_to(out, "\n{}\n{}\n", subnet, fmt::join(tenant.partitions, "\n"));
    for (const auto& end : tenant.ports) fmt::format_to(out, "{} {}\n", end.node, end.port);
    for (const auto node : tenant.nodes) fmt::format_to(out, "{}\n", node);
  }
  return access::hash_of(text);
}

std::vector<log::Field> EventView::of_tenant(std::vector<log::Field> fields, const Tenant& tenant) {
  const auto* port_guid = log::value_of(fields, "port_guid");
  const auto guid = port_guid != nullptr ? base::parse_guid(*port_guid) : std::nullopt;
  const bool is_own_guid = guid && tenant.port_guids.contains(*guid);
  // The LID of a node may be that of a port that is another tenant's.
  const bool is_own_lid = is_own_guid || log::value_of(fields, "port") != nullptr;
  std::erase_if(fields, [&](const auto& field) {
    if (field.key == "port_guid") return !is_own_guid;
    return std::ranges::find(kOfTenant, field.key) == kOfTenant.end() || (field.key == "lid" && !is_own_lid);
  });
  return fields;
}

bool EventView::is_of_tenant(const std::optional<std::string>& subnet) const {
  return subnet ? tenants_.contains(*subnet) : !tenants_.empty();
}

bool EventView::is_own(const std::string& subnet, Guid node) const {
  const auto tenant = tenants_.find(subnet);
  return tenant != tenants_.end() && tenant->second.nodes.contains(node);
}

std::optional<std::vector<log::Field>> EventView::seen_by(const Tenant& tenant,
                                                          const events::MembersOf& members,
                                                          const std::vector<log::Field>& fields) const {
  const auto is_own_partition = [&](const std::string& name) {
    return std::ranges::find(tenant.partitions, name) != tenant.partitions.end();
  };
  if (const auto* partition = log::value_of(fields, "partition"))
    return is_own_partition(*partition) ? std::optional(of_tenant(fields, tenant)) : std::nullopt;
  const auto is_own = [&](const std::optional<sm::LinkEnd>& end,
                          const std::optional<std::vector<std::string>>& partitions_then) {
    if (!end) return false;
    if (partitions_then) return std::ranges::any_of(*partitions_then, is_own_partition);
    return end->port == PortNum{} ? tenant.nodes.contains(end->node) : tenant.ports.contains(*end);
  };
  if (is_own(sm::event_end(fields, "guid", "port"), members.end)) return of_tenant(fields, tenant);
  if (is_own(sm::event_end(fields, "peer_guid", "peer_port"), members.peer))
    return of_tenant(turned_round(fields), tenant);
  return std::nullopt;
}

}  // namespace smd::api
