// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/lines.h"
#include "mad/wire/capability.h"
#include "mad/wire/mad.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/api/qos.h"
#include "smd/api/request.h"
#include "smd/api/sms.h"
#include "smd/apply/table_baseline.h"
#include "smd/decide/multicast.h"
#include "smd/inventory/gone.h"
#include "smd/log/format.h"
#include "smd/report/description.h"
#include "smd/report/m_keys.h"
#include "smd/report/ports.h"
#include "smd/report/sweep_json.h"
#include "smd/sweep/unresponsive.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

Json time(std::chrono::system_clock::time_point when) { return Json(log::to_utc(when)); }

Json place_json(const sm::Subnet& subnet, const sm::PeerPort& place) {
  return Json(JsonObject{{"guid", guid(place.node)},
                         {"name", text(description_of(subnet, place.node))},
                         {"port", number(place.port.value())}});
}

/// How the state is copied; null where it is not.
Json replica_json(const SubnetView& view) {
  if (!view.replica) return {};
  const auto& all = *view.replica;
  const auto at = [](const store::Position& position) {
    return text(fmt::format("{}.{}", position.epoch, position.number));
  };
  const auto seconds = [](std::chrono::nanoseconds time) {
    return Json(std::chrono::duration<double>(time).count());
  };
  JsonArray standbys;
  for (const auto& standby : all.standbys) {
    standbys.push_back(Json(JsonObject{{"name", text(standby.name)},
                                       {"guid", guid(standby.port)},
                                       {"position", at(standby.acked)},
                                       {"lag_transactions", number(standby.behind)},
                                       {"lag_seconds", seconds(standby.lag)}}));
  }
  JsonObject digests;
  for (const auto& [kind, digest] : all.digests) digests.emplace(kind, text(fmt::format("{:016x}", digest)));
  const auto behind = all.latest.epoch == all.position.epoch && all.latest.number >= all.position.number
                          ? all.latest.number - all.position.number
                          : all.latest.number;
  return Json(JsonObject{{"role", text(replica::to_string(all.role))},
                         {"mode", text(all.mode)},
                         {"in_sync", Json(all.in_sync)},
                         {"position", at(all.position)},
                         {"lag_transactions", number(behind)},
                         {"source", guid(all.source)},
                         {"master", text(all.master)},
                         {"heard", all.heard != 0 ? unix_json(all.heard) : Json{}},
                         {"digests", Json(std::move(digests))},
                         {"refused", text(all.refused)},
                         {"trouble", text(all.failure)},
                         {"standbys", Json(std::move(standbys))}});
}

/// An SM by its port, ours or another.
Json sm_json(Guid port_guid, std::uint8_t priority, std::string_view state, Lid lid, std::string_view node) {
  return Json(JsonObject{{"guid", guid(port_guid)},
                         {"node", text(node)},
                         {"lid", number(lid.value())},
                         {"priority", number(priority)},
                         {"state", text(state)}});
}

std::string_view sm_state_word(const SubnetView& view) {
  if (!is_running(view)) return view.waiting ? "not_active" : "discovering";
  return state_word(view.snapshot->state);
}

/// Another SM; never_obeyed says why it is not.
Json other_json(const SubnetView& view, const sm::OtherSm& other) {
  auto info = other.info;
  std::string why;
  if (view.sms) {
    const auto& others = view.sms->others;
    const auto seen =
        std::ranges::find(others, other.at, [](const sm::SeenSm& one) -> const auto& { return one.sm.at; });
    if (seen != others.end()) info = seen->sm.info;  // what it has said last; the GUID is that of its port
    why = sm::why_stranger(*view.sms, info);
  }
  auto shown = sm_json(info.guid, info.priority, state_word(info.state), other.lid, other.node_description);
  if (!why.empty()) shown.as_object().emplace("never_obeyed", text(why));
  return shown;
}

const sm::OtherSm* other_master(const sm::Subnet& subnet) {
  const auto at = std::ranges::find(subnet.other_sms, wire::SmState::master,
                                    [](const sm::OtherSm& other) { return other.info.state; });
  return at == subnet.other_sms.end() ? nullptr : &*at;
}

Json self_json(const SubnetView& view) {
  if (!view.snapshot) return sm_json({}, 0, sm_state_word(view), {}, {});
  const auto& now = *view.snapshot;
  const auto& rank = view.sms ? view.sms->shown.rank : now.rank;
  return sm_json(now.rank.guid, rank.priority, sm_state_word(view), now.summary.sm_lid,
                 description_of(*now.subnet, now.subnet->sm_node));
}

