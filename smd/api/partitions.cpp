// SPDX-License-Identifier: Apache-2.0
// Partitions: members, the indexes of their keys, and what is not done yet.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/glob.h"
#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/not_master.h"
#include "smd/api/pieces.h"
#include "smd/api/tenant.h"
#include "smd/decide/granted_keys.h"
#include "smd/policy/policies.h"
#include "smd/report/description.h"
#include "smd/sa/registry/group_terms.h"
#include "smd/sweep/enforcement.h"
#include "smd/sweep/pkeys.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

using Part = sm::PartitionPart;

/// Where the port's table has the key; nothing where it is not placed.
std::optional<Part::Placed> placed(const Part& part, Guid port, PKey key) {
  const auto found = std::ranges::lower_bound(part.placed, Part::Placed{port, key, 0});
  if (found == part.placed.end() || found->port != port || found->key != key) return std::nullopt;
  return *found;
}

/// The member's key; of both the one of full members.
std::optional<Part::Placed> placed(const Part& part, const Part::Member& member, PKey pkey) {
  return placed(part, member.port, member.membership == config::Membership::limited ? pkey : pkey.full());
}

const sm::Port* find_port(const sm::Subnet& subnet, const sm::PeerPort& at) {
  const auto* node = subnet.find(at.node);
  return node != nullptr && at.port.value() < node->ports.size() ? &node->ports[at.port.value()] : nullptr;
}

bool refuses_keys(const sm::Subnet& subnet, const sm::PeerPort& at) {
  return std::ranges::any_of(subnet.refused, [&](const sm::RefusedSet& set) {
    return set.at == at && set.attribute == wire::PKeyTable::kAttribute;
  });
}

/// The port of a switch checks P_Keys and has neither this one nor, for a limited key, the full one.
bool stops(const sm::Port& port, PKey key) {
  const auto& held = port.held<wire::PKeyTable>();
  if (!sm::enforces(port.info) || !held) return false;
  return std::ranges::none_of(held->row, [&](const wire::PKeyTable& block) {
    return std::ranges::any_of(block.keys, [&](PKey has) { return has == key || has == key.full(); });
  });
}

/// The port of a switch must check P_Keys, and this one is left out of its table.
bool has_no_room(const sm::Snapshot& now, const sm::PeerPort& at, PKey key) {
  const auto& part = *now.decided.partitions;
  if (std::ranges::find(part.not_enforced, at, &Part::NotEnforced::at) == part.not_enforced.end())
    return false;
  return sm::granted_key(key, sm::decided_blocks(now.decided, at)) != key;
}

std::string_view state_of_key(const sm::Snapshot& now, const Part::Member& member,
                              const std::optional<Part::Placed>& at) {
  if (!at) {
    const auto& full = now.decided.partitions->no_room;
    return std::ranges::find(full, member.at, &Part::NoRoom::at) != full.end() ? "no_room" : "pending";
  }
  const auto* port = find_port(*now.subnet, member.at);
  if (port == nullptr) return "pending";
  const auto& held = port->held<wire::PKeyTable>();
  const std::size_t block = at->index / sm::kPKeysOfBlock;
  if (!held || !held->known.test(block) || held->row[block].keys[at->index % sm::kPKeysOfBlock] != at->key)
    return refuses_keys(*now.subnet, member.at) ? "refused" : "pending";
  const auto* next = port->peer ? find_port(*now.subnet, *port->peer) : nullptr;
  const auto* enforced = next != nullptr ? now.decided.partitions->find_enforced(*port->peer) : nullptr;
  const bool is_open = enforced != nullptr && (enforced->in || enforced->out) && !sm::enforces(next->info) &&
                       !sm::forgets_enforcement(*now.subnet->find(port->peer->node), port->peer->port);
  if (next == nullptr || (!is_open && !stops(*next, at->key))) return "programmed";
  if (refuses_keys(*now.subnet, *port->peer)) return "refused";
  return has_no_room(now, *port->peer, at->key) ? "no_room" : "pending";
}

