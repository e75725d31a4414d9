// SPDX-License-Identifier: Apache-2.0
// Changes of partitions as UFM's clients ask for them: by P_Key, with GUIDs that may not be there yet.
#include <fmt/format.h>

#include <utility>

#include "smd/api/fabric_ports.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/partition_edits.h"
#include "smd/api/ufm.h"
#include "smd/api/ufm_wanted.h"
#include "smd/decide/port_views.h"
#include "smd/policy/edits.h"
#include "smd/policy/port_removal.h"
#include "smd/sweep/end_ports.h"

namespace smd::api {

namespace {

using Conflict = policy::EditError;

/// The partition of the API with this key; null: there is none.
const policy::ApiPartition* find_api(const policy::EditContext& context, PKey pkey) {
  for (const auto& [name, partition] : context.policies.api) {
    if (partition->pkey == pkey.partition()) return partition.get();
  }
  return nullptr;
}

/// The conflict that the call names the partition with this key otherwise.
std::expected<void, Conflict> check_name(const policy::ApiPartition& known, const UfmWanted& wanted) {
  if (!wanted.name || *wanted.name == known.name) return {};
  return std::unexpected(
      Conflict{.kind = Conflict::Kind::conflict,
               .code = "other_name",
               .text = fmt::format("P_Key {} is that of partition {}, which cannot be renamed to {}",
                                   ufm_text(wanted.pkey), known.name, *wanted.name)});
}

/// A partition without members, as the call wants it. A key that a file has is refused by the edit.
policy::ApiPartition new_definition(const policy::EditContext& context, const UfmWanted& wanted) {
  policy::ApiPartition definition{.name = wanted.name.value_or(std::string()),
                                  .pkey = wanted.pkey.partition()};
  const auto* other = context.merged.find(wanted.pkey);
  if (other != nullptr) definition.name = other->name;
  if (other == nullptr && !wanted.name)
    definition.name = policy::free_partition_name(context, "api_pkey_" + ufm_text(wanted.pkey));
  definition.ipoib = true;
  definition.source.origin = config::PolicyOrigin::api;
  return definition;
}

/// The partition as it is, else a new one; with the settings of the call.
std::expected<policy::ApiPartition, Conflict> definition_of(const policy::EditContext& context,
                                                            const UfmWanted& wanted) {
  const auto* known = find_api(context, wanted.pkey);
  if (known != nullptr) {
    if (auto good = check_name(*known, wanted); !good) return std::unexpected(std::move(good.error()));
  }
  auto definition = known != nullptr ? *known : new_definition(context, wanted);
  if (wanted.ipoib) definition.ipoib = *wanted.ipoib;
  if (wanted.mtu) definition.settings.mtu = *wanted.mtu;
  if (wanted.rate) definition.settings.rate = *wanted.rate;
  if (wanted.sl) definition.settings.sl = *wanted.sl;
  return definition;
}

policy::EditResult put_definition(const policy::EditContext& context,
                                  std::expected<policy::ApiPartition, Conflict> definition) {
  if (!definition) return std::unexpected(std::move(definition.error()));
  return policy::put_partition(context, *std::move(definition), policy::Put::same_key);
}

/// Nothing is to be changed in a partition that is not the API's: a conflict where a file has it.
policy::EditResult unchanged(const policy::EditContext& context, PKey pkey) {
  if (auto refused = policy::refusal_of_file(context, pkey)) return std::unexpected(*std::move(refused));
  return policy::Edited{.policies = nullptr, .merged = nullptr, .pkey = pkey};
}

/// 200 whatever was made: clients take no 201.
Answer ufm_change(const Question& question, Backend& backend, std::string_view what, PKey pkey,
                  const PartitionEdit& edit) {
  auto named = question;
  named.path.insert_or_assign("partition", ufm_text(pkey));  // what the log calls it
  auto done = answer_of(sm::Json(sm::JsonObject{{"pkey", text(ufm_text(pkey))}}));
  named.told = &done;
  auto answered = change_partition(named, backend, what, edit);
  return answered.status / 100 == 2 ? std::move(done) : std::move(answered);
}

policy::EditResult add_to(const policy::EditContext& context, const UfmWanted& wanted) {
  const auto members = wanted.members.value_or(config::MemberRules());
  if (const auto* known = find_api(context, wanted.pkey)) {
    if (auto good = check_name(*known, wanted); !good) return std::unexpected(std::move(good.error()));
    return policy::add_members(context, known->name, members);
  }
  auto definition = definition_of(context, wanted);
  if (definition) definition->members = members;
  return put_definition(context, std::move(definition));
}

policy::EditResult erase_key(const policy::EditContext& context, PKey pkey) {
  const auto* known = find_api(context, pkey);
  return known != nullptr ? policy::erase_partition(context, known->name) : unchanged(context, pkey);
}

/// Without `guids` the members stay. The partition goes with its last member.
policy::EditResult set_to(const policy::EditContext& context, const UfmWanted& wanted) {
  if (wanted.members && wanted.members->empty()) return erase_key(context, wanted.pkey);
  auto definition = definition_of(context, wanted);
  if (definition && wanted.members) definition->members = *wanted.members;
  return put_definition(context, std::move(definition));
}

/// The partition goes with its last member.
policy::EditResult remove_from(const policy::EditContext& context, PKey pkey, policy::Removal removal,
                               const sm::Snapshot* now) {
  const auto* known = find_api(context, pkey);
  if (known == nullptr) return unchanged(context, pkey);
  const bool by_name = !removal.terms.empty();
  const FabricPorts fabric(by_name || policy::needs_fabric(known->members, removal) ? now : nullptr);
  for (const auto& term : removal.terms) {
    for (const auto at : fabric.index().of_node(term.name))
      removal.ports.insert(fabric.index().ports()[at].port_guid);
  }
  const auto left =
      policy::members_without(*known, removal, context.files.groups, fabric.index(), fabric.self());
  if (!left) return std::unexpected(left.error());
  if (left->empty() && !known->members.empty()) return policy::erase_partition(context, known->name);
  return policy::set_members(context, known->name, *left);
}

Answer ufm_remove(const Question& question, Backend& backend, PKey pkey, const policy::Removal& removal) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto now = chosen->view->snapshot;
  return ufm_change(question, backend, "remove members", pkey, [&](const policy::EditContext& context) {
    return remove_from(context, pkey, removal, now.get());
  });
}

/// A call whose body has a P_Key, and what it does.
Answer ufm_call(const Question& question, Backend& backend, std::string_view what,
                const std::expected<UfmWanted, Answer>& wanted,
                policy::EditResult (*edit)(const policy::EditContext&, const UfmWanted&)) {
  if (!wanted) return wanted.error();
  return ufm_change(question, backend, what, wanted->pkey,
                    [&](const policy::EditContext& context) { return edit(context, *wanted); });
}

/// A call that is about GUIDs alone has some, or an empty list: a key that was mistyped would do nothing.
std::expected<UfmWanted, Answer> ufm_wanted_guids(std::string_view body) {
  auto wanted = ufm_wanted(body);
  if (wanted && !wanted->members)
    return std::unexpected(bad_body("guids: found nothing, allowed a list of GUIDs"));
  return wanted;
}

policy::EditResult put_wanted(const policy::EditContext& context, const UfmWanted& wanted) {
  return put_definition(context, definition_of(context, wanted));
}

/// A partition that is not there is not made.
policy::EditResult put_qos(const policy::EditContext& context, const UfmWanted& wanted) {
  if (find_api(context, wanted.pkey) != nullptr) return put_wanted(context, wanted);
  if (auto refused = policy::refusal_of_file(context, wanted.pkey))
    return std::unexpected(*std::move(refused));
  return std::unexpected(
      Conflict{.kind = Conflict::Kind::not_found,
               .code = "no_such_pkey",
               .text = fmt::format("no partition has the P_Key {}", ufm_text(wanted.pkey))});
}

}  // namespace

