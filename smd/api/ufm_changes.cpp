// SPDX-License-Identifier: Apache-2.0
// Changes of partitions as UFM's clients ask for them: by P_Key, with GUIDs that may not be there yet.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "mad/base/rate.h"
#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/partition_edits.h"
#include "smd/api/ufm.h"
#include "smd/policy/definition_json.h"
#include "smd/policy/edits.h"

namespace smd::api {

namespace {

namespace json = boost::json;
using config::MemberRule;

std::unexpected<Answer> bad_request(std::string_view message) { return std::unexpected(bad_body(message)); }

/// What the body of a call says.
struct UfmWanted {
  PKey pkey{};
  std::string name;  ///< of a new partition
  std::vector<MemberRule> members;
  std::optional<bool> ipoib{};
  std::optional<Mtu> mtu{};
  std::optional<std::uint8_t> rate{};
  std::optional<Sl> sl{};
};

/// 16 digits or fewer, with or without "0x".
std::optional<Guid> ufm_guid(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  while (text.size() > 16 && text.front() == '0') text.remove_prefix(1);  // UFM takes up to 20 digits
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || text.size() > 16 || error != std::errc{} || end != text.data() + text.size() ||
      value == 0)
    return std::nullopt;
  return Guid{value};
}

std::optional<config::Membership> ufm_membership(const json::value& value) {
  const auto* word = value.if_string();
  if (word != nullptr && *word == "full") return config::Membership::full;
  if (word != nullptr && *word == "limited") return config::Membership::limited;
  return std::nullopt;
}

MemberRule ufm_rule(config::PortTerm term, config::Membership membership, bool index0) {
  MemberRule rule{.membership = membership, .index0 = index0};
  rule.ports.terms.push_back(std::move(term));
  rule.source.origin = config::PolicyOrigin::api;
  return rule;
}

std::expected<void, Answer> ufm_read_guids(const json::object& body, UfmWanted& into) {
  const auto* guids = body.if_contains("guids");
  if (guids == nullptr) return {};
  if (!guids->is_array()) return bad_request("guids: must be a list");
  auto membership = config::Membership::full;
  if (const auto* word = body.if_contains("membership")) {
    const auto found = ufm_membership(*word);
    if (!found) return bad_request("membership: allowed \"full\" or \"limited\"");
    membership = *found;
  }
  const auto* each = body.if_contains("memberships");
  const auto& list = guids->get_array();
  if (each != nullptr && (!each->is_array() || each->get_array().size() != list.size()))
    return bad_request("memberships: must have as many entries as guids");
  const auto* index0 = body.if_contains("index0");
  if (index0 != nullptr && !index0->is_bool()) return bad_request("index0: must be true or false");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto guid = list[i].is_string() ? ufm_guid(std::string_view(list[i].get_string())) : std::nullopt;
    if (!guid) return bad_request(fmt::format("guids: {} is no GUID", json::serialize(list[i])));
    const auto own = each != nullptr ? ufm_membership(each->get_array()[i]) : std::optional(membership);
    if (!own) return bad_request("memberships: allowed \"full\" or \"limited\"");
    into.members.push_back(ufm_rule({.kind = config::PortTermKind::guid, .first = *guid}, *own,
                                    index0 != nullptr && index0->get_bool()));
  }
  return {};
}

/// MTU in KB (2 or 4), rate in Gb/s as IBA has them.
std::expected<void, Answer> ufm_read_qos(const json::object& body, UfmWanted& into) {
  if (const auto* mtu = body.if_contains("mtu_limit")) {
    if (*mtu != 2 && *mtu != 4) return bad_request("mtu_limit: allowed 2 or 4 (KB)");
    into.mtu = *mtu == 2 ? Mtu::m2048 : Mtu::m4096;
  }
  if (const auto* sl = body.if_contains("service_level")) {
    const auto number = sl->is_int64() ? sl->get_int64() : -1;
    if (number < 0 || number > 15) return bad_request("service_level: allowed 0 to 15");
    into.sl = Sl{static_cast<std::uint8_t>(number)};
  }
  if (const auto* rate = body.if_contains("rate_limit")) {
    const double gbps = rate->is_number() ? rate->to_number<double>() : 0;
    for (const auto& known : kStaticRates) {
      if (known.mbps == std::llround(gbps * 1000)) into.rate = known.code;
    }
    if (!into.rate)
      return bad_request("rate_limit: allowed rates of InfiniBand in Gb/s, as 2.5, 10, 56, 100, 200");
  }
  return {};
}

std::expected<json::object, Answer> ufm_body(std::string_view body) {
  auto value = parse_json(body);
  if (!value) return bad_request(value.error());
  if (!value->is_object()) return bad_request("the body must be an object");
  return std::move(value->get_object());
}

