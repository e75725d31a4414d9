// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which paths get which SL: OpenSM's qos-policy.conf, or [[qos.level]], [[qos.rule]] and [[qos.ulp]] of
// smd.toml. Ports are text until the policy is resolved for a fabric.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "config/partition_definition.h"
#include "config/port_set.h"
#include "mad/base/id.h"
#include "mad/base/link.h"

namespace smd::config {

/// Where an item stands. Lines do not count in comparisons: a policy does not change with the lines above it.
struct QosSource {
  PolicyOrigin origin = PolicyOrigin::built_in;
  unsigned line = 0;  ///< from 1
  friend bool operator==(const QosSource& a, const QosSource& b) { return a.origin == b.origin; }
};

/// Numbers, both ends included.
struct QosRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< not below `first`
  friend bool operator==(const QosRange&, const QosRange&) = default;
};

/// Empty where a criterion is not given.
using QosRanges = std::vector<QosRange>;
/// Whether one of the ranges includes `value`; false for no ranges.
inline bool holds(const QosRanges& ranges, std::uint64_t value) {
  return std::ranges::any_of(
      ranges, [value](const QosRange& range) { return range.first <= value && value <= range.last; });
}
/// "1, 0x10-0x1f" in hexadecimal or decimal notation.
std::string to_string(const QosRanges& ranges, bool hexadecimal);

/// A port of a node: "NodeDescription/P1".
struct QosPortName {
  std::string node{};  ///< exactly its description
  unsigned port = 0;   ///< 1 or more
  friend bool operator==(const QosPortName&, const QosPortName&) = default;
};

/// A port-group of the file: all ports that one of its lines names.
struct QosGroup {
  std::string name{};
  std::string use{};
  QosRanges port_guids{};
  std::vector<QosPortName> port_names{};
  std::vector<std::string> partitions{};  ///< by name
  QosRanges pkeys{};                      ///< without the bit of full members
  bool cas = false, switches = false, routers = false, self = false;
  QosSource source{};
  friend bool operator==(const QosGroup&, const QosGroup&) = default;
};

struct QosLevel {
  std::string name{};
  std::string use{};
  Sl sl{};
  Mtu mtu_limit = Mtu::none;                  ///< none: no limit
  std::uint8_t rate_limit = 0;                ///< a static rate's code; 0: no limit
  std::optional<std::uint8_t> packet_life{};  ///< PacketLifeTime's code instead of the subnet's
  QosRanges path_bits{};                      ///< OpenSM reads them and does nothing with them
  QosRanges pkeys{};                          ///< P_Keys that paths may have; without the bit of full members
  QosSource source{};
  friend bool operator==(const QosLevel&, const QosLevel&) = default;
};

/// All criteria that are given have to hold.
struct QosRule {
  std::string use{};
  std::vector<std::string> source_groups{};  ///< one of these groups has the source
  std::vector<std::string> destination_groups{};
  PortSet source_ports{};  ///< the same as a set of ports, in smd.toml
  PortSet destination_ports{};
  QosRanges qos_classes{};
  QosRanges service_ids{};
  bool no_service = false;  ///< only requests match that name a P_Key and no ServiceID, as IPoIB's do
  QosRanges pkeys{};
  std::vector<std::string> partitions{};  ///< by name; their P_Keys count as `pkeys` do
  std::string level{};
  QosSource source{};
  friend bool operator==(const QosRule&, const QosRule&) = default;
};

/// What a rule for an upper-layer protocol matches by.
enum class QosUlpKey : std::uint8_t { service_id, pkey, target, source, source_target };

/// "service-id", "pkey", "target-port-guid", ...
constexpr std::string_view to_string(QosUlpKey key) {
  switch (key) {
    case QosUlpKey::service_id:
      return "service-id";
    case QosUlpKey::pkey:
      return "pkey";
    case QosUlpKey::target:
      return "target-port-guid";
    case QosUlpKey::source:
      return "source-port-guid";
    case QosUlpKey::source_target:
      return "source-target-port-guid";
  }
  return "unknown";
}

struct QosUlp {
  std::string name{};  ///< "sdp", "any", "lustre"
  QosUlpKey by = QosUlpKey::service_id;
  QosRanges ranges{};  ///< service IDs, P_Keys or port GUIDs
  PortSet ports{};     ///< instead of port GUIDs, in smd.toml
  Sl sl{};
  QosSource source{};
  friend bool operator==(const QosUlp&, const QosUlp&) = default;
};

/// `default` of qos-ulps: for paths that no rule matches, unless there is a level DEFAULT.
struct QosDefault {
  Sl sl{};
  QosSource source{};
  friend bool operator==(const QosDefault&, const QosDefault&) = default;
};

/// Traffic with an SL, a VL and a share of each link of its own, as [[qos.class]] or a preset asks for it.
struct QosClass {
  std::string name{};
  Sl sl{};
  bool high = false;        ///< its VL has high priority
  bool standard = false;    ///< has what no other class has
  bool of_sm = false;       ///< has what hosts ask the SM
  std::uint32_t share = 0;  ///< of what its priority sends while all classes send, of kWholeShare
  std::vector<std::string> partitions{};  ///< by name, or P_Keys in hexadecimal notation
  QosSource source{};
  friend bool operator==(const QosClass&, const QosClass&) = default;
};
inline constexpr std::uint32_t kWholeShare = 10'000;

struct QosPolicy {
  std::vector<QosGroup> groups{};
  std::vector<QosLevel> levels{};
  std::vector<QosRule> rules{};  ///< the first that matches counts
  std::vector<QosUlp> ulps{};    ///< the same, after the rules
  std::optional<QosDefault> default_ulp{};
  /// The standard class first. Where there are any, tables of ports follow from them.
  std::vector<QosClass> classes{};
  std::uint8_t class_high_limit = 0;  ///< VLHighLimit, where there are classes
  /// Percent of the link that is asked for classes of high priority together; 0: not said, or at least so
  /// much.
  std::uint8_t class_high_share = 0;
  bool tenants_equal = false;  ///< each partition has a class, also those that the API makes
  std::string file{};          ///< names its lines in messages
  friend bool operator==(const QosPolicy&, const QosPolicy&) = default;

  bool empty() const {
    return levels.empty() && rules.empty() && ulps.empty() && !default_ulp && classes.empty();
  }
  /// The first of that name; null where there is none.
  const QosLevel* find_level(std::string_view name) const;
  /// The same of port groups. Names are compared by same_qos_name().
  const QosGroup* find_group(std::string_view name) const;
};

/// The level for paths that no rule matches.
inline constexpr std::string_view kDefaultQosLevel = "DEFAULT";
inline constexpr std::uint64_t kMostQosClass = 0xFFF;  ///< 12 bits

/// Names of groups and levels are compared as OpenSM does: neither case nor blanks count.
bool same_qos_name(std::string_view a, std::string_view b);

/// "qos-policy.conf:12"
std::string place_of(const QosSource& source, const QosPolicy& policy);

struct QosNotes {
  std::vector<ConfigError> errors{};
  std::vector<ConfigError> warnings{};
};

/// What no single line shows: rules whose level or groups are not there, names that stand twice. Without a
/// level DEFAULT (or a default of the ULPs) a policy is wrong, where `needs_default`.
QosNotes check_qos_policy(const QosPolicy& policy, bool needs_default);

}  // namespace smd::config
