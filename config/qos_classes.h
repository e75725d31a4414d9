// SPDX-License-Identifier: Apache-2.0
#pragma once
// [[qos.class]] and qos.preset: which SL, which part of a link and which rules each class has.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/partitions.h"
#include "config/qos_policy.h"

namespace smd::config {

inline constexpr std::size_t kMostClasses = 15;  ///< each with a VL of its own
/// The name of the class that has what no other class has, unless a block gives it another one.
inline constexpr std::string_view kStandardClass = "default";
/// A word of `ulps`: what hosts ask the SM.
inline constexpr std::string_view kSmWord = "sm";

/// The classes of a subnet.
struct QosClasses {
  std::vector<QosClass> all{};  ///< the standard class first; empty: none are asked for
  std::uint8_t high_limit = 0;  ///< VLHighLimit
  std::uint8_t high_share = 0;  ///< see QosPolicy::class_high_share
};

/// The blocks of smd.toml, or those that the preset stands for, in the order in which they match.
std::vector<ConfiguredQosClass> class_blocks(const SubnetConfig& subnet);

/// Of the policy in force instead of that of the files, else of the blocks. What check_qos_classes refuses is
/// left out, so that the answer is always well formed.
QosClasses qos_classes_of(const SubnetConfig& subnet);

/// The SLs to keep after these classes were in force: theirs, and of those before whose class is not there
/// now the ones that no other class has taken.
ClassSls class_sls(const QosClasses& classes, ClassSls before);
/// The SL of the class of that name; nothing where none is kept.
std::optional<Sl> kept_sl(const ClassSls& kept, std::string_view name);

/// Null where there is none; names are compared as those of levels.
/// It is an element of `classes`.
const QosClass* find_class(std::span<const QosClass> classes, std::string_view name);
/// The class that a partition names or that lists it, else the standard one; null where there are no classes.
const QosClass* class_of_partition(const QosClasses& classes, std::string_view asked, std::string_view name,
                                   std::optional<std::uint16_t> pkey);

/// Whether an item of `partitions` is a number, "0x8012", and no name.
bool is_pkey_item(std::string_view item);
/// Its P_Key without the bit of full members; nothing for a name, and for a number that is no P_Key.
std::optional<std::uint16_t> pkey_of_item(std::string_view item);

/// Service IDs of "nvmeof" or "gpfs:1191"; nothing where it is no such protocol, lacks its port or has none
/// from 1 to 65,535.
std::optional<QosRanges> service_ids_of_word(std::string_view word);

/// The classes of `subnet` that `policy`, which is in force instead of that of the files, lacks: those of
/// tenants that came by the API since.
void add_tenants(const SubnetConfig& subnet, QosPolicy& policy);

/// Levels and rules of the blocks: P_Keys, then protocols, then ports, each in the order of the blocks.
void add_class_rules(const SubnetConfig& subnet, const QosClasses& classes, QosPolicy& policy);

/// The SL on which hosts ask the SM.
Sl master_sm_sl(const SubnetConfig& subnet);

/// What is wrong with the blocks and with partitions that name classes.
std::vector<ConfigError> check_qos_classes(const SubnetConfig& subnet, const std::string& toml_file);

}  // namespace smd::config
