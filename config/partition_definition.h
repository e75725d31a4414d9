// SPDX-License-Identifier: Apache-2.0
#pragma once
// Partitions as one source defines them (smd.toml, OpenSM's partitions.conf, the API), before
// config/partitions.h merges the sources.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/packed_rules.h"
#include "config/port_set.h"
#include "mad/base/gid.h"
#include "mad/base/id.h"
#include "mad/base/link.h"

namespace smd::config {

enum class Membership : std::uint8_t { limited, full, both };

/// "limited", "full", "both".
constexpr std::string_view to_string(Membership membership) {
  switch (membership) {
    case Membership::limited:
      return "limited";
    case Membership::full:
      return "full";
    case Membership::both:
      return "both";
  }
  return "unknown";
}

/// Where a partition or a member comes from.
enum class PolicyOrigin : std::uint8_t { built_in, toml, file, api };

struct PolicySource {
  PolicyOrigin origin = PolicyOrigin::built_in;
  unsigned line = 0;  ///< of the file, from 1; 0 where there is none
  friend bool operator==(const PolicySource&, const PolicySource&) = default;
};

/// What the multicast groups of a partition are told to have.
struct GroupSettings {
  Mtu mtu = Mtu::none;       ///< none: what the ports can
  std::uint8_t rate = 0;     ///< a static rate's code (mad/base/rate.h); 0: what the ports can
  Sl sl{};                   ///< also that of the partition's paths
  std::uint16_t scopes = 0;  ///< bit n: scope n, 1 to 15, a group for each; none: 2, link-local
  std::uint32_t qkey = 0;    ///< 0: 0x0b1b for IP groups, 0 for others
  std::uint8_t tclass = 0;
  std::uint32_t flow_label = 0;  ///< 20 bits
  friend bool operator==(const GroupSettings&, const GroupSettings&) = default;
};

/// A multicast group that is there without members.
struct ExtraGroup {
  Mgid mgid{};  ///< as given: scope and the P_Key of IP groups are filled in by the merge
  GroupSettings settings{};
  PolicySource source{};
  friend bool operator==(const ExtraGroup&, const ExtraGroup&) = default;
};

/// Ports and their membership. Of two rules for one port the later one counts.
struct MemberRule {
  PortSet ports{};
  Membership membership = Membership::limited;
  bool index0 = false;  ///< the key belongs at index 0 of the ports' P_Key tables
  PolicySource source{};
  friend bool operator==(const MemberRule&, const MemberRule&) = default;

  /// The inverse of packed(). `rule` is none of PackedRule::kInFull.
  static MemberRule unpacked(const PackedRule& rule);
  /// Nothing unless `ports` is one GUID or one range of GUIDs.
  std::optional<PackedRule> packed() const;
};
using MemberRules = PackedRules<MemberRule>;

/// One definition; several may be of the same partition.
struct PartitionDefinition {
  std::string name{};                   ///< may be empty
  std::optional<std::uint16_t> pkey{};  ///< 0x0001 to 0x7fff; nothing: a free number
  bool ipoib = false;                   ///< has the IPoIB broadcast group
  GroupSettings settings{};
  std::vector<ExtraGroup> groups{};
  MemberRules members{};
  PolicySource source{};
  friend bool operator==(const PartitionDefinition&, const PartitionDefinition&) = default;
};

}  // namespace smd::config