std::expected<UfmWanted, Answer> ufm_wanted(std::string_view text) {
  const auto body = ufm_body(text);
  if (!body) return std::unexpected(body.error());
  const auto* key = body->if_contains("pkey");
  if (key == nullptr || !key->is_string()) return bad_request("pkey: must be a text");
  const auto pkey = ufm_pkey(std::string_view(key->get_string()));
  if (!pkey) return std::unexpected(pkey.error());
  UfmWanted wanted{.pkey = *pkey, .name = "api_pkey_" + ufm_text(*pkey), .members = {}};
  if (const auto* name = body->if_contains("partition_name")) {
    if (!name->is_string()) return bad_request("partition_name: must be a text");
    wanted.name = std::string_view(name->get_string());
  }
  if (const auto* ipoib = body->if_contains("ip_over_ib")) {
    if (!ipoib->is_bool()) return bad_request("ip_over_ib: must be true or false");
    wanted.ipoib = ipoib->get_bool();
  }
  if (auto good = ufm_read_guids(*body, wanted); !good) return std::unexpected(good.error());
  if (auto good = ufm_read_qos(*body, wanted); !good) return std::unexpected(good.error());
  return wanted;
}

/// The partition of the API with this key; null: there is none.
const policy::ApiPartition* find_api(const policy::EditContext& ground, PKey pkey) {
  for (const auto& [name, partition] : ground.policies.api) {
    if (partition->pkey == (pkey.value() & 0x7FFFU)) return partition.get();
  }
  return nullptr;
}

/// The partition as it is, else a new one without members. A key that a file has is refused by the edit.
policy::ApiPartition definition_of(const policy::EditContext& ground, const UfmWanted& wanted) {
  const auto* known = find_api(ground, wanted.pkey);
  policy::ApiPartition definition = known != nullptr ? *known : policy::ApiPartition{};
  if (known == nullptr) {
    const auto* other = ground.merged.find(wanted.pkey);
    definition.name = other != nullptr ? other->name : wanted.name;
    definition.pkey = static_cast<std::uint16_t>(wanted.pkey.value() & 0x7FFFU);
    definition.ipoib = wanted.ipoib.value_or(true);
    definition.source.origin = config::PolicyOrigin::api;
  }
  if (wanted.mtu) definition.settings.mtu = *wanted.mtu;
  if (wanted.rate) definition.settings.rate = *wanted.rate;
  if (wanted.sl) definition.settings.sl = *wanted.sl;
  return definition;
}

policy::EditResult unchanged(PKey pkey) {
  return policy::Edited{.policies = nullptr, .merged = nullptr, .pkey = pkey};
}

/// 200 whatever was made: clients take no 201.
Answer ufm_change(const Question& question, Backend& backend, std::string_view what, PKey pkey,
                  const PartitionEdit& edit) {
  auto named = question;
  named.path.insert_or_assign("partition", ufm_text(pkey));  // what the log calls it
  auto answered = change_partition(named, backend, what, edit);
  if (answered.status / 100 != 2) return answered;
  return answer_of(sm::Json(sm::JsonObject{{"pkey", text(ufm_text(pkey))}}));
}

policy::EditResult add_to(const policy::EditContext& ground, const UfmWanted& wanted) {
  if (const auto* known = find_api(ground, wanted.pkey))
    return policy::add_members(ground, known->name, wanted.members);
  auto definition = definition_of(ground, wanted);
  definition.members = wanted.members;
  return policy::put_partition(ground, std::move(definition));
}

/// The partition goes with its last member.
policy::EditResult remove_from(const policy::EditContext& ground, PKey pkey,
                               const std::vector<config::PortTerm>& terms) {
  const auto* known = find_api(ground, pkey);
  if (known == nullptr) return unchanged(pkey);
  const bool last = std::ranges::all_of(known->members, [&](const MemberRule& rule) {
    return std::ranges::find(terms, rule.ports.terms.front()) != terms.end();
  });
  if (last && !known->members.empty()) return policy::erase_partition(ground, known->name);
  return policy::remove_members(ground, known->name, terms);
}

std::vector<std::string> ufm_list(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const auto item = list.substr(0, list.find(','));
    if (!item.empty()) items.emplace_back(item);
    list.remove_prefix(std::min(list.size(), item.size() + 1));
  }
  return items;
}

Answer ufm_remove(const Question& question, Backend& backend, PKey pkey,
                  const std::vector<config::PortTerm>& terms) {
  return ufm_change(question, backend, "remove members", pkey,
                    [&](const policy::EditContext& ground) { return remove_from(ground, pkey, terms); });
}