Json master_json(const SubnetView& view) {
  if (!is_running(view)) return {};
  if (view.snapshot->state == wire::SmState::master) return self_json(view);
  const auto* other = other_master(*view.snapshot->subnet);
  return other != nullptr ? other_json(view, *other) : Json{};
}

Json waiting_json(const SubnetView& view) {
  const auto made = [](std::string_view what, const std::string& reason, auto since) {
    return Json(JsonObject{{"for", text(what)}, {"reason", Json(reason)}, {"since", time(since)}});
  };
  if (view.waiting) return made(view.waiting->what, view.waiting->reason, view.waiting->since);
  if (!view.snapshot || view.snapshot->state != wire::SmState::standby) return {};
  if (view.snapshot->summary.state == sm::SweepState::standby) return {};  // as it should be
  const auto& others = view.snapshot->subnet->other_sms;
  const auto* other = other_master(*view.snapshot->subnet);
  if (other == nullptr && !others.empty()) other = &others.front();
  const auto who = other == nullptr ? std::string("another subnet manager has the fabric")
                                    : fmt::format("{} \"{}\" is {}, priority {}", other->info.guid,
                                                  other->node_description, to_string(other->info.state),
                                                  other->info.priority);
  return made("master", who, view.swept);
}

JsonArray not_active_json(const sm::Snapshot& now) {
  JsonArray ports;
  const auto& subnet = *now.subnet;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      if (!port.linked() || port.info.port_state == PortState::active) continue;
      ports.push_back(port_json(now, *node, PortNum{static_cast<std::uint8_t>(p)}));
    }
  }
  return ports;
}

JsonArray unresponsive_json(const sm::Snapshot& now) {
  JsonArray nodes;
  const auto& subnet = *now.subnet;
  for (const auto& silent : sm::silent_nodes(subnet)) {
    const auto& lost = *silent.first;
    JsonArray hosts;
    if (now.inventory && lost.node != Guid{}) {
      for (const auto host : sm::hosts_behind(*now.inventory, lost.node, subnet))
        hosts.push_back(text(now.inventory->find(host)->name));
    }
    nodes.push_back(Json(JsonObject{{"guid", lost.node == Guid{} ? Json{} : guid(lost.node)},
                                    {"name", text(lost.description)},
                                    {"behind", place_json(subnet, lost.behind)},
                                    {"places", number(silent.places)},
                                    {"hosts_behind", Json(std::move(hosts))},
                                    {"reason", text(lost.reason + std::string(sm::silence_hint(lost)))}}));
  }
  return nodes;
}

JsonArray refused_json(const sm::Subnet& subnet) {
  JsonArray sets;
  for (const auto& set : subnet.refused) {
    sets.push_back(Json(JsonObject{{"at", place_json(subnet, set.at)},
                                   {"attribute", text(wire::attribute_name(set.attribute))},
                                   {"reason", text(set.reason)}}));
  }
  return sets;
}

JsonArray duplicates_json(const sm::Subnet& subnet) {
  JsonArray all;
  for (const auto& duplicate : subnet.duplicates) {
    JsonArray places;
    for (const auto& place : duplicate.places) places.push_back(place_json(subnet, place));
    all.push_back(Json(JsonObject{{"guid", guid(duplicate.guid)}, {"behind", Json(std::move(places))}}));
  }
  return all;
}

/// Ports whose tables have no room for all keys, and switch ports that cannot enforce theirs.
void add_too_small(const sm::Snapshot& now, JsonObject& object) {
  JsonArray no_room, not_enforced;
  const auto add = [&](JsonArray& list, const sm::PeerPort& at, std::size_t capacity, std::size_t keys,
                       bool held_back) {
    list.push_back(Json(JsonObject{{"at", place_json(*now.subnet, at)},
                                   {"capacity", number(capacity)},
                                   {"keys", number(keys)},
                                   {"held_back", Json(held_back)}}));
  };
  if (const auto& part = now.decided.partitions) {
    for (const auto& one : part->no_room)
      add(no_room, one.at, one.capacity, one.capacity + one.left_out.size(), false);
    for (const auto& one : part->not_enforced)
      add(not_enforced, one.at, one.capacity, one.keys, one.held_back);
  }
  object.emplace("no_room", Json(std::move(no_room)));
  object.emplace("not_enforced", Json(std::move(not_enforced)));
}

