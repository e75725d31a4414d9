// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sets of ports as policies name them, and the ports of a fabric that belong to them. A set is text until it
// is resolved: its members need not be in the fabric yet.

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/base/id.h"
#include "mad/base/link.h"

namespace smd::config {

/// What one member of a set names. All but `node_port` and `switch_links` mean end ports.
enum class PortTermKind : std::uint8_t {
  all,           ///< "ALL"
  cas,           ///< "ALL_CAS"
  switches,      ///< "ALL_SWITCHES": their ports 0
  routers,       ///< "ALL_ROUTERS"
  self,          ///< "SELF": the port of the master SM
  switch_links,  ///< "ALL_SWITCH_TO_SWITCH": ports of links between switches
  guid,          ///< a port GUID
  guid_range,    ///< "0x10-0x1f": port GUIDs, both ends included
  node,          ///< the name of a node, or a pattern
  node_port,     ///< "NODE:PORT", the node as a pattern too
  group,         ///< "group:NAME"
  partition,     ///< "partition:NAME", or its P_Key: ports that are members
  level,         ///< "level:N": end ports at this level of the tree; leaves are level 0
  rail           ///< "rail:N": adapter ports of machines with several, by number from 1
};

struct PortTerm {
  PortTermKind kind = PortTermKind::all;
  Guid first{};         ///< of guid and guid_range
  Guid last{};          ///< of guid_range; not below `first`
  std::string name{};   ///< of node, node_port, group, partition
  unsigned number = 0;  ///< of node_port (0 to 254), level, rail
  friend bool operator==(const PortTerm&, const PortTerm&) = default;
};

struct PortSet {
  std::vector<PortTerm> terms{};
  friend bool operator==(const PortSet&, const PortSet&) = default;
};

/// Named sets, which sets may refer to by "group:NAME".
using PortGroups = std::map<std::string, PortSet, std::less<>>;

/// Why text is no member of a set.
struct PortTermError {
  std::string expected{};
  std::string hint{};  ///< may be empty
  friend bool operator==(const PortTermError&, const PortTermError&) = default;
};

/// One member as text; `to_string` writes what this reads.
std::expected<PortTerm, PortTermError> parse_port_term(std::string_view text);
std::string to_string(const PortTerm& term);
/// The members, separated by ", ".
std::string to_string(const PortSet& set);

/// What is wrong with the references between groups. `path` leads from one group to the name that is wrong:
/// one that does not exist, or a group that the path has passed.
struct GroupError {
  std::vector<std::string> path{};
  bool cycle = false;
  std::string hint{};  ///< a name that does exist; may be empty
  friend bool operator==(const GroupError&, const GroupError&) = default;
};
/// "group a: a -> b -> a is a cycle", or "group a: there is no group b".
std::string to_string(const GroupError& error);
/// The first error of each group, in the order of names; each cycle once. Empty: all references are right.
std::vector<GroupError> check_groups(const PortGroups& groups);
/// The first reference of a set that leads nowhere; the groups themselves are right.
std::optional<GroupError> check_references(const PortSet& set, const PortGroups& groups);

/// A port of the fabric, as far as sets ask for it.
struct PortView {
  Guid port_guid{};  ///< of a switch's external ports that of port 0
  Guid node_guid{};
  std::string_view node_name{};
  PortNum port{};
  NodeType type = NodeType::ca;
  std::optional<unsigned> level{};     ///< 0: a leaf, or a host on one
  std::optional<unsigned> rail{};      ///< from 1; nothing: its machine has no other adapter port
  bool to_switch = false;              ///< a switch's external port whose peer is a switch
  std::span<const PKey> partitions{};  ///< that it is a member of
  /// With LIDs of its own.
  bool is_end_port() const { return type != NodeType::switch_ || port == PortNum{0}; }
};

/// Ports of a fabric, sorted for questions of many sets. Keeps the span, no copy.
class PortIndex {
 public:
  /// `ports` outlive the index.
  explicit PortIndex(std::span<const PortView> ports);
  std::span<const PortView> ports() const { return ports_; }
  /// Indexes into `ports()` of the end ports with these port GUIDs, both ends included.
  std::span<const std::uint32_t> with_guids(Guid first, Guid last) const;
  /// Indexes into `ports()` of the ports of nodes with this name.
  std::span<const std::uint32_t> of_node(std::string_view name) const;
  /// A port of the node with this GUID; null: there is none.
  const PortView* find_node(Guid node) const;

 private:
  std::span<const PortView> ports_;
  std::vector<std::uint32_t> by_guid_{};  ///< end ports
  std::vector<std::uint32_t> by_node_{};
  std::vector<std::uint32_t> by_name_{};    ///< by hash, then by name
  std::vector<std::size_t> name_hashes_{};  ///< of by_name_
};

/// What the members of a set refer to.
struct PortSetContext {
  const PortGroups& groups;                                    ///< checked by `check_groups`
  const std::map<std::string, PKey, std::less<>>& partitions;  ///< by name
  Guid self{};  ///< port GUID of the master SM; 0: not known yet
};

/// Why a port GUID is pending, unless it is that of a node, and why a range is.
inline constexpr std::string_view kNoPortHasGuid = "no port of the fabric has this GUID";
inline constexpr std::string_view kNoPortInRange = "no port of the fabric has one of these GUIDs";

/// A member that no port of the fabric belongs to, now.
struct PendingMember {
  PortTerm term{};
  std::string reason{};
  friend bool operator==(const PendingMember&, const PendingMember&) = default;
};

struct ResolvedPorts {
  std::vector<std::uint32_t> ports{};  ///< indexes into PortIndex::ports(), ascending, each once
  std::vector<PendingMember> pending{};
};

/// The ports of a set. Groups that are referred to are followed; their pending members are listed too.
ResolvedPorts resolve(const PortSet& set, const PortSetContext& context, const PortIndex& index);

}  // namespace smd::config
