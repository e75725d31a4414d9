// SPDX-License-Identifier: Apache-2.0
#include "config/partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "config/kept_names.h"
#include "config/partition_groups.h"
#include "config/toml_reader.h"
#include "mad/base/parse.h"

namespace smd::config {
namespace {

constexpr std::size_t kNameLength = 31;  // opensm keeps no more of a name, and compares all of another one
constexpr std::uint16_t kLastFreePKey = 0x7ffe;

class PartitionMerger {
 public:
  explicit PartitionMerger(const PartitionSources& sources) : sources_(sources) {
    policy_.groups = sources.groups;
    policy_.allow_both_pkeys = sources.allow_both_pkeys;
    policy_.toml_file = sources.toml_file;
    policy_.conf_file = sources.conf_file;
    policy_.configured = !sources.toml.empty() || !sources.conf.empty() || !sources.api.empty();
  }

  std::expected<MergedPartitions, std::vector<ConfigError>> run() {
    for (const auto& error : check_groups(sources_.groups)) {
      const auto line = sources_.group_lines.find(error.path.front());
      errors_.push_back({.file = sources_.toml_file,
                         .line = line != sources_.group_lines.end() ? line->second : 0,
                         .expected = to_string(error)});
    }
    note_explicit(sources_.toml);
    note_explicit(sources_.conf);
    add_default();
    for (const auto& definition : sources_.conf) add_conf(as_in_force(definition));
    for (const auto& definition : sources_.toml) {
      look_at_name(definition);
      add_own(as_in_force(definition), {1, kLastFreePKey});
    }
    for (const auto& definition : sources_.api) add_api(definition);
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    finish();
    return MergedPartitions{
        .policy = std::move(policy_), .warnings = std::move(warnings_), .left_out = std::move(left_out_)};
  }

 private:
  ConfigError note(const PolicySource& source, std::string text, std::string key = {}) const {
    ConfigError error{.key = std::move(key), .expected = std::move(text)};
    if (source.origin == PolicyOrigin::toml) error.file = sources_.toml_file;
    if (source.origin == PolicyOrigin::file) error.file = sources_.conf_file;
    if (error.file.empty()) error.file = to_string(source, policy_);
    error.line = source.line;
    return error;
  }
  void warn(const PolicySource& source, std::string text) {
    warnings_.push_back(note(source, std::move(text)));
  }

  /// A P_Key in both files is an error in both, because neither is the first.
  void note_explicit(const std::vector<PartitionDefinition>& definitions) {
    for (const auto& definition : definitions) {
      if (!definition.pkey) continue;
      const auto [at, fresh] = explicit_.emplace(*definition.pkey, definition.source);
      const bool merges =
          at->second.origin == PolicyOrigin::file && definition.source.origin == PolicyOrigin::file;
      if (fresh || merges || !reported_.insert(*definition.pkey).second) continue;
      errors_.push_back(
          note(definition.source, fmt::format("P_Key 0x{:04x} of {} is defined in {} too", *definition.pkey,
                                              shown_name(definition), to_string(at->second, policy_))));
    }
  }

  static std::string shown_name(const PartitionDefinition& definition) {
    return definition.name.empty() ? "a partition without a name"
                                   : fmt::format("\"{}\"", printable(definition.name));
  }

  /// Without a file or a table all ports are full members, as if there were no partitions, unless another SM
  /// has left them otherwise; with one they are limited members unless it says more, and only the SM's port
  /// can be talked to.
  void add_default() {
    const bool open = sources_.toml.empty() && sources_.conf.empty();
    policy_.default_as_found = open;
    PartitionDefinition base{
        .name = std::string(kNameOfDefault), .pkey = kDefaultPartition.value(), .ipoib = open};
    base.members.push_back({.ports = {{PortTerm{.kind = PortTermKind::all}}},
                            .membership = open ? Membership::full : Membership::limited});
    base.members.push_back(
        {.ports = {{PortTerm{.kind = PortTermKind::self}}}, .membership = Membership::full});
    add(base, kDefaultPartition.value());
  }

  /// Without QoS the SLs of files do not count, as opensm has it.
  PartitionDefinition as_in_force(PartitionDefinition definition) {
    if (sources_.qos) return definition;
    if (definition.settings.sl != Sl{0})
      warnings_.push_back(note(definition.source,
                               fmt::format("SL {} of {} is 0 while qos.enabled is false",
                                           definition.settings.sl, shown_name(definition)),
                               "sl"));
    for (auto& group : definition.groups) {
      if (group.settings.sl != definition.settings.sl)
        warnings_.push_back(note(group.source,
                                 fmt::format("SL {} of the group {} is 0 while qos.enabled is false",
                                             group.settings.sl, group.mgid),
                                 "sl"));
      group.settings.sl = Sl{0};
    }
    definition.settings.sl = Sl{0};
    return definition;
  }