/// Ports of adapters whose virtual ports wait for an SM that sets them up.
std::size_t virtual_port_owners(const sm::Subnet& subnet) {
  std::size_t count = 0;
  for (const auto& node : subnet.nodes) {
    for (const auto& port : node->ports)
      if (wire::has2(port.info, wire::kCap2Virtualization)) ++count;
  }
  return count;
}

/// P_Keys of end ports that smd has not given them, and what was not done.
Json partitions_json(const SubnetView& view, const sm::Snapshot& now) {
  const auto policy = now.decided.partitions ? now.decided.partitions->policy : nullptr;
  const auto foreign = sm::foreign_keys(*now.subnet, policy.get(), now.stored.get());
  JsonArray keys;
  for (const auto key : foreign.keys) keys.push_back(pkey(key));
  const auto violations = activity_of(view).violations;
  JsonObject object{{"foreign_ports", number(foreign.ports)},
                    {"foreign_pkeys", Json(std::move(keys))},
                    {"pkey_violations", number(violations.pkey)},
                    {"qkey_violations", number(violations.qkey)},
                    {"pkey_violations_at_switches", number(violations.at_switch)},
                    {"virtual_port_owners", number(virtual_port_owners(*now.subnet))}};
  add_too_small(now, object);
  return Json(std::move(object));
}

/// Null where QoS is off and no policy was refused. A few lines: `smd qos` has all.
Json qos_status_json(const SubnetView& view, const sm::Snapshot& now) {
  constexpr std::size_t kNamed = 10;
  const auto found = qos_of(view);
  if (!found.enabled && found.warnings.empty()) return {};
  JsonArray pending, warnings;
  std::uint64_t more = 0;
  const auto add = [&](JsonArray& list, const std::string& line) {
    if (list.size() < kNamed) {
      list.push_back(text(line));
    } else {
      ++more;
    }
  };
  for (const auto& one : found.pending) add(pending, one);
  for (const auto& one : found.warnings) add(warnings, one);
  for (const auto& kind : found.kinds) {
    for (const auto& one : kind.warnings) add(warnings, fmt::format("{}: {}", kind.names, one));
  }
  const auto* policy = now.decided.qos_policy ? now.decided.qos_policy->policy.get() : nullptr;
  return Json(JsonObject{{"classes", number(policy != nullptr ? policy->classes.size() : 0)},
                         {"sls", number(found.uses.size())},
                         {"pending", Json(std::move(pending))},
                         {"warnings", Json(std::move(warnings))},
                         {"more", number(more)}});
}

JsonArray m_keys_json(const sm::Snapshot& now) {
  JsonArray keys;
  for (const auto& key : now.unknown_m_keys) {
    keys.push_back(Json(JsonObject{{"at", place_json(*now.subnet, key.at)},
                                   {"protect_bits", number(key.protect)},
                                   {"lease_s", number(key.lease)},
                                   {"reason", text(key.evidence)}}));
  }
  return keys;
}

/// Null where smd leaves them as they are.
Json own_m_keys_json(const sm::Snapshot& now) {
  const auto* settings = now.decided.settings.get();
  if (settings == nullptr || !settings->m_keys.secret) return {};
  const auto counts = sm::count_m_keys(*now.subnet, settings->m_keys);
  return Json(JsonObject{{"level", number(*settings->m_keys.secret == 0 ? 0 : settings->m_keys.level)},
                         {"per_port", Json(settings->m_keys.per_port)},
                         {"removed", Json(*settings->m_keys.secret == 0)},
                         {"ports", number(counts.ports)},
                         {"done", number(counts.done)}});
}

JsonArray adaptive_json(const sm::Subnet& subnet) {
  JsonArray switches;
  for (const auto& node : subnet.nodes) {
    if (node->routes_adaptively())
      switches.push_back(Json(JsonObject{{"guid", guid(node->guid())}, {"name", text(sm::raw_name(*node))}}));
  }
  return switches;
}

JsonArray altered_json(const sm::Subnet& subnet) {
  JsonArray tables;
  for (const auto& table : subnet.altered) {
    tables.push_back(Json(JsonObject{{"at", place_json(subnet, table.at)},
                                     {"attribute", text(wire::attribute_name(table.attribute))},
                                     {"entries", text(table.entries)},
                                     {"reason", text(sm::reason_of(table))}}));
  }
  return tables;
}

