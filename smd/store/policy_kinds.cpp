// SPDX-License-Identifier: Apache-2.0
// Partitions, answers and tokens of the API: one row a partition, one a member, so that a change of one
// member is one row.
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "smd/policy/definition_json.h"
#include "smd/store/kinds.h"
#include "smd/store/sql_values.h"

namespace smd::store {
namespace {

using config::MemberRule;
using config::MemberRules;
using policy::ApiPartition;
using policy::Policies;

/// Calls fn(name, before, now) for each partition that differs; null: it is not there.
template <class Fn>
void for_each_changed(const Policies& before, const Policies& now, Fn fn) {
  for (const auto& [name, partition] : before.api) {
    if (!now.api.contains(name)) fn(name, partition.get(), nullptr);
  }
  for (const auto& [name, partition] : now.api) {
    const auto old = before.api.find(name);
    const auto* was = old != before.api.end() ? old->second.get() : nullptr;
    if (was != partition.get()) fn(name, was, partition.get());
  }
}

ApiPartition* not_shared(Policies& into, const std::string& name) {
  const auto at = into.api.find(name);
  return at != into.api.end() ? std::const_pointer_cast<ApiPartition>(at->second).get() : nullptr;
}

// api_partitions: name -> definition (JSON, without members)

std::string definition_text(const ApiPartition& partition) {
  auto bare = partition;
  bare.members.clear();
  return boost::json::serialize(policy::definition_json(bare));
}

void partitions_difference(const Policies& before, const Policies& now, const ChangeSink& sink) {
  for_each_changed(before, now,
                   [&](const std::string& name, const ApiPartition* was, const ApiPartition* is) {
                     if (is == nullptr) return sink({{name}, std::nullopt});
                     auto text = definition_text(*is);
                     if (was == nullptr || definition_text(*was) != text)
                       sink({{name}, Cells{std::move(text)}});
                   });
}

bool decode_partition(const Cells& row, Policies& into) {
  const auto* name = std::get_if<std::string>(&row[0]);
  const auto* text = std::get_if<std::string>(&row[1]);
  if (name == nullptr || text == nullptr) return false;
  boost::system::error_code error;
  const auto value = boost::json::parse(*text, error);
  if (error) return false;
  auto definition = policy::parse_definition(value, *name);
  if (!definition || !definition->pkey) return false;
  return into.api.emplace(*name, std::make_shared<ApiPartition>(*std::move(definition))).second;
}

// api_members: name, place -> member (JSON)

std::string member_text(const MemberRule& rule) { return boost::json::serialize(policy::member_json(rule)); }

void api_members_difference(const Policies& before, const Policies& now, const ChangeSink& sink) {
  for_each_changed(before, now,
                   [&](const std::string& name, const ApiPartition* was, const ApiPartition* is) {
                     const auto old = was != nullptr ? was->members : MemberRules();
                     const auto rules = is != nullptr ? is->members : MemberRules();
                     for (std::size_t i = 0; i < std::max(old.size(), rules.size()); ++i) {
                       const Cells key{name, number(i)};
                       if (i >= rules.size()) {
                         sink({key, std::nullopt});
                       } else if (i >= old.size() || !(old[i] == rules[i])) {
                         sink({key, Cells{member_text(rules[i])}});
                       }
                     }
                   });
}

bool decode_api_member(const Cells& row, Policies& into) {
  const auto* name = std::get_if<std::string>(&row[0]);
  const auto* text = std::get_if<std::string>(&row[2]);
  auto* partition = name != nullptr ? not_shared(into, *name) : nullptr;
  if (partition == nullptr || text == nullptr) return false;
  boost::system::error_code error;
  const auto value = boost::json::parse(*text, error);
  auto rule = error ? std::unexpected(error.message()) : policy::parse_member(value);
  if (!rule) return false;
  partition->members.push_back(*rule);
  return true;
}

// accepted_policy: id (0) -> policy (policy/accepted.h)

void accepted_difference(const Policies& before, const Policies& now, const ChangeSink& sink) {
  if (before.accepted == now.accepted) return;
  sink({{number(0)}, now.accepted.empty() ? std::optional<Cells>() : Cells{now.accepted}});
}

bool decode_accepted(const Cells& row, Policies& into) {
  const auto* text = std::get_if<std::string>(&row[1]);
  if (text == nullptr || !into.accepted.empty()) return false;
  into.accepted = *text;
  return true;
}

// accepted_by: id (0) -> port_guid

void accepted_by_difference(const Policies& before, const Policies& now, const ChangeSink& sink) {
  if (before.accepted_by == now.accepted_by) return;
  sink({{number(0)}, now.accepted_by == Guid{} ? std::optional<Cells>() : Cells{guid(now.accepted_by)}});
}

bool decode_accepted_by(const Cells& row, Policies& into) { return read_guid(row[1], into.accepted_by); }

// tokens: name -> role, hash, partitions (a line each), made, expires, last_use

Cells token_cells(const access::Token& token) {
  std::string partitions;
  for (const auto& name : token.partitions) partitions += name + '\n';
  return {
      std::string(to_string(token.role)), token.hash, partitions, token.made, token.expires, token.last_use};
}

void tokens_difference(const Policies& before, const Policies& now, const ChangeSink& sink) {
  for (const auto& [name, token] : before.tokens) {
    if (!now.tokens.contains(name)) sink({{name}, std::nullopt});
  }
  for (const auto& [name, token] : now.tokens) {
    const auto old = before.tokens.find(name);
    if (old == before.tokens.end() || old->second != token) sink({{name}, token_cells(token)});
  }
}

bool decode_token(const Cells& row, Policies& into) {
  const auto text = [&](std::size_t i) { return std::get_if<std::string>(&row[i]); };
  const auto time = [&](std::size_t i) { return std::get_if<std::int64_t>(&row[i]); };
  if (!text(0) || !text(1) || !text(2) || !text(3) || !time(4) || !time(5) || !time(6)) return false;
  const auto role = access::parse_role(*text(1));
  if (!role || !access::is_name(*text(0)) || !access::is_hash(*text(2))) return false;
  if (*time(4) < 0 || *time(5) < 0 || *time(6) < 0) return false;
  access::Token token{.role = *role, .hash = *text(2), .made = *time(4)};
  token.expires = *time(5);
  token.last_use = *time(6);
  for (std::string_view rest = *text(3); !rest.empty();) {
    const auto end = std::min(rest.size(), rest.find('\n'));
    token.partitions.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return into.tokens.emplace(*text(0), std::move(token)).second;
}

// disabled_ports: node_guid, port -> peer_guid, peer_port, by, since

void disabled_ports_difference(const Policies& before, const Policies& now, const ChangeSink& sink) {
  const auto key_of = [](const policy::PortAt& at) {
    return Cells{guid(at.first), number(at.second.value())};
  };
  for (const auto& [at, port] : before.disabled_ports) {
    if (!now.disabled_ports.contains(at)) sink({key_of(at), std::nullopt});
  }
  for (const auto& [at, port] : now.disabled_ports) {
    const auto old = before.disabled_ports.find(at);
    if (old != before.disabled_ports.end() && old->second == port) continue;
    sink({key_of(at), Cells{guid(port.peer.first), number(port.peer.second.value()), port.by, port.since}});
  }
}

bool decode_disabled_port(const Cells& row, Policies& into) {
  policy::PortAt at;
  policy::DisabledPort port;
  const auto* by = std::get_if<std::string>(&row[4]);
  const auto* since = std::get_if<std::int64_t>(&row[5]);
  const bool alone = row[2] == guid(Guid{});  // it had no link
  const bool ends = read_guid(row[0], at.first) && read_port(row[1], at.second) &&
                    (alone || read_guid(row[2], port.peer.first)) && read_port(row[3], port.peer.second);
  if (!ends || by == nullptr || since == nullptr || *since < 0) return false;
  port.by = *by;
  port.since = *since;
  return into.disabled_ports.emplace(at, std::move(port)).second;
}

// class_sls: name -> SL

void class_sls_difference(const Policies& before, const Policies& now, const ChangeSink& sink) {
  for (const auto& [name, sl] : before.class_sls) {
    if (!now.class_sls.contains(name)) sink({{name}, std::nullopt});
  }
  for (const auto& [name, sl] : now.class_sls) {
    const auto old = before.class_sls.find(name);
    if (old == before.class_sls.end() || old->second != sl) sink({{name}, Cells{number(sl.value())}});
  }
}

bool decode_class_sl(const Cells& row, Policies& into) {
  const auto* name = std::get_if<std::string>(&row[0]);
  std::uint8_t sl = 0;
  if (name == nullptr || !read_number(row[1], 15, sl)) return false;
  return into.class_sls.emplace(*name, Sl{sl}).second;
}

// api_answers: scope (policy/policies.h) -> digest, status, body, made

void answers_difference(const Policies& before, const Policies& now, const ChangeSink& sink) {
  for (const auto& [scope, answer] : before.answers) {
    if (!now.answers.contains(scope)) sink({{scope}, std::nullopt});
  }
  for (const auto& [scope, answer] : now.answers) {
    const auto old = before.answers.find(scope);
    if (old != before.answers.end() && (old->second == answer || *old->second == *answer)) continue;
    sink({{scope}, Cells{answer->digest, number(answer->status), answer->body, answer->made}});
  }
}

bool decode_answer(const Cells& row, Policies& into) {
  const auto text = [&](std::size_t i) { return std::get_if<std::string>(&row[i]); };
  const auto* made = std::get_if<std::int64_t>(&row[4]);
  policy::KeptAnswer answer;
  if (!text(0) || !text(1) || !text(3) || made == nullptr || !read_number(row[2], 599, answer.status))
    return false;
  answer.digest = *text(1);
  answer.body = *text(3);
  answer.made = *made;
  return into.answers.emplace(*text(0), std::make_shared<const policy::KeptAnswer>(std::move(answer))).second;
}

constexpr std::array kDisabledKey{Column{"node_guid", true}, Column{"port"}};
constexpr std::array kDisabledValue{Column{"peer_guid", true}, Column{"peer_port"}, Column{"by", true},
                                    Column{"since"}};
constexpr std::array kClassSlsKey{Column{"name", true}};
constexpr std::array kClassSlsValue{Column{"sl"}};
constexpr std::array kAnswersKey{Column{"scope", true}};
constexpr std::array kAnswersValue{Column{"digest", true}, Column{"status"}, Column{"body", true},
                                   Column{"made"}};
constexpr std::array kTokensKey{Column{"name", true}};
constexpr std::array kTokensValue{Column{"role", true}, Column{"hash", true}, Column{"partitions", true},
                                  Column{"made"},       Column{"expires"},    Column{"last_use"}};
constexpr std::array kAcceptedKey{Column{"id"}};
constexpr std::array kAcceptedValue{Column{"policy", true}};
constexpr std::array kAcceptedByKey{Column{"id"}};
constexpr std::array kAcceptedByValue{Column{"port_guid", true}};
constexpr std::array kPartitionsKey{Column{"name", true}};
constexpr std::array kPartitionsValue{Column{"definition", true}};
constexpr std::array kApiMembersKey{Column{"name", true}, Column{"place"}};
constexpr std::array kApiMembersValue{Column{"member", true}};

// Partitions first: members are added to them.
constexpr std::array kPolicyKinds{
    PolicyKind{{"api_partitions", kPartitionsKey, kPartitionsValue}, partitions_difference, decode_partition},
    PolicyKind{{"accepted_policy", kAcceptedKey, kAcceptedValue}, accepted_difference, decode_accepted},
    PolicyKind{{"accepted_by", kAcceptedByKey, kAcceptedByValue}, accepted_by_difference, decode_accepted_by},
    PolicyKind{{"api_members", kApiMembersKey, kApiMembersValue}, api_members_difference, decode_api_member},
    PolicyKind{{"api_answers", kAnswersKey, kAnswersValue}, answers_difference, decode_answer},
    PolicyKind{{"tokens", kTokensKey, kTokensValue}, tokens_difference, decode_token},
    PolicyKind{
        {"disabled_ports", kDisabledKey, kDisabledValue}, disabled_ports_difference, decode_disabled_port},
    PolicyKind{{"class_sls", kClassSlsKey, kClassSlsValue}, class_sls_difference, decode_class_sl},
};

}  // namespace

std::span<const PolicyKind> policy_kinds() { return kPolicyKinds; }

}  // namespace smd::store
