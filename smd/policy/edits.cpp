// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "config/partitions_config.h"
#include "mad/base/parse.h"
#include "smd/policy/rule_list.h"

namespace smd::policy {
namespace {

using Definition = config::PartitionDefinition;
using Kind = EditError::Kind;

std::unexpected<EditError> refuse(Kind kind, std::string_view code, std::string text) {
  return std::unexpected(EditError{.kind = kind, .code = code, .text = std::move(text)});
}

/// The definitions of files, with the words that name their places.
class Files {
 public:
  explicit Files(const config::PartitionSources& sources) : sources_(sources) {
    words_.toml_file = sources.toml_file;
    words_.conf_file = sources.conf_file;
  }

  template <class Wanted>
  const Definition* find(Wanted wanted) const {
    for (const auto* list : {&sources_.toml, &sources_.conf}) {
      const auto found = std::ranges::find_if(*list, wanted);
      if (found != list->end()) return &*found;
    }
    return nullptr;
  }
  const Definition* with_key(std::uint16_t pkey) const {
    return find([&](const Definition& one) { return one.pkey == pkey; });
  }
  const Definition* named(std::string_view name) const {
    return find([&](const Definition& one) { return one.name == name; });
  }
  std::string place(const Definition& definition) const { return to_string(definition.source, words_); }

