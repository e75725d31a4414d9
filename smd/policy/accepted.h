// SPDX-License-Identifier: Apache-2.0
#pragma once
// What files say of partitions, groups, QoS, LIDs, links and routing as one text, for the store: it is in
// force where they are wrong later, and at a standby that takes over.

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/load.h"
#include "config/partitions.h"
#include "smd/policy/nameless.h"

namespace smd::policy {

/// Equal for equal policies of files, M_Keys and values of [lids], [links], [multicast] and [routing]. JSON,
/// on one line. It has no key. `merged` (null: not known): the numbers that partitions without one have got
/// are kept with it.
std::string accepted_text(const config::SubnetConfig& config,
                          const config::PartitionPolicy* merged = nullptr);
/// What differs between the policies of two texts; empty where a text makes no sense.
struct AcceptedDifferences {
  std::vector<std::string> keys;    ///< "partitions.file", "lids.lmc"
  std::vector<std::string> values;  ///< "lids.lmc 0 -> 1", of single values
};
/// From `theirs` to `ours`, both of accepted_text(). Pure.
AcceptedDifferences accepted_differences(const std::string& theirs, const std::string& ours);
/// Puts the text's policy in force in `into`, instead of that of the files. The error says what makes no
/// sense.
std::expected<void, std::string> restore_accepted(const std::string& text, config::SubnetConfig& into);
/// Whether the text has a QoS policy that restore_accepted() can read. An empty error: it has none, as a text
/// of an older version.
std::expected<void, std::string> knows_qos(const std::string& text);
/// The same of the tables of [qos]; nothing of a text of an older version.
std::expected<void, std::string> restore_accepted_tables(const std::string& text,
                                                         const config::ConfigContext& context,
                                                         config::SubnetConfig& into);
/// Puts the text's values of [lids], [links], [multicast], [routing] and [qos] in force in `into`, and what
/// it says of M_Keys (accepted_m_keys.h); nothing of a text of an older version. `context`: the engines. The
/// error says which makes no sense; then nothing is changed.
std::expected<void, std::string> restore_accepted_settings(const std::string& text,
                                                           const config::ConfigContext& context,
                                                           config::SubnetConfig& into);
/// P_Keys of the partitions of the files.
struct AcceptedPKeys {
  std::map<std::string, std::uint16_t, std::less<>>
      chosen{};                     ///< by smd, for definitions without one; by name
  std::set<std::uint16_t> given{};  ///< by the definitions
  std::vector<NamelessPartition> nameless{};
  friend bool operator==(const AcceptedPKeys&, const AcceptedPKeys&) = default;
};
/// None where the text makes no sense.
AcceptedPKeys accepted_pkeys(const std::string& text);
/// SLs of the classes in the text; none where it makes no sense.
config::ClassSls accepted_sls(const std::string& text);

}  // namespace smd::policy