Answer ufm_add_pkey(const Question& question, Backend& backend) {
  return ufm_call(question, backend, "put", ufm_wanted(question.body), put_wanted);
}

Answer ufm_add_guids(const Question& question, Backend& backend) {
  return ufm_call(question, backend, "add members", ufm_wanted_guids(question.body), add_to);
}

Answer ufm_set_guids(const Question& question, Backend& backend) {
  return ufm_call(question, backend, "put", ufm_wanted(question.body), set_to);
}

Answer ufm_remove_guids(const Question& question, Backend& backend) {
  const auto wanted = ufm_wanted_guids(question.body);
  if (!wanted) return wanted.error();
  policy::Removal removal;
  for (const auto& rule : *wanted->members) removal.ports.insert(rule.ports.terms.front().first);
  return ufm_remove(question, backend, wanted->pkey, removal);
}

Answer ufm_delete_guids(const Question& question, Backend& backend) {
  const auto pkey = ufm_pkey(question.part("pkey"));
  if (!pkey) return pkey.error();
  policy::Removal removal;
  for (const auto& one : ufm_list(question.part("guids"))) {
    const auto guid = ufm_guid(one);
    if (!guid) return error_of(400, "bad_guid", fmt::format("{} is no GUID", one));
    removal.ports.insert(*guid);
  }
  return ufm_remove(question, backend, *pkey, removal);
}

Answer ufm_delete_pkey(const Question& question, Backend& backend) {
  const auto pkey = ufm_pkey(question.part("pkey"));
  if (!pkey) return pkey.error();
  return ufm_change(question, backend, "delete", *pkey,
                    [&](const policy::EditContext& context) { return erase_key(context, *pkey); });
}

Answer ufm_qos_conf(const Question& question, Backend& backend) {
  return ufm_call(question, backend, "put", ufm_wanted(question.body), put_qos);
}

Answer ufm_add_hosts(const Question& question, Backend& backend) {
  return ufm_call(question, backend, "add members", ufm_wanted_hosts(question.body), add_to);
}

Answer ufm_remove_hosts(const Question& question, Backend& backend) {
  auto wanted = ufm_wanted_hosts(question.body);
  if (!wanted) return wanted.error();
  policy::Removal removal;
  if (wanted->members) {
    for (const auto& rule : *wanted->members) removal.terms.push_back(rule.ports.terms.front());
  }
  return ufm_remove(question, backend, wanted->pkey, removal);
}

Answer ufm_delete_hosts(const Question& question, Backend& backend) {
  const auto pkey = ufm_pkey(question.part("pkey"));
  if (!pkey) return pkey.error();
  policy::Removal removal;
  for (auto& name : ufm_list(question.part("hosts")))
    removal.terms.push_back({.kind = config::PortTermKind::node, .name = std::move(name)});
  return ufm_remove(question, backend, *pkey, removal);
}

}  // namespace smd::api
