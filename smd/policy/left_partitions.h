// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the API has changed of partitions in the other part of a fabric that was cut in two.

#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "smd/policy/policies.h"

namespace smd::policy {

/// A policy with partitions of the other part.
struct LeftPartitions {
  PoliciesPtr policies;                ///< the one that was given, where nothing was taken
  MergedPtr merged;                    ///< with the files
  std::vector<std::string> taken{};    ///< names, in their order
  std::vector<std::string> refused{};  ///< "name (reason)"
};

/// What a policy is made of.
struct PolicyParts {
  std::shared_ptr<const config::SubnetConfig> config;  ///< the files
  PoliciesPtr policies;
  MergedPtr merged;  ///< of both; null: they contradict each other
};

/// `now`, of the SM that stays master, with the partitions that `other`, of the one that was master of the
/// other part, has made or changed since both had `common` (null: not known, and nothing is taken). Of one
/// that both have changed, or that one of both has deleted, that of `now` counts. Pure.
LeftPartitions with_left_partitions(PolicyParts now, const Policies& other, const Policies* common);

}  // namespace smd::policy
