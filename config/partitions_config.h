// SPDX-License-Identifier: Apache-2.0
#pragma once
// [partitions], [[group]] and [[partition]] of smd.toml, typed. config/partition_sources.h makes definitions
// of them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/import/partitions_conf.h"
#include "config/port_set.h"
#include "mad/base/gid.h"
#include "mad/base/link.h"

namespace smd::config {

struct PartitionSources;  // config/partitions.h

/// Which packets switches check at ports to CAs and routers.
enum class Enforcement : std::uint8_t { both, in, out, off };

/// A line of the file. Two are always equal: a configuration does not change with the lines above it.
struct SourceLine {
  unsigned value = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) { return true; }
};

/// The file's name as it was given, for messages. Two are always equal, for the same reason.
struct SourceFile {
  std::string name = "smd.toml";
  friend bool operator==(const SourceFile&, const SourceFile&) { return true; }
};

/// [partitions]
struct PartitionsConfig {
  std::string file{};     ///< OpenSM's partitions.conf; empty: none
  PartitionsConf conf{};  ///< what stands in it
  Enforcement enforcement = Enforcement::both;
  bool enforcement_required = false;
  bool allow_both_pkeys = false;
  /// P_Keys, both included, that the API gives to partitions that are made without one.
  std::pair<std::uint16_t, std::uint16_t> api_pkeys{0x0001, 0x7ffe};
  /// Why what the files say of partitions and groups is not in force, a line for each error; empty: it is.
  std::string refused{};
  /// Definitions and groups that are in force instead of those of the files; null: those are.
  std::shared_ptr<const PartitionSources> accepted{};
  friend bool operator==(const PartitionsConfig&, const PartitionsConfig&) = default;
};

/// What is_policy_name() takes, for messages. Bytes that are no UTF-8 would make several names look alike.
inline constexpr std::string_view kPolicyNameAllowed =
    "1 to 64 printable characters, no comma, no space at its ends";
/// Whether a group or a partition may be called so.
bool is_policy_name(std::string_view name);

/// [[group]]
struct NamedPorts {
  std::string name{};
  std::vector<PortTerm> members{};
  SourceLine line{};
  friend bool operator==(const NamedPorts&, const NamedPorts&) = default;
};

/// An item of `members` of [[partition]].
struct ConfiguredMember {
  std::vector<PortTerm> ports{};
  Membership membership = Membership::limited;
  bool index0 = false;
  friend bool operator==(const ConfiguredMember&, const ConfiguredMember&) = default;
};

/// An item of `groups` of [[partition]].
struct ConfiguredGroup {
  Mgid mgid{};
  Mtu mtu = Mtu::none;               ///< none: its partition's
  std::uint8_t rate = 0;             ///< 0: its partition's
  std::optional<std::uint8_t> sl{};  ///< nothing: its partition's
  std::uint32_t qkey = 0;
  std::uint32_t tclass = 0;      ///< 8 bits
  std::uint32_t flow_label = 0;  ///< 20 bits
  friend bool operator==(const ConfiguredGroup&, const ConfiguredGroup&) = default;
};

/// [[partition]]
struct ConfiguredPartition {
  std::string name{};
  std::optional<std::uint16_t> pkey{};  ///< nothing: "auto"
  std::vector<PortTerm> limited{};
  std::vector<PortTerm> full{};
  std::vector<PortTerm> both{};
  std::vector<ConfiguredMember> members{};  ///< after the three lists above
  bool ipoib = false;
  Mtu mtu = Mtu::none;    ///< none: what the ports can
  std::uint8_t rate = 0;  ///< 0: what the ports can
  std::uint8_t sl = 0;
  std::string qos_class{};  ///< instead of sl; empty: none
  std::uint32_t qkey = 0;
  std::vector<std::uint8_t> scopes{2};
  std::vector<ConfiguredGroup> groups{};
  SourceLine line{};
  friend bool operator==(const ConfiguredPartition&, const ConfiguredPartition&) = default;
};

}  // namespace smd::config