/// Names of nodes, in a list or with commas between.
std::expected<std::vector<MemberRule>, Answer> hosts_of(const json::object& body) {
  const auto* hosts = body.if_contains("hosts_names");
  std::vector<std::string> names;
  if (hosts != nullptr && hosts->is_string()) names = ufm_list(std::string_view(hosts->get_string()));
  if (hosts != nullptr && hosts->is_array()) {
    for (const auto& one : hosts->get_array())
      names.emplace_back(one.is_string() ? std::string_view(one.get_string()) : std::string_view());
  }
  std::vector<MemberRule> members;
  const auto* word = body.if_contains("membership");
  const auto membership = word != nullptr ? ufm_membership(*word) : config::Membership::full;
  const auto* index0 = body.if_contains("index0");
  if (names.empty() || !membership)
    return bad_request("hosts_names: must be names of nodes; membership: full or limited");
  for (auto& name : names) {
    if (name.empty()) return bad_request("hosts_names: must be names of nodes");
    members.push_back(ufm_rule({.kind = config::PortTermKind::node, .name = std::move(name)}, *membership,
                               index0 != nullptr && index0->is_bool() && index0->get_bool()));
  }
  return members;
}

}  // namespace

Answer ufm_add_pkey(const Question& question, Backend& backend) {
  const auto wanted = ufm_wanted(question.body);
  if (!wanted) return wanted.error();
  return ufm_change(question, backend, "put", wanted->pkey, [&](const policy::EditContext& ground) {
    return policy::put_partition(ground, definition_of(ground, *wanted));
  });
}

Answer ufm_add_guids(const Question& question, Backend& backend) {
  const auto wanted = ufm_wanted(question.body);
  if (!wanted) return wanted.error();
  return ufm_change(question, backend, "add members", wanted->pkey,
                    [&](const policy::EditContext& ground) { return add_to(ground, *wanted); });
}

Answer ufm_set_guids(const Question& question, Backend& backend) {
  const auto wanted = ufm_wanted(question.body);
  if (!wanted) return wanted.error();
  return ufm_change(question, backend, "put", wanted->pkey, [&](const policy::EditContext& ground) {
    auto definition = definition_of(ground, *wanted);
    definition.members = wanted->members;
    return policy::put_partition(ground, std::move(definition));
  });
}

Answer ufm_remove_guids(const Question& question, Backend& backend) {
  const auto wanted = ufm_wanted(question.body);
  if (!wanted) return wanted.error();
  std::vector<config::PortTerm> terms;
  for (const auto& rule : wanted->members) terms.push_back(rule.ports.terms.front());
  return ufm_remove(question, backend, wanted->pkey, terms);
}

Answer ufm_delete_guids(const Question& question, Backend& backend) {
  const auto pkey = ufm_pkey(question.part("pkey"));
  if (!pkey) return pkey.error();
  std::vector<config::PortTerm> terms;
  for (const auto& one : ufm_list(question.part("guids"))) {
    const auto guid = ufm_guid(one);
    if (!guid) return error_of(400, "bad_guid", fmt::format("{} is no GUID", one));
    terms.push_back({.kind = config::PortTermKind::guid, .first = *guid});
  }
  return ufm_remove(question, backend, *pkey, terms);
}

Answer ufm_delete_pkey(const Question& question, Backend& backend) {
  const auto pkey = ufm_pkey(question.part("pkey"));
  if (!pkey) return pkey.error();
  return ufm_change(
      question, backend, "delete", *pkey, [&](const policy::EditContext& ground) -> policy::EditResult {
        const auto* known = find_api(ground, *pkey);
        return known != nullptr ? policy::erase_partition(ground, known->name) : unchanged(*pkey);
      });
}

Answer ufm_qos_conf(const Question& question, Backend& backend) { return ufm_add_pkey(question, backend); }

Answer ufm_add_hosts(const Question& question, Backend& backend) {
  auto wanted = ufm_wanted(question.body);
  if (!wanted) return wanted.error();
  const auto body = ufm_body(question.body);
  const auto members = hosts_of(*body);
  if (!members) return members.error();
  wanted->members = *members;
  return ufm_change(question, backend, "add members", wanted->pkey,
                    [&](const policy::EditContext& ground) { return add_to(ground, *wanted); });
}

Answer ufm_delete_hosts(const Question& question, Backend& backend) {
  const auto pkey = ufm_pkey(question.part("pkey"));
  if (!pkey) return pkey.error();
  std::vector<config::PortTerm> terms;
  for (auto& name : ufm_list(question.part("hosts")))
    terms.push_back({.kind = config::PortTermKind::node, .name = std::move(name)});
  return ufm_remove(question, backend, *pkey, terms);
}

}  // namespace smd::api