  /// A definition of OpenSM's file: those of one P_Key are one partition, one without a P_Key belongs to the
  /// one of its name.
  void add_conf(const PartitionDefinition& definition) {
    if (definition.pkey) {
      opensm_used_.insert(*definition.pkey);
      return add(definition, *definition.pkey);
    }
    if (const auto* named = find_by_name(definition.name)) {
      warn(definition.source,
           fmt::format("{} has no P_Key and is merged with the partition of that name, 0x{:04x}",
                       shown_name(definition), named->pkey.value()));
      return add(definition, named->pkey.value());
    }
    const auto key = free_key(definition, {1, kLastFreePKey});
    if (!key) return;
    warn_of_number(definition, *key);
    add(definition, *key);
  }

  /// opensm gives the lowest number that no line before has, and a later line may have it, too.
  void warn_of_number(const PartitionDefinition& definition, std::uint16_t key) {
    while (opensm_next_ < kLastFreePKey && opensm_used_.contains(opensm_next_)) ++opensm_next_;
    const auto theirs = opensm_next_++;
    opensm_used_.insert(theirs);
    auto text = fmt::format(
        "{} has no P_Key and gets 0x{:04x}, or keeps the one that it has got before; it may change "
        "with the lines before it",
        shown_name(definition), key);
    if (theirs != key) text += fmt::format("; opensm gives 0x{:04x}, which another definition has", theirs);
    warn(definition.source, std::move(text));
  }

  /// Commands take a name or a P_Key, and "Default" is there.
  void look_at_name(const PartitionDefinition& definition) {
    const auto as_key = base::parse_pkey(definition.name);
    const bool is_default = definition.name == kNameOfDefault;
    if (!as_key && !is_default) return;
    const auto meant = is_default ? kDefaultPartition : *as_key;
    if (definition.pkey && PKey{*definition.pkey}.same_partition(meant)) return;
    errors_.push_back(note(definition.source,
                           is_default ? "\"Default\" is the name of the partition 0x7fff"
                                      : fmt::format("{} is the P_Key of another partition: a name that is a "
                                                    "number has to be its own P_Key",
                                                    shown_name(definition)),
                           "partition.name"));
  }

  /// A definition of smd.toml.
  void add_own(const PartitionDefinition& definition, std::pair<std::uint16_t, std::uint16_t> range) {
    const auto key = definition.pkey ? definition.pkey : free_key(definition, range);
    if (key) add(definition, *key);
  }

  /// What the API made gives way to files.
  void add_api(const PartitionDefinition& definition) {
    for (const auto* list : {&sources_.toml, &sources_.conf}) {
      const auto same = std::ranges::find(*list, definition.name, &PartitionDefinition::name);
      if (same != list->end() && same->pkey != definition.pkey)
        warn(same->source, fmt::format("{} is also the name of a partition of the API", shown_name(*same)));
    }
    if (!definition.pkey) return add_own(definition, sources_.api_pkeys);
    const auto files = explicit_.find(*definition.pkey);
    if (files == explicit_.end()) return add_own(definition, sources_.api_pkeys);
    policy_.taken_over.push_back(
        {.name = definition.name, .pkey = PKey{*definition.pkey}, .by = files->second});
  }

  std::optional<std::uint16_t> free_key(const PartitionDefinition& definition,
                                        std::pair<std::uint16_t, std::uint16_t> range) {
    const auto take = [&](std::uint16_t number) {
      automatic_.insert(number);
      return number;
    };
    if (const auto kept = kept_key(definition); kept && is_free(*kept)) return take(*kept);
    for (const bool of_others : {false, true}) {
      for (unsigned key = range.first; key <= range.second; ++key) {
        const auto number = static_cast<std::uint16_t>(key);
        if (is_free(number) && (of_others || !was_given(number))) return take(number);
      }
    }
    errors_.push_back(
        note(definition.source, fmt::format("{} gets no P_Key: none from 0x{:04x} to 0x{:04x} is free",
                                            shown_name(definition), range.first, range.second)));
    return std::nullopt;
  }

  /// The number that the definition had before. One of OpenSM's file without members is left out, and keeps
  /// none.
  std::optional<std::uint16_t> kept_key(const PartitionDefinition& definition) {
    const bool of_file = definition.source.origin == PolicyOrigin::file;
    const bool merges = !definition.name.empty() && definition.name.size() <= kNameLength;
    if (of_file && !merges && definition.members.empty()) return std::nullopt;
    auto kept = sources_.kept_pkeys.find(kept_names_.next(definition.source.origin, definition.name));
    // Kept by an older version.
    if (kept == sources_.kept_pkeys.end() && !of_file) kept = sources_.kept_pkeys.find(definition.name);
    return kept != sources_.kept_pkeys.end() ? std::optional(kept->second) : std::nullopt;
  }

