// SPDX-License-Identifier: Apache-2.0
#pragma once
// [qos] of smd.toml, typed. config/qos_sources.h makes one policy of it.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/import/qos_policy_conf.h"
#include "config/partitions_config.h"
#include "config/qos_policy.h"
#include "config/qos_tables.h"

namespace smd::config {

/// [[qos.level]]
struct ConfiguredQosLevel {
  std::string name{};
  std::string use{};
  std::uint8_t sl = 0;
  Mtu mtu_limit = Mtu::none;                  ///< none: no limit
  std::uint8_t rate_limit = 0;                ///< a static rate's code; 0: no limit
  std::optional<std::uint8_t> packet_life{};  ///< nothing: the subnet's
  QosRanges pkey{};                           ///< empty: any
  SourceLine line{};
  friend bool operator==(const ConfiguredQosLevel&, const ConfiguredQosLevel&) = default;
};

/// [[qos.rule]]
struct ConfiguredQosRule {
  std::string use{};
  std::string level{};
  std::vector<PortTerm> source{};
  std::vector<PortTerm> destination{};
  QosRanges qos_class{};
  QosRanges service_id{};
  QosRanges pkey{};
  SourceLine line{};
  friend bool operator==(const ConfiguredQosRule&, const ConfiguredQosRule&) = default;
};

/// [[qos.ulp]]: one criterion at most is given.
struct ConfiguredQosUlp {
  std::string name{};
  std::uint8_t sl = 0;
  QosRanges port_num{};
  QosRanges service_id{};
  QosRanges pkey{};
  std::vector<PortTerm> target{};
  std::vector<PortTerm> source{};
  std::vector<PortTerm> source_target{};
  SourceLine line{};
  friend bool operator==(const ConfiguredQosUlp&, const ConfiguredQosUlp&) = default;
};

/// [[qos.class]]
struct ConfiguredQosClass {
  std::string name{};
  std::optional<std::uint8_t> share{};    ///< percent
  std::optional<std::uint8_t> minimum{};  ///< percent
  bool high_priority = false;
  bool standard = false;                  ///< "default": has what no class has
  std::optional<std::uint8_t> sl{};       ///< nothing: the lowest that is free
  std::vector<std::string> partitions{};  ///< names, or P_Keys in hexadecimal notation
  std::vector<std::string> ulps{};        ///< "nvmeof", "gpfs:1191", "sm"
  QosRanges service_id{};
  std::vector<PortTerm> ports{};
  SourceLine line{};
  friend bool operator==(const ConfiguredQosClass&, const ConfiguredQosClass&) = default;
};

/// Classes that need not be written.
enum class QosPreset : std::uint8_t { none, storage_compute, tenants_equal, management_guard };

/// A partition of the API, which the preset tenants-equal gives a class.
struct QosTenant {
  std::string name{};
  std::uint16_t pkey = 0;  ///< without the bit of full members
  friend bool operator==(const QosTenant&, const QosTenant&) = default;
};

/// SLs by the names of classes.
using ClassSls = std::map<std::string, Sl, std::less<>>;

/// [qos]
struct QosConfig {
  bool enabled = false;       ///< false: nothing of QoS is written or answered
  std::string policy_file{};  ///< OpenSM's qos-policy.conf; empty: none
  QosPolicyConf conf{};       ///< what stands in it
  std::vector<ConfiguredQosLevel> level{};
  std::vector<ConfiguredQosRule> rule{};
  std::vector<ConfiguredQosUlp> ulp{};
  QosPreset preset = QosPreset::none;
  std::vector<ConfiguredQosClass> traffic_classes{};  ///< [[qos.class]]
  /// Why what the files say of the policy is not in force, a line for each error; empty: it is.
  std::string refused{};
  /// The policy that is in force instead of that of the files; null: that one is.
  std::shared_ptr<const QosPolicy> accepted{};
  ClassSls kept_sls{};                            ///< that classes had before: of the store, not of files
  std::vector<QosTenant> api_tenants{};           ///< not of files either
  bool optimized_sl2vl = true;                    ///< one Set for all ports of a switch that can
  Sl sm_sl{};                                     ///< PortInfo.MasterSMSL: what clients are to ask the SM on
  QosTables all{};                                ///< of all ports
  std::array<QosTables, kPortClasses> classes{};  ///< by PortClass
  std::vector<QosPorts> ports{};                  ///< [[qos.ports]]; the first that has the port counts
  friend bool operator==(const QosConfig&, const QosConfig&) = default;
};

/// Tables of [qos], and what the names of their keys begin with: "ca_".
struct PrefixedTables {
  const QosTables* tables;
  std::string_view prefix;
};
/// Those of all ports, which have no prefix, then those of each kind.
inline std::array<PrefixedTables, 1 + kPortClasses> prefixed_tables(const QosConfig& qos) {
  const auto of = [&](PortClass kind) { return &qos.classes[static_cast<std::size_t>(kind)]; };
  return {{{&qos.all, ""},
           {of(PortClass::ca), "ca_"},
           {of(PortClass::router), "rtr_"},
           {of(PortClass::switch_port0), "sw0_"},
           {of(PortClass::switch_external), "swe_"}}};
}

}  // namespace smd::config
