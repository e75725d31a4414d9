// SPDX-License-Identifier: Apache-2.0
#pragma once
// The partitions of a subnet: what smd.toml, OpenSM's partitions.conf and the API define, merged into one
// policy. Pure: the same sources give the same policy, in the same order.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/error.h"
#include "config/partition_definition.h"
#include "config/port_set.h"
#include "mad/base/gid.h"
#include "mad/base/id.h"

namespace smd::config {

/// The default partition, without the bit of full members.
inline constexpr PKey kDefaultPartition{0x7fff};
/// Q_Key of IP groups that are given none (RFC 4391's IPoIB broadcast group as OpenSM makes it).
inline constexpr std::uint32_t kIpoibQKey = 0x0b1b;
inline constexpr std::uint8_t kLinkLocalScope = 2;

struct PartitionSources {
  std::string toml_file{};  ///< names in errors
  std::string conf_file{};
  std::vector<PartitionDefinition> toml{};
  std::vector<PartitionDefinition> conf{};  ///< of `read_partitions_conf`
  std::vector<PartitionDefinition> api{};
  PortGroups groups{};
  std::map<std::string, unsigned> group_lines{};  ///< of toml_file, for errors; may lack groups
  bool allow_both_pkeys = false;  ///< a port may be full and limited member at once, with two keys
  bool qos = true;                ///< false: the SLs of files do not count
  /// Numbers for partitions of the API without one, 0x0001 to 0x7ffe.
  std::pair<std::uint16_t, std::uint16_t> api_pkeys{0x0001, 0x7ffe};
  /// Numbers that partitions of files without one had before, by name: they keep them, and no other gets one
  /// of them as long as there are others.
  std::map<std::string, std::uint16_t, std::less<>> kept_pkeys{};
  /// Numbers that definitions of before had: ports may hold them yet, so that new ones get others.
  std::set<std::uint16_t> given_before{};
};

/// A multicast group that is there without members.
struct PolicyGroup {
  Mgid mgid{};
  Mtu mtu = Mtu::none;    ///< none: what the ports can
  std::uint8_t rate = 0;  ///< a static rate's code; 0: what the ports can
  Sl sl{};
  std::uint8_t scope = kLinkLocalScope;
  std::uint8_t hop_limit = 0;  ///< 255 outside of the link-local scope
  std::uint32_t qkey = 0;
  std::uint8_t tclass = 0;
  std::uint32_t flow_label = 0;
  bool broadcast = false;  ///< of IPoIB
  PolicySource source{};
  friend bool operator==(const PolicyGroup&, const PolicyGroup&) = default;
};

/// Rules of a partition that follow one another in the order of all partitions, too.
struct RuleRun {
  std::uint32_t first = 0;  ///< index into PolicyPartition::members; the run lasts until the next one's
  std::uint32_t order = 0;  ///< of that rule
  friend bool operator==(const RuleRun&, const RuleRun&) = default;
};

struct PolicyPartition {
  std::string name{};      ///< never empty; may occur twice in OpenSM's file
  PKey pkey{};             ///< without the bit of full members
  bool automatic = false;  ///< smd chose the number
  Sl sl{};
  bool ipoib = false;
  MemberRules members{};        ///< in the order in which they count
  std::vector<RuleRun> runs{};  ///< of members; ascending
  std::vector<PolicyGroup> groups{};
  std::vector<PolicySource> sources{};  ///< of its definitions
  friend bool operator==(const PolicyPartition&, const PolicyPartition&) = default;

