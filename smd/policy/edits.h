// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of the API's partitions, as values: what is kept, and what the policy is then. Each may be
// repeated.

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/partitions.h"
#include "smd/policy/policies.h"

namespace smd::policy {

/// P_Keys that end ports have from another SM: those of no partition, in any order. Empty: none is known.
using ForeignKeys = std::function<std::vector<PKey>()>;

/// What a change is made to.
struct EditContext {
  const config::PartitionSources& files;  ///< without partitions of the API
  const Policies& policies;
  const config::PartitionPolicy& merged;  ///< of both
  /// Not given to new partitions: their ports would become members, or lose the key.
  ForeignKeys foreign_keys{};
};

struct EditError {
  enum class Kind : std::uint8_t { bad, not_found, conflict };
  Kind kind = Kind::bad;
  std::string_view code;  ///< "of_file", one word for programs
  std::string text;       ///< one line
  friend bool operator==(const EditError&, const EditError&) = default;
};

struct Edited {
  PoliciesPtr policies;  ///< those of the change's context where nothing changes
  MergedPtr merged;      ///< with the files; null where nothing changes
  PKey pkey;             ///< of the partition, without the bit of full members
  bool changed = false;
  bool created = false;
};
using EditResult = std::expected<Edited, EditError>;

/// What put_partition() does where the API has a partition of the name.
enum class Put : std::uint8_t {
  replace,   ///< it becomes as the definition says, its P_Key too
  fresh,     ///< a conflict, unless it is so already
  same_key,  ///< it is replaced where it has the P_Key of the definition; else a conflict
};
/// The partition becomes as `definition` says. One without a P_Key keeps its own, or gets the lowest free one
/// of the files' api_pkeys. A conflict where another partition, of a file or built in, has the name.
EditResult put_partition(const EditContext& context, config::PartitionDefinition definition,
                         Put mode = Put::replace);
/// Members lose the key. not_found where there is none of this name.
EditResult erase_partition(const EditContext& context, std::string_view name);
/// Members that are there get the membership that is given now.
EditResult add_members(const EditContext& context, std::string_view name, const config::MemberRules& members);
/// Nothing changes where no rule has exactly this term.
EditResult remove_members(const EditContext& context, std::string_view name,
                          const std::vector<config::PortTerm>& terms);

/// The change with the classes of traffic that follow from it: their SLs are kept with it, and partitions
/// have those of their classes. A conflict where the change asks for an SL that is not the one of its class.
/// `config` is what the files say, `before` what is kept without the change.
EditResult in_classes(const config::SubnetConfig& config, const Policies& before, Edited edited);

/// The members become those given, which are there already or port GUIDs: groups that are gone are no error.
EditResult set_members(const EditContext& context, std::string_view name, const config::MemberRules& members);
/// The conflict that a file defines this P_Key, with its place; nothing: none does.
std::optional<EditError> refusal_of_file(const EditContext& context, PKey pkey);

/// `base`, or where a partition has this name the first of "base_2", "base_3", ... that is free.
std::string free_partition_name(const EditContext& context, const std::string& base);
/// Whether a partition may be called so.
bool is_partition_name(std::string_view name);

}  // namespace smd::policy