 private:
  const config::PartitionSources& sources_;
  config::PartitionPolicy words_{};
};

std::unexpected<EditError> of_file(const Files& files, const Definition& definition, std::string_view name) {
  return refuse(Kind::conflict, "of_file",
                fmt::format("partition {} is defined in {}: change it there", name, files.place(definition)));
}

/// A file has the P_Key of the API's partition `name`.
std::unexpected<EditError> key_of_file(const Files& files, const Definition& definition,
                                       std::string_view name) {
  if (definition.name == name) return of_file(files, definition, name);
  const auto its = definition.name.empty() ? std::string("a partition without a name") : definition.name;
  return refuse(Kind::conflict, "of_file",
                fmt::format("P_Key 0x{:04x} of {} is that of {}, {}: change it there", *definition.pkey, name,
                            its, files.place(definition)));
}

/// P_Keys of the files, with those that smd chose for definitions without one, and where they are defined.
std::map<std::uint16_t, std::string> keys_of_files(const EditContext& context) {
  std::map<std::uint16_t, std::string> keys;
  for (const auto& partition : context.merged.partitions) {
    for (const auto& source : partition.sources) {
      if (source.origin == config::PolicyOrigin::toml || source.origin == config::PolicyOrigin::file)
        keys.emplace(partition.pkey.value(), to_string(source, context.merged));
    }
  }
  return keys;
}

std::optional<std::uint16_t> free_key(const EditContext& context,
                                      const std::map<std::uint16_t, std::string>& of_files) {
  std::set<std::uint16_t> taken{config::kDefaultPartition.value()};
  for (const auto& [other, partition] : context.policies.api) taken.insert(*partition->pkey);
  for (const auto& [key, place] : of_files) taken.insert(key);
  if (context.foreign_keys) {
    for (const auto key : context.foreign_keys()) taken.insert(key.partition());
  }
  const auto [first, last] = context.files.api_pkeys;
  for (unsigned key = first; key <= last; ++key) {
    const auto number = static_cast<std::uint16_t>(key);
    if (!taken.contains(number)) return number;
  }
  return std::nullopt;
}

/// The P_Key of a partition that has the name and is not the one that is meant; nothing: the name is free. Of
/// the API's own partition of the name it is not said.
std::optional<PKey> other_of_name(const EditContext& context, std::string_view name, PKey meant) {
  if (name == config::kNameOfDefault && !meant.same_partition(config::kDefaultPartition))
    return config::kDefaultPartition;
  const auto own = context.policies.api.find(name);
  for (const auto& partition : context.merged.partitions) {
    if (partition.name != name || partition.pkey.same_partition(meant)) continue;
    const bool is_own = own != context.policies.api.end() && own->second->pkey == partition.pkey.value();
    if (!is_own) return partition.pkey;
  }
  return std::nullopt;
}

/// References that lead nowhere now; later ones are pending.
std::expected<void, EditError> check_members(const EditContext& context, const config::MemberRules& members) {
  for (const auto& member : members) {
    if (const auto error = check_references(member.ports, context.files.groups))
      return refuse(Kind::bad, "no_such_group", to_string(*error));
  }
  return {};
}

config::MemberRules with_put(config::MemberRules before, const config::MemberRules& members) {
  RuleList rules(std::move(before));
  for (const auto& member : members) rules.put(member);
  return std::move(rules).take();
}

/// A file has a partition of this name: the one that is meant, or another one.
std::unexpected<EditError> named_in_file(const EditContext& context, const Files& files,
                                         const Definition& definition, std::string_view name) {
  const auto own = context.policies.api.find(name);
  const auto other = own != context.policies.api.end()
                         ? other_of_name(context, name, PKey{*own->second->pkey})
                         : std::nullopt;
  if (!other) return of_file(files, definition, name);
  return refuse(
      Kind::conflict, "of_file",
      fmt::format("{} is the name of partition 0x{:04x} of {}, too: that of the API, 0x{:04x}, can only "
                  "be deleted until one of the two has another name",
                  name, other->value(), files.place(definition), *own->second->pkey));
}

/// The API's partition `name`, where a change may be made to it.
std::expected<ApiPartitionPtr, EditError> own(const EditContext& context, std::string_view name,
                                              bool to_erase = false) {
  const Files files(context.files);
  const auto found = context.policies.api.find(name);
  const auto* definition = files.named(name);
  // One that a file has since then called the same can only be taken away.
  if (definition != nullptr && (!to_erase || found == context.policies.api.end()))
    return named_in_file(context, files, *definition, name);
  if (found == context.policies.api.end()) {
    return refuse(Kind::not_found, "no_such_partition", fmt::format("the API has no partition {}", name));
  }
  if (const auto* same = files.with_key(*found->second->pkey)) return key_of_file(files, *same, name);
  return found->second;
}

EditResult unchanged(const EditContext& context, PKey pkey) {
  return Edited{
      .policies = std::make_shared<const Policies>(context.policies), .merged = nullptr, .pkey = pkey};
}

/// A file's group that does not suit is left out with a warning; who calls is told, and takes no other
/// partition's group.
std::expected<void, EditError> check_groups(const EditContext& context,
                                            const config::MergedPartitions& merged, PKey pkey) {
  using LeftOut = config::MergedPartitions::LeftOut;
  if (merged.left_out.empty()) return {};
  const auto before = config::merge_partitions(with_api(context.files, context.policies));
  for (const auto& left : merged.left_out) {
    auto text = left.text;
    if (constexpr std::string_view kLeftOut = ": left out"; text.ends_with(kLeftOut))
      text.resize(text.size() - kLeftOut.size());  // the whole change is refused
    if (left.pkey.same_partition(pkey)) return refuse(Kind::bad, "bad_group", "groups: " + text);
    const auto same = [&](const LeftOut& one) {
      return one.pkey.same_partition(left.pkey) && one.text == left.text;
    };
    if (before && std::ranges::none_of(before->left_out, same))
      return refuse(Kind::conflict, "group_taken", "groups: another partition has it: " + text);
  }
  return {};
}

/// A port has one index 0: of two requests for the same ports the last one counts. Requests that name them
/// otherwise, as by a pattern, are told apart where members are resolved.
void take_index0(Policies& policies, const Definition& taker) {
  PlacesOfPorts taken;
  for (const auto& rule : taker.members) {
    if (rule.index0) taken.emplace(rule.ports, 0);
  }
  if (taken.empty()) return;
  for (auto& [name, partition] : policies.api) {
    if (name == taker.name) continue;
    const auto loses = [&](const config::MemberRule& rule) {
      return rule.index0 && taken.contains(rule.ports);
    };
    if (std::ranges::none_of(partition->members, loses)) continue;
    auto without = std::make_shared<Definition>(*partition);
    without->members.clear();
    for (auto rule : partition->members) {
      if (loses(rule)) rule.index0 = false;
      without->members.push_back(rule);
    }
    partition = std::move(without);
  }
}

/// `partition` null: `name` is to go.
EditResult with(const EditContext& context, std::string_view name, PKey pkey, ApiPartitionPtr partition,
                bool has_new_groups = false) {
  auto next = std::make_shared<Policies>(context.policies);
  const auto at = next->api.find(name);
  const bool created = at == next->api.end();
  if (partition) take_index0(*next, *partition);
  if (!partition) {
    next->api.erase(at);
  } else if (created) {
    next->api.emplace(name, std::move(partition));
  } else {
    at->second = std::move(partition);
  }
  auto merged = config::merge_partitions(with_api(context.files, *next));
  if (!merged) return refuse(Kind::conflict, "refused", to_string(merged.error().front()));
  if (has_new_groups) {
    if (auto good = check_groups(context, *merged, pkey); !good) return std::unexpected(good.error());
  }
  return Edited{.policies = std::move(next),
                .merged = std::make_shared<const config::PartitionPolicy>(std::move(merged->policy)),
                .pkey = pkey,
                .changed = true,
                .created = created};
}

/// Name and P_Key belong to no other partition.
std::expected<void, EditError> check_key(const EditContext& context, const std::string& name, PKey pkey,
                                         Put mode) {
  const auto meant = base::parse_pkey(name);
  if (meant && !meant->same_partition(pkey))
    return refuse(Kind::bad, "bad_name",
                  fmt::format("the name of a partition: {} is the P_Key of another one", name));
  if (auto refused = refusal_of_file(context, pkey)) return std::unexpected(*std::move(refused));
  for (const auto& [other, partition] : context.policies.api) {
    if (other != name && partition->pkey == pkey.value())
      return refuse(Kind::conflict, "pkey_taken",
                    fmt::format("P_Key 0x{:04x} is that of partition {}", pkey.value(), other));
  }
  // Tokens and rules go by the names of partitions: the default one does not get another.
  if (pkey.same_partition(config::kDefaultPartition) && name != config::kNameOfDefault)
    return refuse(
        Kind::conflict, "pkey_taken",
        fmt::format("P_Key 0x{:04x} is that of partition {}", pkey.value(), config::kNameOfDefault));
  auto taken = other_of_name(context, name, pkey);
  const auto own = context.policies.api.find(name);
  if (mode == Put::same_key && own != context.policies.api.end() && own->second->pkey != pkey.value())
    taken = PKey{*own->second->pkey};
  if (!taken) return {};
  return refuse(
      Kind::conflict, "name_taken",
      fmt::format("{} is the name of partition 0x{:04x}: choose another one", name, taken->value()));
}

EditResult with_members(const EditContext& context, const ApiPartitionPtr& before,
                        config::MemberRules members) {
  const PKey pkey{*before->pkey};
  if (members == before->members) return unchanged(context, pkey);
  auto after = std::make_shared<Definition>(*before);
  after->members = std::move(members);
  return with(context, before->name, pkey, std::move(after));
}

/// The SL that the API asks for; 0: none of its own.
Sl asked_sl(const Policies& policies, PKey pkey) {
  for (const auto& [name, definition] : policies.api) {
    if (definition->pkey == pkey.partition()) return definition->settings.sl;
  }
  return Sl{0};
}

}  // namespace

EditResult in_classes(const config::SubnetConfig& config, const Policies& before, Edited edited) {
  if (!edited.changed || !edited.merged) return edited;
  if (!merges_by_sources(config)) {
    edited.policies = with_class_sls(config, std::move(edited.policies));
    if (auto merged = merged_policy(config, *edited.policies)) edited.merged = std::move(merged);
  }
  const auto asked = asked_sl(*edited.policies, edited.pkey);
  const auto* now = edited.merged->find(edited.pkey);
  if (asked == Sl{0} || now == nullptr || now->sl == asked || asked_sl(before, edited.pkey) == asked)
    return edited;
  return refuse(Kind::conflict, "sl_of_class",
                fmt::format("partition {}: SL {} is asked for, and the partition's traffic class has SL {}: "
                            "leave the SL out, or list the partition in a [[qos.class]] with that SL",
                            now->name, asked, now->sl));
}

bool is_partition_name(std::string_view name) { return config::is_policy_name(name); }

EditResult put_partition(const EditContext& context, Definition definition, Put mode) {
  const Files files(context.files);
  const auto name = definition.name;
  if (!is_partition_name(name))
    return refuse(Kind::bad, "bad_name",
                  fmt::format("the name of a partition: {}", config::kPolicyNameAllowed));
  const auto found = context.policies.api.find(name);
  const auto before = found != context.policies.api.end() ? found->second : nullptr;
  if (const auto* there = files.named(name)) return named_in_file(context, files, *there, name);
  if (auto good = check_members(context, definition.members); !good) return std::unexpected(good.error());
  if (!definition.pkey) definition.pkey = before ? before->pkey : free_key(context, keys_of_files(context));
  if (!definition.pkey)
    return refuse(Kind::conflict, "no_pkey",
                  fmt::format("no P_Key from 0x{:04x} to 0x{:04x} is free", context.files.api_pkeys.first,
                              context.files.api_pkeys.second));
  const PKey pkey{*definition.pkey};
  if (auto good = check_key(context, name, pkey, mode); !good) return std::unexpected(good.error());
  definition.members = with_put({}, std::exchange(definition.members, {}));
  if (before && *before == definition) return unchanged(context, pkey);
  if (mode == Put::fresh && before)
    return refuse(Kind::conflict, "exists",
                  fmt::format("there is a partition {}, and it is another one", name));
  const bool has_new_groups = !before || before->groups != definition.groups ||
                              before->settings != definition.settings || before->ipoib != definition.ipoib;
  return with(context, name, pkey, std::make_shared<const Definition>(std::move(definition)), has_new_groups);
}

EditResult erase_partition(const EditContext& context, std::string_view name) {
  const auto before = own(context, name, true);
  if (!before) return std::unexpected(before.error());
  return with(context, name, PKey{*(*before)->pkey}, nullptr);
}

EditResult add_members(const EditContext& context, std::string_view name,
                       const config::MemberRules& members) {
  const auto before = own(context, name);
  if (!before) return std::unexpected(before.error());
  if (auto good = check_members(context, members); !good) return std::unexpected(good.error());
  return with_members(context, *before, with_put((*before)->members, members));
}

EditResult remove_members(const EditContext& context, std::string_view name,
                          const std::vector<config::PortTerm>& terms) {
  const auto before = own(context, name);
  if (!before) return std::unexpected(before.error());
  PlacesOfPorts leaving;
  for (const auto& term : terms) leaving.emplace({{term}}, 0);
  config::MemberRules after;
  for (const auto& rule : (*before)->members) {
    if (!leaving.contains(rule.ports)) after.push_back(rule);
  }
  return with_members(context, *before, std::move(after));
}

EditResult set_members(const EditContext& context, std::string_view name,
                       const config::MemberRules& members) {
  const auto before = own(context, name);
  if (!before) return std::unexpected(before.error());
  return with_members(context, *before, with_put({}, members));
}

std::optional<EditError> refusal_of_file(const EditContext& context, PKey pkey) {
  const auto keys = keys_of_files(context);
  const auto there = keys.find(pkey.partition());
  if (there == keys.end()) return std::nullopt;
  return EditError{
      .kind = Kind::conflict,
      .code = "of_file",
      .text = fmt::format("P_Key 0x{:04x} is defined in {}: change it there", there->first, there->second)};
}

std::string free_partition_name(const EditContext& context, const std::string& base) {
  std::set<std::string, std::less<>> taken;
  for (const auto& partition : context.merged.partitions) taken.insert(partition.name);
  for (const auto& [name, partition] : context.policies.api) taken.insert(name);
  for (const auto* list : {&context.files.toml, &context.files.conf}) {
    for (const auto& definition : *list) taken.insert(definition.name);
  }
  auto name = base;
  for (unsigned number = 2; taken.contains(name); ++number) name = fmt::format("{}_{}", base, number);
  return name;
}

}  // namespace smd::policy