  /// The place of a member's rule among the rules of all partitions: the last one that asks for index 0
  /// counts.
  std::uint32_t order_of(std::size_t member) const;
};

/// The name of the default partition, and of no other.
inline constexpr std::string_view kNameOfDefault = "Default";

/// A partition of the API that a file defines now: its members are the file's.
struct TakenOver {
  std::string name{};
  PKey pkey{};
  PolicySource by{};
  friend bool operator==(const TakenOver&, const TakenOver&) = default;
};

/// A partition of the API that asks for another SL than the one of its traffic class, which it has.
struct SlOfClass {
  std::string name{};
  PKey pkey{};
  Sl asked{}, sl{};
  friend bool operator==(const SlOfClass&, const SlOfClass&) = default;
};

struct PartitionPolicy {
  std::vector<PolicyPartition> partitions{};  ///< ascending by P_Key; the default partition is always there
  PortGroups groups{};
  bool allow_both_pkeys = false;
  bool configured = false;  ///< false: no source defines a partition
  /// No file says who is in the default partition: its members are what they are on the fabric.
  bool default_as_found = false;
  std::vector<TakenOver> taken_over{};
  std::vector<SlOfClass> sls_of_class{};
  std::string toml_file{};
  std::string conf_file{};
  std::uint64_t digest = 0;  ///< of all that a fabric shows; lines and names of files do not count
  friend bool operator==(const PartitionPolicy&, const PartitionPolicy&) = default;

  /// Null where there is none; membership does not count.
  const PolicyPartition* find(PKey pkey) const;
};

struct MergedPartitions {
  /// A multicast group that does not suit its partition, or that another definition has already.
  struct LeftOut {
    PKey pkey;
    std::string text{};  ///< which group, and why
  };
  PartitionPolicy policy{};
  std::vector<ConfigError> warnings{};
  std::vector<LeftOut> left_out{};  ///< of `warnings`
};

/// Merges the sources, or says what contradicts what. Definitions of one P_Key in `conf` are one partition,
/// in the other sources an error; so is a P_Key of smd.toml in `conf`. Numbers that are not given are the
/// lowest free ones after all others are known.
std::expected<MergedPartitions, std::vector<ConfigError>> merge_partitions(const PartitionSources& sources);

/// "partitions.conf:3", "smd.toml:12", "API", "built in".
std::string to_string(const PolicySource& source, const PartitionPolicy& policy);

/// The MGID of a partition's IPv4 broadcast group.
Mgid broadcast_mgid(PKey pkey, std::uint8_t scope);

inline constexpr std::uint32_t kBuiltInRule = 0xffffffff;

struct PartitionMember {
  std::uint32_t port = 0;  ///< index into PortIndex::ports()
  Membership membership = Membership::limited;
  bool index0 = false;  ///< this key belongs at index 0 of the port's table; of at most one partition
  /// The rule that counts, an index into PolicyPartition::members; kBuiltInRule for the port of an SM.
  std::uint32_t rule = 0;
  friend bool operator==(const PartitionMember&, const PartitionMember&) = default;
};

struct PendingRule {
  PendingMember member{};
  Membership membership = Membership::limited;
  PolicySource source{};
  friend bool operator==(const PendingRule&, const PendingRule&) = default;

  /// The inverse of packed(). `rule` is none of PackedRule::kInFull.
  static PendingRule unpacked(const PackedRule& rule);
  /// Nothing unless `member` is a GUID or a range of GUIDs, pending for the reason that those usually have
  /// (no port has the GUID, or one in the range).
  std::optional<PackedRule> packed() const;
};
using PendingRules = PackedRules<PendingRule>;

struct ResolvedPartition {
  PKey pkey{};
  std::vector<PartitionMember> members{};  ///< ascending by port
  PendingRules pending{};
  friend bool operator==(const ResolvedPartition&, const ResolvedPartition&) = default;
};

/// The members of all partitions, in the order of the policy. `self` is the port GUID of the master SM; 0:
/// not known yet. It and `other_sms`, port GUIDs of SMs that may be its successors, are full members of the
/// default partition whatever the rules say. "both" is full unless allow_both_pkeys.
std::vector<ResolvedPartition> resolve_partitions(const PartitionPolicy& policy, const PortIndex& index,
                                                  Guid self, std::span<const Guid> other_sms = {});

}  // namespace smd::config
