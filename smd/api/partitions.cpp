// SPDX-License-Identifier: Apache-2.0
// Partitions: members, the indexes of their keys, and what is not done yet.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "config/glob.h"
#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/tenant.h"
#include "smd/policy/policies.h"
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

/// What is decided of the partitions that are in force, and those themselves: a change is in force before
/// anything is decided by it.
struct InForce {
  std::shared_ptr<const config::PartitionPolicy> policy;  ///< null: nothing is known
  std::shared_ptr<const Part> decided;                    ///< by this policy or the one before; may be null
  bool is_decided = false;                                ///< by this policy
};

InForce in_force(const SubnetView& view) {
  InForce found;
  if (view.snapshot) found.decided = view.snapshot->decided.partitions;
  if (found.decided && !found.decided->policy) found.decided = nullptr;
  if (view.ground) found.policy = view.ground->merged;
  if (!found.policy && found.decided) found.policy = found.decided->policy;
  found.is_decided = found.decided && found.policy->digest == found.decided->policy->digest;
  return found;
}

Answer no_such_partition(const std::string& name) {
  return error_of(404, "no_such_partition", fmt::format("no partition has the name or P_Key {}", name));
}

/// Members are those that were decided last.
Json partition_json(const SubnetView& view, const InForce& now, const config::PolicyPartition& partition,
                    bool in_full) {
  JsonArray members, pending, sources;
  std::uint64_t ready = 0;
  for (const auto& source : partition.sources) sources.push_back(text(to_string(source, *now.policy)));
  const Part::Partition* decided = nullptr;
  if (now.decided) {
    const auto at = std::ranges::find(now.decided->partitions, partition.pkey, &Part::Partition::pkey);
    if (at != now.decided->partitions.end()) decided = &*at;
  }
  const auto decided_members =
      decided != nullptr ? std::span(decided->members) : std::span<const Part::Member>{};
  for (const auto& member : decided_members) {
    const auto at = placed(*now.decided, member, partition.pkey);
    const auto state = state_of(*view.snapshot, member, at);
    if (state == "programmed") ++ready;
    if (in_full) members.push_back(member_json(*view.snapshot, member, state, at));
  }
  if (decided != nullptr) {
    for (const auto& rule : decided->pending) pending.push_back(pending_json(rule, *now.decided->policy));
  }
  return Json(
      JsonObject{{"name", text(partition.name)},
                 {"pkey", pkey(partition.pkey)},
                 {"sources", Json(std::move(sources))},
                 {"ipoib", Json(partition.ipoib)},
                 {"groups", groups_json(partition)},
                 {"in_force", Json(now.is_decided)},
                 {"member_count", number(decided_members.size())},
                 {"programmed", number(ready)},
                 {"ready", text(fmt::format("{} of {}", ready, decided_members.size() + pending.size()))},
                 {"members", in_full ? Json(std::move(members)) : Json{}},
                 {"pending", Json(std::move(pending))}});
}

/// `named`: a partition has the name; a P_Key of another one that is written like it does not count then.
bool is_meant(const config::PolicyPartition& partition, const std::string& name, bool named) {
  if (name.empty() || partition.name == name) return true;
  if (named) return false;
  const auto pkey = base::parse_pkey(name);
  return pkey && pkey->same_partition(partition.pkey);
}

std::vector<Entry> partitions_json(const Question& question, const SubnetView& view, const InForce& now,
                                   const std::string& name, const std::string& match = {}) {
  std::vector<Entry> all;
  if (!now.policy) return all;
  const bool named = std::ranges::find(now.policy->partitions, name, &config::PolicyPartition::name) !=
                     now.policy->partitions.end();
  for (const auto& partition : now.policy->partitions) {
    if (!is_meant(partition, name, named) || !sees_partition(*question.access, view.name, partition.name))
      continue;
    if (!match.empty() && !config::matches_glob(match, partition.name)) continue;
    all.push_back(
        {partition_json(view, now, partition, !name.empty()), fmt::format("{:04x}", partition.pkey.value())});
  }
  return all;
}

}  // namespace

Answer get_partitions(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  const auto page = page_of(question);
  if (!page) return page.error();
  const auto name = question.asked("name");
  const auto now = in_force(view);
  auto partitions = partitions_json(question, view, now, name, question.asked("match"));
  if (!name.empty() && partitions.empty()) return no_such_partition(name);
  return short_listing(
      "partitions", *page, std::move(partitions),
      {.before = {{"subnet", text(view.name)}, {"managed", Json(now.decided && now.decided->managed)}},
       .after = {}});
}

Answer get_partition(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto name = question.part("partition");
  const auto partitions = partitions_json(question, *chosen->view, in_force(*chosen->view), name);
  return partitions.empty() ? no_such_partition(name) : answer_of(partitions.front().json);
}

}  // namespace smd::api