  bool is_free(std::uint16_t key) {
    return !explicit_.contains(key) && !api_has(key) && !partitions_.contains(key);
  }

  /// To a partition of before: ports of its members may have it yet.
  bool was_given(std::uint16_t key) const {
    return sources_.given_before.contains(key) ||
           std::ranges::any_of(sources_.kept_pkeys, [&](const auto& one) { return one.second == key; });
  }

  bool api_has(std::uint16_t key) {
    if (api_keys_.empty()) {
      for (const auto& definition : sources_.api) {
        if (definition.pkey) api_keys_.insert(*definition.pkey);
      }
    }
    return api_keys_.contains(key);
  }

  /// The partition of OpenSM's file, or the default one, that has the name; of several the one that opensm
  /// finds: the first by the P_Key's bytes in network order.
  const PolicyPartition* find_by_name(const std::string& name) const {
    const PolicyPartition* best = nullptr;
    const auto rank = [](const PolicyPartition& one) {
      return std::endian::native == std::endian::little ? __builtin_bswap16(one.pkey.value())
                                                        : one.pkey.value();
    };
    for (const auto& [key, partition] : partitions_) {
      if (name.empty() || name != partition.name.substr(0, kNameLength)) continue;
      if (best == nullptr || rank(partition) < rank(*best)) best = &partition;
    }
    return best;
  }

  void add(const PartitionDefinition& definition, std::uint16_t key) {
    auto& partition = partitions_[key];
    const bool fresh = partition.sources.empty();
    if (fresh) {
      partition.pkey = PKey{key};
      partition.automatic = automatic_.contains(key);
      partition.name = definition.name.empty() ? fmt::format("{:04x}", key) : definition.name;
    } else if (partition.sources.front().origin == PolicyOrigin::built_in &&
               definition.source.origin != PolicyOrigin::file && !definition.name.empty()) {
      partition.name = definition.name;
    } else {
      warn_of_merge(definition, partition);
    }
    partition.sl = definition.settings.sl;
    partition.ipoib = partition.ipoib || definition.ipoib;
    partition.sources.push_back(definition.source);
    add_members(definition, partition);
    for (auto& error : groups_.add(definition, partition)) {
      left_out_.push_back({partition.pkey, error.text});
      warn(error.source, std::move(error.text));
    }
  }

  void warn_of_merge(const PartitionDefinition& definition, const PolicyPartition& partition) {
    const auto& first = partition.sources.back();
    if (first.origin == PolicyOrigin::built_in) return;
    const auto where = to_string(first, policy_);
    if (!definition.name.empty() && definition.name != partition.name)
      warn(definition.source,
           fmt::format("{} has the P_Key 0x{:04x} of \"{}\" ({}): merged, the first name stays",
                       shown_name(definition), partition.pkey.value(), printable(partition.name), where));
    if (definition.settings.sl != partition.sl)
      warn(definition.source,
           fmt::format("SL {} replaces SL {} of {}, as opensm has it: the last definition counts",
                       definition.settings.sl, partition.sl, where));
  }

  void add_members(const PartitionDefinition& definition, PolicyPartition& partition) {
    const auto first = static_cast<std::uint32_t>(partition.members.size());
    for (const auto& rule : definition.members) check_rule(rule, definition, partition);
    if (!definition.members.empty()) partition.runs.push_back({.first = first, .order = order_});
    order_ += static_cast<std::uint32_t>(definition.members.size());
    partition.members.append(definition.members);
  }

  /// A member of the API was right when it was added: what it refers to may have gone since, and come back.
  void check_rule(const MemberRule& rule, const PartitionDefinition& definition,
                  const PolicyPartition& partition) {
    const bool of_api = rule.source.origin == PolicyOrigin::api;
    const auto complain = [&](std::string text) {
      (of_api ? warnings_ : errors_).push_back(note(rule.source, std::move(text), partition.name));
    };
    if (auto error = check_references(rule.ports, sources_.groups)) complain(to_string(*error));
    if (const auto group = group_of_partition(rule.ports))
      complain(
          group->empty()
              ? std::string("members of a partition cannot be those of another one: use a group")
              : fmt::format("members of a partition cannot be those of another one, as the group \"{}\" has "
                            "them: use their names or GUIDs",
                            printable(*group)));
    if (rule.membership == Membership::both && !sources_.allow_both_pkeys &&
        warned_both_.insert(partition.pkey).second)
      warn(rule.source.line == 0 ? definition.source : rule.source,
           fmt::format("\"both\" in {} is full while allow_both_pkeys is off", shown_name(definition)));
  }