std::string_view state_of(const sm::Snapshot& now, const Part::Member& member, PKey pkey) {
  const auto& part = *now.decided.partitions;
  const auto state = state_of_key(now, member, placed(part, member, pkey));
  const bool has_another = member.membership == config::Membership::both && state == "programmed";
  return has_another ? state_of_key(now, member, placed(part, member.port, pkey)) : state;
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

/// Groups whose members have joined them with terms that are not the configured ones any more.
Json groups_waiting_json(const SubnetView& view, const config::PolicyPartition& partition) {
  JsonArray waiting;
  if (!view.registry) return Json(std::move(waiting));
  const auto* sls = view.snapshot ? view.snapshot->decided.service_levels.get() : nullptr;
  for (const auto& configured : partition.groups) {
    const auto* group = view.registry->groups().find(configured.mgid);
    if (group == nullptr || group->members == 0) continue;
    const auto change = sa::term_changes(group->terms, sa::configured_terms(group->terms, configured, sls));
    if (change.empty()) continue;
    waiting.push_back(Json(JsonObject{{"mgid", text(to_string(configured.mgid))},
                                      {"change", text(change)},
                                      {"members", number(group->members)}}));
  }
  return Json(std::move(waiting));
}

/// What is decided of the partitions that are in force, and those themselves: a change is in force before
/// anything is decided by it.
struct InForce {
  std::shared_ptr<const config::PartitionPolicy> policy;  ///< null: nothing is known
  std::shared_ptr<const Part> decided;                    ///< by this policy or the one before; may be null
  bool is_decided = false;                                ///< by this policy
  bool apart = false;  ///< a partition is in force though others have changed: a tenant is not told of these
};

InForce in_force(const SubnetView& view, const access::Access& access) {
  InForce found;
  found.apart = access.only_partitions(view.name).has_value();
  if (view.snapshot) found.decided = view.snapshot->decided.partitions;
  if (found.decided && !found.decided->policy) found.decided = nullptr;
  if (view.policy_state) found.policy = view.policy_state->merged;
  if (!found.policy && found.decided) found.policy = found.decided->policy;
  found.is_decided = found.decided && found.policy->digest == found.decided->policy->digest;
  return found;
}

Answer no_such_partition(const std::string& name) {
  return error_of(404, "no_such_partition", fmt::format("no partition has the name or P_Key {}", name));
}

/// What was decided of the partition last; null: nothing yet.
const Part::Partition* decided_of(const InForce& now, const config::PolicyPartition& partition) {
  if (!now.decided) return nullptr;
  const auto at = std::ranges::find(now.decided->partitions, partition.pkey, &Part::Partition::pkey);
  return at != now.decided->partitions.end() ? &*at : nullptr;
}

/// What a partition names, while nothing is decided because no sweep has ended yet.
config::PendingRules undecided(const InForce& now, const config::PolicyPartition& partition) {
  config::PendingRules pending;
  if (now.decided) return pending;
  for (const auto& rule : partition.members) {
    if (rule.source.origin == config::PolicyOrigin::built_in) continue;
    const bool both = rule.membership == config::Membership::both;
    const auto membership =
        both && !now.policy->allow_both_pkeys ? config::Membership::full : rule.membership;
    for (const auto& term : rule.ports.terms)
      pending.push_back({.member = {.term = term, .reason = "no sweep has ended yet"},
                         .membership = membership,
                         .source = rule.source});
  }
  return pending;
}

bool is_in_force(const InForce& now, const config::PolicyPartition& partition) {
  if (now.is_decided || !now.apart || !now.decided) return now.is_decided;
  const auto* decided = now.decided->policy->find(partition.pkey);
  if (decided == nullptr || now.decided->policy->groups != now.policy->groups) return false;
  auto same = *decided;
  same.sources = partition.sources;  // lines of files
  return same == partition;
}

/// Of its paths and groups; the SLs of partitions do not count without QoS.
Sl sl_in_force(const SubnetView& view, const config::PolicyPartition& partition) {
  return !view.policy_state || view.policy_state->config->qos.enabled ? partition.sl : Sl{0};
}

/// What a partition of the API asks for and has not; null: it has the SL that it asks for, or asks for none.
Json sl_asked_json(const SubnetView& view, const config::PolicyPartition& partition) {
  const auto is_of_api = std::ranges::find(partition.sources, config::PolicyOrigin::api,
                                           &config::PolicySource::origin) != partition.sources.end();
  if (!view.policy_state || !is_of_api) return {};
  const auto& api = view.policy_state->policies->api;
  const auto own = api.find(partition.name);
  if (own == api.end() || own->second->pkey != partition.pkey.value()) return {};
  const auto asked = own->second->settings.sl;
  return asked == Sl{0} || asked == sl_in_force(view, partition) ? Json{} : number(asked.value());
}

/// A standby decides by the master's state alone.
std::string why_not_in_force(const SubnetView& view) {
  const bool standby = view.snapshot && view.snapshot->state == wire::SmState::standby;
  const auto* replica = view.replica.get();
  const bool copies =
      replica != nullptr && replica->role != replica::ReplicaView::Role::none && replica->position.epoch != 0;
  if (!standby || copies) return {};
  return "this SM is a standby without a copy of the master's state: members are decided when it is master";
}

/// All but members and what is pending. Members are those that were decided last.
JsonObject head_json(const SubnetView& view, const InForce& now, const config::PolicyPartition& partition) {
  JsonArray sources;
  for (const auto& source : partition.sources) sources.push_back(text(to_string(source, *now.policy)));
  const auto* decided = decided_of(now, partition);
  const auto members = decided != nullptr ? std::span(decided->members) : std::span<const Part::Member>{};
  std::uint64_t ready = 0, refused = 0, no_room = 0;
  for (const auto& member : members) {
    const auto state = state_of(*view.snapshot, member, partition.pkey);
    if (state == "programmed") ++ready;
    if (state == "refused") ++refused;
    if (state == "no_room") ++no_room;
  }
  const auto pending = decided != nullptr ? decided->pending.size() : undecided(now, partition).size();
  const bool stands = is_in_force(now, partition);
  JsonObject head{{"name", text(partition.name)},
                  {"pkey", pkey(partition.pkey)},
                  {"sources", Json(std::move(sources))},
                  {"sl", number(sl_in_force(view, partition).value())},
                  {"sl_asked", sl_asked_json(view, partition)},
                  {"ipoib", Json(partition.ipoib)},
                  {"groups", groups_json(partition)},
                  {"groups_waiting", groups_waiting_json(view, partition)},
                  {"in_force", Json(stands)},
                  {"member_count", number(members.size())},
                  {"programmed", number(ready)},
                  {"refused", number(refused)},
                  {"no_room", number(no_room)},
                  {"ready", text(fmt::format("{} of {}", ready, members.size() + pending))}};
  if (auto why = stands ? std::string{} : why_not_in_force(view); !why.empty())
    head.emplace("not_in_force", text(why));
  return head;
}

/// The rule of this place. The first one of a default partition that no file defines changes no port.
Json rule_json(const config::PolicyPartition& partition, std::size_t place,
               const config::PartitionPolicy& policy) {
  const auto& rule = partition.members[place];
  const bool as_found = policy.default_as_found && place == 0 && partition.pkey == config::kDefaultPartition;
  return Json(JsonObject{{"ports", text(to_string(rule.ports))},
                         {"membership", text(as_found ? "as found" : to_string(rule.membership))},
                         {"index0", Json(rule.index0)},
                         {"source", text(to_string(rule.source, policy))}});
}

/// Whether a partition is shown with its rules and members; else these are null.
enum class Detail : std::uint8_t { pending, all };

/// The text of partitions with their rules, members and what is pending, one of these at a time.
class PartitionsText {
 public:
  /// `before` and `after` are what stands around them; `partitions` are those of the policy of `now`.
  PartitionsText(std::shared_ptr<const SubnetView> view, InForce now,
                 std::vector<const config::PolicyPartition*> partitions, Detail detail, std::string before,
                 std::string after)
      : view_(std::move(view)),
        now_(std::move(now)),
        partitions_(std::move(partitions)),
        detail_(detail),
        before_(std::move(before)),
        after_(std::move(after)) {}

  bool operator()(std::string& text) {
    if (at_ == partitions_.size()) {
      text += after_;
      return false;
    }
    const auto& partition = *partitions_[at_];
    if (!std::exchange(begun_, true)) begin(text, partition);
    const bool in_full = detail_ == Detail::all;
    const auto rules = in_full ? partition.members.size() : 0;
    const auto members = rules + (in_full && decided_ != nullptr ? decided_->members.size() : 0);
    const auto all = members + pending_.size();
    if (in_full && next_ == rules) text += "],\"members\":[";
    if (in_full && next_ == members) text += "],\"pending\":[";
    if (next_ == all) {
      text += "]}";
      ++at_, next_ = 0, begun_ = false;
      return true;
    }
    if (next_ != 0 && next_ != rules && next_ != members) text += ',';
    text += sm::to_text(next_ < rules ? rule_json(partition, next_, *now_.policy)
                        : next_ < members
                            ? member(partition, decided_->members[next_ - rules])
                            : pending_json(pending_[next_ - members],
                                           decided_ != nullptr ? *now_.decided->policy : *now_.policy));
    ++next_;
    return true;
  }

 private:
  void begin(std::string& text, const config::PolicyPartition& partition) {
    decided_ = decided_of(now_, partition);
    pending_ = decided_ != nullptr ? decided_->pending : undecided(now_, partition);
    text += at_ == 0 ? before_ : ",";
    text += sm::to_text(Json(head_json(*view_, now_, partition)));
    text.back() = ',';
    text += detail_ == Detail::all ? "\"rules\":[" : "\"rules\":null,\"members\":null,\"pending\":[";
  }
  Json member(const config::PolicyPartition& partition, const Part::Member& one) const {
    const auto at = placed(*now_.decided, one, partition.pkey);
    return member_json(*view_->snapshot, one, state_of(*view_->snapshot, one, partition.pkey), at);
  }

  std::shared_ptr<const SubnetView> view_;
  InForce now_;
  std::vector<const config::PolicyPartition*> partitions_;
  Detail detail_;
  std::string before_, after_;
  std::size_t at_ = 0;    ///< of partitions_
  std::size_t next_ = 0;  ///< of its rules, with members and what is pending behind them
  bool begun_ = false;
  const Part::Partition* decided_ = nullptr;  ///< of the partition that has begun
  config::PendingRules pending_{};            ///< of the same
};

/// `named`: a partition has the name; a P_Key of another one that is written like it does not count then.
bool is_meant(const config::PolicyPartition& partition, const std::string& name, bool named) {
  if (name.empty() || partition.name == name) return true;
  if (named) return false;
  const auto pkey = base::parse_pkey(name);
  return pkey && pkey->same_partition(partition.pkey);
}

/// Those that the caller sees, of the name or P_Key where one is given, and of the pattern.
std::vector<const config::PolicyPartition*> partitions_of(const Question& question, const SubnetView& view,
                                                          const InForce& now, const std::string& name,
                                                          const std::string& match = {}) {
  std::vector<const config::PolicyPartition*> all;
  if (!now.policy) return all;
  const bool named = std::ranges::find(now.policy->partitions, name, &config::PolicyPartition::name) !=
                     now.policy->partitions.end();
  for (const auto& partition : now.policy->partitions) {
    if (!is_meant(partition, name, named) || !sees_partition(*question.access, view.name, partition.name))
      continue;
    if (!match.empty() && !config::matches_glob(match, partition.name)) continue;
    all.push_back(&partition);
  }
  return all;
}

std::string cursor_of_partition(const config::PolicyPartition& partition) {
  return fmt::format("{:04x}", partition.pkey.value());
}

/// The page of these partitions.
Answer page_of_partitions(const Chosen& chosen, const InForce& now,
                          std::vector<const config::PolicyPartition*> partitions, const Page& page,
                          Detail detail, bool managed) {
  std::erase_if(partitions, [&](const auto* one) { return cursor_of_partition(*one) <= page.after; });
  const bool more = partitions.size() > page.limit;
  if (more) partitions.resize(page.limit);
  const auto next = more ? text(cursor_of_partition(*partitions.back())) : Json{};
  auto before =
      sm::to_text(Json(JsonObject{{"subnet", text(chosen.view->name)}, {"managed", Json(managed)}}));
  before.back() = ',';
  before += "\"partitions\":[";
  auto after = "],\"next\":" + sm::to_text(next) + "}\n";
  if (partitions.empty()) after = before + after;
  return answer_in_pieces(
      PartitionsText(chosen.view, now, std::move(partitions), detail, std::move(before), std::move(after)));
}

}  // namespace

