// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/policies.h"

#include <utility>

#include "config/partition_sources.h"

namespace smd::policy {

config::PartitionSources with_api(config::PartitionSources files, const Policies& policies) {
  for (const auto& [name, partition] : policies.api) files.api.push_back(*partition);
  return files;
}

config::PartitionSources sources_of(const config::SubnetConfig& config) {
  return config::partition_sources(config, "smd.toml");
}

MergedPtr merged_policy(const config::SubnetConfig& config, const Policies& policies) {
  auto merged = config::merge_partitions(with_api(sources_of(config), policies));
  if (!merged) return nullptr;
  return std::make_shared<const config::PartitionPolicy>(std::move(merged->policy));
}

}  // namespace smd::policy
