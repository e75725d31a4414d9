// SPDX-License-Identifier: Apache-2.0
// Partitions of the API: one row a partition, one a member, so that a change of one member is one row.
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "smd/policy/definition_json.h"
#include "smd/store/cells.h"
#include "smd/store/kinds.h"

namespace smd::store {
namespace {

using config::MemberRule;
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
  for_each_changed(
      before, now, [&](const std::string& name, const ApiPartition* was, const ApiPartition* is) {
        const auto old = was != nullptr ? std::span(was->members) : std::span<const MemberRule>();
        const auto rules = is != nullptr ? std::span(is->members) : std::span<const MemberRule>();
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
  partition->members.push_back(*std::move(rule));
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

constexpr std::array kAcceptedKey{Column{"id"}};
constexpr std::array kAcceptedValue{Column{"policy", true}};
constexpr std::array kPartitionsKey{Column{"name", true}};
constexpr std::array kPartitionsValue{Column{"definition", true}};
constexpr std::array kApiMembersKey{Column{"name", true}, Column{"place"}};
constexpr std::array kApiMembersValue{Column{"member", true}};

// Partitions first: members are added to them.
constexpr std::array kPolicyKinds{
    PolicyKind{{"api_partitions", kPartitionsKey, kPartitionsValue}, partitions_difference, decode_partition},
    PolicyKind{{"accepted_policy", kAcceptedKey, kAcceptedValue}, accepted_difference, decode_accepted},
    PolicyKind{{"api_members", kApiMembersKey, kApiMembersValue}, api_members_difference, decode_api_member},
};

}  // namespace

std::span<const PolicyKind> policy_kinds() { return kPolicyKinds; }

}  // namespace smd::store
