// SPDX-License-Identifier: Apache-2.0
#include "smd/api/event_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "mad/base/parse.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/tenant.h"
#include "smd/log/format.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

/// What a tenant sees of an event: nothing about other nodes, ways and operators.
constexpr std::array<std::string_view, 18> kOfTenant{
    "guid", "name",  "port", "partition", "pkey",    "change",   "state",    "rate",       "best",
    "was",  "downs", "lid",  "up_for",    "members", "down_for", "lost_for", "suppressed", "physical_state"};

const std::string* value_of(const std::vector<log::Field>& fields, std::string_view key) {
  const auto at = std::ranges::find(fields, key, &log::Field::key);
  return at != fields.end() ? &at->value : nullptr;
}

/// Nodes that are lost, and that a partition of the tenant names by their name or GUID.
std::set<Guid> lost_of_tenant(const access::Access& access, const SubnetView& view) {
  std::set<Guid> nodes;
  const auto& now = view.snapshot;
  if (!now || !now->inventory || !now->decided.partitions || !now->decided.partitions->policy) return nodes;
  const auto& decided = *now->decided.partitions;
  std::set<std::string> words;
  for (const auto& partition : decided.policy->partitions) {
    if (!sees_partition(access, view.name, partition.name)) continue;
    const auto at =
        std::ranges::find(decided.partitions, partition.pkey, &sm::PartitionPart::Partition::pkey);
    if (at == decided.partitions.end()) continue;
    for (const auto& rule : at->pending) words.insert(to_string(rule.member.term));
  }
  if (words.empty()) return nodes;
  for (const auto& [guid, node] : now->inventory->nodes()) {
    if (node.lost() && (words.contains(node.name) || words.contains(fmt::format("{}", guid))))
      nodes.insert(guid);
  }
  return nodes;
}

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

std::vector<log::Field> of_tenant(std::vector<log::Field> fields) {
  std::erase_if(fields,
                [](const auto& field) { return std::ranges::find(kOfTenant, field.key) == kOfTenant.end(); });
  return fields;
}

}  // namespace

std::optional<sm::LinkEnd> event_end(const std::vector<log::Field>& fields, std::string_view guid_key,
                                     std::string_view port_key) {
  const auto* guid_text = value_of(fields, guid_key);
  const auto node = guid_text != nullptr ? base::parse_guid(*guid_text) : std::nullopt;
  if (!node) return std::nullopt;
  const auto* port_text = value_of(fields, port_key);
  const auto port =
      port_text != nullptr ? base::parse_number(*port_text, 254) : std::optional<std::uint64_t>(0);
  if (!port) return std::nullopt;
  return sm::LinkEnd{*node, PortNum{static_cast<std::uint8_t>(*port)}};
}

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

EventView::EventView(access::Access access, const Backend& backend, const EventView* before)
    : access_(std::move(access)) {
  std::vector<std::string> names;
  for (const auto& view : backend.subnets()) {
    names.push_back(view->name);
    auto only = access_.only_partitions(view->name);
    if (!only) continue;
    auto& tenant = tenants_[view->name];
    tenant.partitions = *std::move(only);
    if (auto ports = ports_seen(access_, *view)) tenant.ports = *std::move(ports);
    tenant.nodes = lost_of_tenant(access_, *view);
    const auto old = before != nullptr ? before->tenants_.find(view->name) : tenants_.end();
    if (before != nullptr && old != before->tenants_.end() && old->second.partitions == tenant.partitions) {
      tenant.ports.insert(old->second.ports.begin(), old->second.ports.end());
      tenant.nodes.insert(old->second.nodes.begin(), old->second.nodes.end());
    }
    for (const auto& end : tenant.ports) tenant.nodes.insert(end.node);
  }
  sees_process_ = access_.is_local() || access_.in_all(names) >= access::Role::viewer;
}

std::optional<std::vector<log::Field>> EventView::seen(const events::Event& event) const {
  auto fields = std::get<events::NamedLogEvent>(event.payload).fields.unpack();
  if (event.subnet.empty()) return sees_process_ ? std::optional(std::move(fields)) : std::nullopt;
  if (!access_.in(event.subnet)) return std::nullopt;
  const auto tenant = tenants_.find(event.subnet);
  if (tenant == tenants_.end())
    return access_.only_partitions(event.subnet) ? std::nullopt : std::optional(std::move(fields));
  return seen_by(tenant->second, fields);
}

std::optional<std::vector<log::Field>> EventView::seen_by(const Tenant& tenant,
                                                          const std::vector<log::Field>& fields) const {
  if (const auto* partition = value_of(fields, "partition")) {
    const bool own = std::ranges::find(tenant.partitions, *partition) != tenant.partitions.end();
    return own ? std::optional(of_tenant(fields)) : std::nullopt;
  }
  const auto own = [&](const std::optional<sm::LinkEnd>& end) {
    if (!end) return false;
    return end->port == PortNum{} ? tenant.nodes.contains(end->node) : tenant.ports.contains(*end);
  };
  if (own(event_end(fields, "guid", "port"))) return of_tenant(fields);
  if (own(event_end(fields, "peer_guid", "peer_port"))) return of_tenant(turned_round(fields));
  return std::nullopt;
}

}  // namespace smd::api
