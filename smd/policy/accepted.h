// SPDX-License-Identifier: Apache-2.0
#pragma once
// What files say of partitions, groups and QoS as one text, for the store: it is in force where they are
// wrong later.

#include <expected>
#include <string>
#include <vector>

#include "config/config.h"

namespace smd::policy {

/// Equal for equal policies of files and values of [lids] and [routing]. JSON, on one line.
std::string accepted_text(const config::SubnetConfig& config);
/// What differs between the policies of two texts, and the values of [lids] and [routing]: keys, or what they
/// name; empty where a text makes no sense.
struct AcceptedDifferences {
  std::vector<std::string> policy;    ///< of partitions, groups and QoS, which restore_accepted() takes over
  std::vector<std::string> settings;  ///< "lids.lmc 0 -> 1": each SM works by its own
};
AcceptedDifferences accepted_differences(const std::string& theirs, const std::string& ours);
/// Puts the text's policy in force in `into`, instead of that of the files. The error says what makes no
/// sense.
std::expected<void, std::string> restore_accepted(const std::string& text, config::SubnetConfig& into);
/// The same of its QoS policy alone; groups of ports are those of the files. An empty error: it has none.
std::expected<void, std::string> restore_accepted_qos(const std::string& text, config::SubnetConfig& into);
/// SLs of the classes in the text; none where it makes no sense.
config::ClassSls accepted_sls(const std::string& text);

}  // namespace smd::policy