Answer get_partitions(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  const auto page = page_of(question);
  if (!page) return page.error();
  const bool is_cursor =
      page->after.empty() || (page->after.size() == 4 && base::parse_pkey("0x" + page->after));
  if (!is_cursor) return bad_cursor(page->after);
  if (!view.policy_state && !view.snapshot) return not_read(view);
  const auto name = question.asked("name");
  const auto now = in_force(view, *question.access);
  auto partitions = partitions_of(question, view, now, name, question.asked("match"));
  // A standby decides nothing: the master manages by the policy that it has, too. A tenant without a
  // partition is not told whether others have one.
  const bool of_policy = now.policy && now.policy->configured;
  const bool sees_one = !now.apart || !partitions_of(question, view, now, {}).empty();
  const bool managed = (now.decided ? now.decided->managed : of_policy) && sees_one;
  if (!name.empty() && partitions.empty()) return no_such_partition(name);
  const auto state = flag_of(question, "state");
  if (!state) return state.error();
  const auto detail = !name.empty() || *state ? Detail::all : Detail::pending;
  return page_of_partitions(*chosen, now, std::move(partitions), *page, detail, managed);
}

Answer get_partition(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  if (const auto state = flag_of(question, "state"); !state) return state.error();
  if (!chosen->view->policy_state && !chosen->view->snapshot) return not_read(*chosen->view);
  const auto name = question.part("partition");
  auto now = in_force(*chosen->view, *question.access);
  auto partitions = partitions_of(question, *chosen->view, now, name);
  if (partitions.empty()) return no_such_partition(name);
  partitions.resize(1);
  return answer_in_pieces(
      PartitionsText(chosen->view, std::move(now), std::move(partitions), Detail::all, {}, "\n"));
}

}  // namespace smd::api