void add_fabric(const SubnetView& view, JsonObject& object) {
  const auto& now = view.snapshot;
  JsonArray without_lid;
  JsonArray others;
  if (now && now->decided.lids) {
    for (const auto port : now->decided.lids->without_lid) without_lid.push_back(guid(port));
  }
  if (now) {
    for (const auto& other : now->subnet->other_sms) {
      others.push_back(other_json(view, other));
    }
  }
  object.emplace("other_sms", Json(std::move(others)));
  object.emplace("routing", now ? routing_json(now->decided) : Json{});
  object.emplace("ports_not_active", Json(now ? not_active_json(*now) : JsonArray{}));
  object.emplace("ports_disabled", now ? disabled_ports_json(*now) : Json(JsonArray{}));
  object.emplace("unresponsive", Json(now ? unresponsive_json(*now) : JsonArray{}));
  object.emplace("refused_sets", Json(now ? refused_json(*now->subnet) : JsonArray{}));
  object.emplace("partitions", now ? partitions_json(view, *now) : Json{});
  object.emplace("qos", now ? qos_status_json(view, *now) : Json{});
  object.emplace("m_keys", now ? own_m_keys_json(*now) : Json{});
  object.emplace("unknown_m_keys", Json(now ? m_keys_json(*now) : JsonArray{}));
  object.emplace("adaptive_routing", Json(now ? adaptive_json(*now->subnet) : JsonArray{}));
  object.emplace("altered_tables", Json(now ? altered_json(*now->subnet) : JsonArray{}));
  object.emplace("duplicate_guids", Json(now ? duplicates_json(*now->subnet) : JsonArray{}));
  object.emplace("ports_without_lid", Json(std::move(without_lid)));
}

/// In one word: what it waits for itself, else what the last sweep has come to.
std::string_view state_of(const SubnetView& view) {
  if (view.waiting) return "waiting";
  return view.snapshot ? to_string(view.snapshot->summary.state) : "starting";
}

/// What clients have registered.
Json clients_json(const SubnetView& view) {
  if (!view.registry) return {};
  const auto& all = *view.registry;
  return Json(JsonObject{{"groups", number(all.groups().size())},
                         {"members", number(all.members().size())},
                         {"services", number(all.services().size())},
                         {"subscriptions", number(all.subscriptions().size())}});
}

/// What a standby knows of the groups of a master that it does not copy; null: nothing, or it needs none.
Json groups_read_json(const SubnetView& view) {
  if (!view.groups_read || sm_state(view) != wire::SmState::standby) return {};
  const auto& read = *view.groups_read;
  return Json(JsonObject{{"sm_lid", number(read.from.value())},
                         {"groups", number(read.groups)},
                         {"members", number(read.members)},
                         {"ignored", number(read.ignored)},
                         {"at", unix_json(read.at)}});
}

/// What has happened since the start.
void add_history(const SubnetView& view, JsonObject& object) {
  const auto& now = view.snapshot;
  object.emplace("lost", now ? lost_json(*now) : Json{});
  object.emplace("lost_nodes", now ? lost_nodes_json(*now) : Json(JsonArray{}));
  object.emplace("links_degraded", now ? degraded_json(*now) : Json(JsonArray{}));
  object.emplace("clients", clients_json(view));
  object.emplace("groups_read", groups_read_json(view));
  const auto activity = activity_of(view);
  object.emplace("smps", now ? number(activity.smps) : Json{});
  object.emplace("smp_timeouts", now ? number(activity.smp_timeouts) : Json{});
  object.emplace("traps", now ? number(activity.traps) : Json{});
  const bool changed = now && !now->last_change.empty();
  object.emplace("last_change", changed ? Json(JsonObject{{"what", text(now->last_change)},
                                                          {"at", unix_json(now->last_change_at)}})
                                        : Json{});
}

/// What is wrong with files that are not in force, a line each: those of the last reload, else those of the
/// start about partitions and QoS.
std::vector<std::string> files_refused(const SubnetView& view, const std::optional<RefusedFile>& reload) {
  if (reload) return reload->errors;
  std::vector<std::string> errors;
  if (!view.policy_state) return errors;
  const auto& config = *view.policy_state->config;
  for (const auto* refused : {&config.partitions.refused, &config.qos.refused}) {
    base::for_each_line(*refused, [&](unsigned, std::string_view line) {
      if (std::ranges::find(errors, line) == errors.end()) errors.emplace_back(line);
    });
  }
  return errors;
}