  /// The group that refers to a partition; empty where the set itself does.
  std::optional<std::string> group_of_partition(const PortSet& set) const {
    std::vector<std::pair<std::string, const PortSet*>> sets{{"", &set}};
    std::set<std::string, std::less<>> seen;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      for (const auto& term : sets[i].second->terms) {
        if (term.kind == PortTermKind::partition) return sets[i].first;
        const auto group =
            term.kind == PortTermKind::group ? sources_.groups.find(term.name) : sources_.groups.end();
        if (group != sources_.groups.end() && seen.insert(group->first).second)
          sets.emplace_back(group->first, &group->second);
      }
    }
    return std::nullopt;
  }

  void finish() {
    for (auto& [key, partition] : partitions_) {
      const auto origin = partition.sources.front().origin;
      if (partition.members.empty() && origin == PolicyOrigin::file) {
        warn(partition.sources.front(),
             fmt::format("\"{}\" has no members: left out, with its groups", printable(partition.name)));
        continue;
      }
      policy_.partitions.push_back(std::move(partition));
    }
    warn_of_names();
    policy_.digest = digest_of(policy_);
  }

  /// opensm's file may call several partitions the same; one of the API gives its place to a file's anyway.
  void warn_of_names() {
    std::map<std::string_view, const PolicyPartition*> named;
    for (const auto& partition : policy_.partitions) {
      const auto* const first = named.emplace(partition.name, &partition).first->second;
      if (first == &partition) continue;
      const bool has_line = source_with_a_line(partition) != nullptr;
      const auto& named_here = has_line ? partition : *first;
      const auto& other = has_line ? *first : partition;
      const auto* const source = source_with_a_line(named_here);
      if (source == nullptr) continue;
      warn(*source,
           fmt::format("\"{}\" is the name of partition {} ({}), too: what names one of them, as a "
                       "token of a tenant or a rule, means both",
                       printable(partition.name), other.pkey, to_string(other.sources.front(), policy_)));
    }
  }

  /// Null for a partition that no file defines.
  static const PolicySource* source_with_a_line(const PolicyPartition& partition) {
    const auto of_file = [](const PolicySource& source) {
      return source.origin == PolicyOrigin::file || source.origin == PolicyOrigin::toml;
    };
    const auto at = std::ranges::find_if(partition.sources, of_file);
    return at == partition.sources.end() ? nullptr : &*at;
  }

  const PartitionSources& sources_;
  PartitionPolicy policy_{};
  std::map<std::uint16_t, PolicyPartition> partitions_{};
  std::map<std::uint16_t, PolicySource> explicit_{};  ///< the first definition of each P_Key in a file
  std::set<std::uint16_t> reported_{};
  std::set<std::uint16_t> api_keys_{};
  std::set<std::uint16_t> automatic_{};
  KeptNames kept_names_{};
  std::set<std::uint16_t> opensm_used_{kDefaultPartition.value()};
  std::uint16_t opensm_next_ = 1;
  std::set<PKey> warned_both_{};
  std::uint32_t order_ = 0;
  GroupMaker groups_{};
  std::vector<ConfigError> warnings_{};
  std::vector<MergedPartitions::LeftOut> left_out_{};
  std::vector<ConfigError> errors_{};
};

}  // namespace

std::uint32_t PolicyPartition::order_of(std::size_t member) const {
  const auto next = std::ranges::upper_bound(runs, member, {}, &RuleRun::first);
  const auto& run = *std::prev(next);
  return run.order + static_cast<std::uint32_t>(member) - run.first;
}

const PolicyPartition* PartitionPolicy::find(PKey pkey) const {
  const auto at = std::ranges::lower_bound(partitions, pkey.partition(), {},
                                           [](const auto& one) { return one.pkey.value(); });
  return at != partitions.end() && at->pkey.value() == pkey.partition() ? &*at : nullptr;
}

std::expected<MergedPartitions, std::vector<ConfigError>> merge_partitions(const PartitionSources& sources) {
  return PartitionMerger(sources).run();
}

std::string to_string(const PolicySource& source, const PartitionPolicy& policy) {
  switch (source.origin) {
    case PolicyOrigin::built_in:
      return "built in";
    case PolicyOrigin::api:
      return "API";
    case PolicyOrigin::toml:
      return fmt::format("{}:{}", policy.toml_file, source.line);
    case PolicyOrigin::file:
      return fmt::format("{}:{}", policy.conf_file, source.line);
  }
  return "unknown";
}

}  // namespace smd::config
