// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is kept of a subnet's policy beside its files: the partitions that the API made, and what the files
// said when they were right last.

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "config/config.h"
#include "config/partition_definition.h"
#include "config/partitions.h"

namespace smd::policy {

/// A partition of the API: it has a name and a P_Key, and each of its rules has one term.
using ApiPartition = config::PartitionDefinition;
using ApiPartitionPtr = std::shared_ptr<const ApiPartition>;  ///< never null

struct Policies {
  /// By name. Also those whose P_Key a file has taken over.
  std::map<std::string, ApiPartitionPtr, std::less<>> api{};
  /// accepted_text() of the files that were in force last; empty: none were.
  std::string accepted{};

  friend bool operator==(const Policies& a, const Policies& b) {
    const auto same = [](const auto& x, const auto& y) {
      return x.first == y.first && *x.second == *y.second;
    };
    return a.accepted == b.accepted && std::ranges::equal(a.api, b.api, same);
  }
};
using PoliciesPtr = std::shared_ptr<const Policies>;  ///< never null
/// Files and API merged. Null: they contradict each other, or are not merged yet.
using MergedPtr = std::shared_ptr<const config::PartitionPolicy>;

/// `files` with the partitions of the API.
config::PartitionSources with_api(config::PartitionSources files, const Policies& policies);
/// What the files of a configuration define.
config::PartitionSources sources_of(const config::SubnetConfig& config);
/// Both merged; null where the files contradict each other, which those that were read never do. Pure.
MergedPtr merged_policy(const config::SubnetConfig& config, const Policies& policies);

}  // namespace smd::policy
