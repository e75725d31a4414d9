// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of the API's partitions, as values: what is kept, and what the policy is then. Each may be
// repeated.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/partitions.h"
#include "smd/policy/policies.h"

namespace smd::policy {

/// What a change is made to.
struct EditContext {
  const config::PartitionSources& files;  ///< without partitions of the API
  const Policies& policies;
  const config::PartitionPolicy& merged;  ///< of both
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

/// The partition becomes as `definition` says. One without a P_Key keeps its own, or gets the lowest free one
/// of the files' api_pkeys. `fresh`: a conflict where there is another one of the name.
EditResult put_partition(const EditContext& context, config::PartitionDefinition definition,
                         bool fresh = false);
/// Members lose the key. not_found where there is none of this name.
EditResult erase_partition(const EditContext& context, std::string_view name);
/// Members that are there get the membership that is given now.
EditResult add_members(const EditContext& context, std::string_view name,
                       const std::vector<config::MemberRule>& members);
/// Nothing changes where no rule has exactly this term.
EditResult remove_members(const EditContext& context, std::string_view name,
                          const std::vector<config::PortTerm>& terms);

/// The change with the classes of traffic that follow from it: their SLs are kept with it, and partitions
/// have those of their classes. `config` is what the files say.
Edited in_classes(const config::SubnetConfig& config, Edited edited);

/// Whether a partition may be called so.
bool is_partition_name(std::string_view name);

}  // namespace smd::policy
