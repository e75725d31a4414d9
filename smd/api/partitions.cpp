// SPDX-License-Identifier: Apache-2.0
// Partitions: members, the indexes of their keys, and what is not done yet.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/report/description.h"
#include "smd/sweep/pkeys.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

using Part = sm::PartitionPart;

/// Where the port's table has the member's key; nothing where it is not placed.
std::optional<Part::Placed> placed(const Part& part, const Part::Member& member, PKey pkey) {
  const auto key = member.membership == config::Membership::limited ? pkey : pkey.full();
  const auto found = std::ranges::lower_bound(part.placed, Part::Placed{member.port, key, 0});
  if (found == part.placed.end() || found->port != member.port || found->key != key) return std::nullopt;
  return *found;
}

std::string_view state_of(const sm::Snapshot& now, const Part::Member& member,
                          const std::optional<Part::Placed>& at) {
  if (!at) {
    const auto& full = now.decided.partitions->no_room;
    return std::ranges::find(full, member.at, &Part::NoRoom::at) != full.end() ? "no_room" : "pending";
  }
  const auto* node = now.subnet->find(member.at.node);
  if (node == nullptr || member.at.port.value() >= node->ports.size()) return "pending";
  const auto& held = node->ports[member.at.port.value()].held<wire::PKeyTable>();
  const std::size_t block = at->index / sm::kPKeysOfBlock;
  if (held && held->known.test(block) && held->row[block].keys[at->index % sm::kPKeysOfBlock] == at->key)
    return "programmed";
  const bool refused = std::ranges::any_of(now.subnet->refused, [&](const sm::RefusedSet& set) {
    return set.at == member.at && set.attribute == wire::PKeyTable::kAttribute;
  });
  return refused ? "refused" : "pending";
}

Json member_json(const sm::Snapshot& now, const Part::Member& member, std::string_view state,
                 const std::optional<Part::Placed>& at) {
  return Json(JsonObject{{"port_guid", guid(member.port)},
                         {"name", text(description_of(*now.subnet, member.at.node))},
                         {"port", number(member.at.port.value())},
                         {"membership", text(to_string(member.membership))},
                         {"index", at ? number(at->index) : Json{}},
                         {"state", text(state)}});
}

Json pending_json(const config::PendingRule& rule, const config::PartitionPolicy& policy) {
  return Json(JsonObject{{"member", text(to_string(rule.member.term))},
                         {"membership", text(to_string(rule.membership))},
                         {"reason", text(rule.member.reason)},
                         {"source", text(to_string(rule.source, policy))}});
}

Json groups_json(const config::PolicyPartition& partition) {
  JsonArray groups;
  for (const auto& group : partition.groups) groups.push_back(text(to_string(group.mgid)));
  return Json(std::move(groups));
}

Json partition_json(const sm::Snapshot& now, const config::PolicyPartition& partition,
                    const Part::Partition* decided, bool in_full) {
  const auto& part = *now.decided.partitions;
  JsonArray members, pending, sources;
  std::uint64_t ready = 0;
  for (const auto& source : partition.sources) sources.push_back(text(to_string(source, *part.policy)));
  const auto decided_members =
      decided != nullptr ? std::span(decided->members) : std::span<const Part::Member>{};
  for (const auto& member : decided_members) {
    const auto at = placed(part, member, partition.pkey);
    const auto state = state_of(now, member, at);
    if (state == "programmed") ++ready;
    if (in_full) members.push_back(member_json(now, member, state, at));
  }
  if (decided != nullptr) {
    for (const auto& rule : decided->pending) pending.push_back(pending_json(rule, *part.policy));
  }
  return Json(JsonObject{{"name", text(partition.name)},
                         {"pkey", pkey(partition.pkey)},
                         {"sources", Json(std::move(sources))},
                         {"ipoib", Json(partition.ipoib)},
                         {"groups", groups_json(partition)},
                         {"member_count", number(decided_members.size())},
                         {"programmed", number(ready)},
                         {"members", in_full ? Json(std::move(members)) : Json{}},
                         {"pending", Json(std::move(pending))}});
}

bool is_meant(const config::PolicyPartition& partition, const std::string& name) {
  if (name.empty() || partition.name == name) return true;
  const auto pkey = base::parse_pkey(name);
  return pkey && pkey->same_partition(partition.pkey);
}

JsonArray partitions_json(const sm::Snapshot& now, const std::string& name) {
  JsonArray all;
  const auto& part = *now.decided.partitions;
  for (const auto& partition : part.policy->partitions) {
    if (!is_meant(partition, name)) continue;
    const auto found = std::ranges::find(part.partitions, partition.pkey, &Part::Partition::pkey);
    all.push_back(
        partition_json(now, partition, found != part.partitions.end() ? &*found : nullptr, !name.empty()));
  }
  return all;
}

}  // namespace

Answer get_partitions(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  const auto asked = question.query.find("name");
  const auto name = asked != question.query.end() ? asked->second : std::string{};
  const bool decided =
      view.snapshot && view.snapshot->decided.partitions && view.snapshot->decided.partitions->policy;
  auto partitions = decided ? partitions_json(*view.snapshot, name) : JsonArray{};
  if (!name.empty() && partitions.empty())
    return error_of(404, "no_such_partition", fmt::format("no partition has the name or P_Key {}", name));
  return answer_of(Json(JsonObject{{"subnet", text(view.name)},
                                   {"managed", Json(decided && view.snapshot->decided.partitions->managed)},
                                   {"partitions", Json(std::move(partitions))}}));
}

}  // namespace smd::api