Json subnet_json(const SubnetView& view, const std::optional<RefusedFile>& reload) {
  JsonObject object{{"subnet", text(view.name)}, {"port", text(view.port)}};
  object.emplace("state", text(state_of(view)));
  object.emplace("state_since", view.waiting    ? time(view.waiting->since)
                                : view.snapshot ? unix_json(view.snapshot->state_since)
                                                : Json{});
  object.emplace("why", text(why_words(view)));
  object.emplace("sm", self_json(view));
  object.emplace("master", master_json(view));
  object.emplace("waiting", waiting_json(view));
  object.emplace("outlook", text(is_running(view) ? outlook_of(view) : ""));
  object.emplace("replica", replica_json(view));
  object.emplace("config_differs", sm::strings_json(view.config_differs));
  object.emplace("files_refused", sm::strings_json(files_refused(view, reload)));
  object.emplace("sweeps_off_until", sweeps_are_off(view) ? time(view.sweeps_off_until) : Json{});
  object.emplace("swept_at", view.snapshot ? time(view.swept) : Json{});
  object.emplace("last_sweep", view.snapshot ? sm::sweep_json(view.snapshot->summary) : Json{});
  add_fabric(view, object);
  add_history(view, object);
  return Json(std::move(object));
}

Json store_json(const std::optional<store::Failure>& failure) {
  if (!failure) return {};
  return Json(JsonObject{{"failed", text(failure->reason)}, {"since", time(failure->since)}});
}

Json refused_json(const std::optional<RefusedFile>& refused) {
  if (!refused) return {};
  return Json(JsonObject{{"errors", sm::strings_json(refused->errors)}, {"at", time(refused->at)}});
}

}  // namespace

bool sweeps_are_off(const SubnetView& view) {
  return view.sweeps_off_until > std::chrono::system_clock::now();
}

wire::SmState sm_state(const SubnetView& view) {
  if (view.sms) return view.sms->state.sm;
  return view.snapshot ? view.snapshot->state : wire::SmState::discovering;
}

bool is_running(const SubnetView& view) {
  return view.snapshot &&
         (!view.waiting || (view.waiting->what != "port" && view.waiting->what != "sm_place" &&
                            view.waiting->what != "state"));
}

std::expected<Chosen, Answer> choose(const Question& question, const Backend& backend) {
  const auto subnets = backend.subnets();
  std::string names;
  bool all_open = true;
  for (std::size_t i = 0; i < subnets.size(); ++i) {
    all_open = all_open && !tokens_may_come(*subnets[i]);
    if (!question.access->in(subnets[i]->name)) continue;
    if (subnets[i]->name == question.part("subnet")) return Chosen{i, subnets[i]};
    names += (names.empty() ? "" : ", ") + (subnets[i]->name.empty() ? "(no port yet)" : subnets[i]->name);
  }
  // It may be of one whose name or tokens are not known yet, alike for each name: which there are is not
  // told.
  if (!all_open && !question.access->is_local()) return std::unexpected(tokens_not_read());
  return std::unexpected(error_of(
      404, "no_such_subnet", fmt::format("no subnet {}; there are: {}", question.part("subnet"), names)));
}

Answer get_status(const Question& question, Backend& backend) {
  const auto info = backend.info();
  JsonArray subnets;
  for (const auto& view : backend.subnets()) {
    if (question.access->in(view->name)) subnets.push_back(subnet_json(*view, info.refused));
  }
  return answer_of(
      Json(JsonObject{{"version", text(info.version)},
                      {"pid", number(static_cast<std::uint64_t>(::getpid()))},
                      {"started", time(info.started)},
                      {"configuration", info.configuration.empty() ? Json{} : text(info.configuration)},
                      {"configuration_loaded", time(info.loaded)},
                      {"configuration_refused", refused_json(info.refused)},
                      {"needs_restart", sm::strings_json(info.needs_restart)},
                      {"not_on_network", info.not_on_network.empty() ? Json{} : text(info.not_on_network)},
                      {"store", store_json(info.store)},
                      {"subnets", Json(std::move(subnets))}}));
}

Answer get_subnet_status(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  return chosen ? answer_of(subnet_json(*chosen->view, backend.info().refused)) : chosen.error();
}

}  // namespace smd::api
