// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/policies.h"

#include <utility>

#include "config/partition_sources.h"
#include "config/qos_classes.h"

namespace smd::policy {

config::PartitionSources with_api(config::PartitionSources files, const Policies& policies) {
  for (const auto& [name, partition] : policies.api) files.api.push_back(*partition);
  return files;
}

config::PartitionSources sources_of(const config::SubnetConfig& config) {
  return config::partition_sources(config, "smd.toml");
}

void keep_answer(KeptAnswers& answers, const std::string& scope, KeptAnswer answer) {
  std::erase_if(answers, [&](const auto& one) { return answer.made - one.second->made >= kAnswerKept; });
  answers.insert_or_assign(scope, std::make_shared<const KeptAnswer>(std::move(answer)));
  while (answers.size() > kMostAnswers)
    answers.erase(std::ranges::min_element(answers, {}, [](const auto& one) { return one.second->made; }));
}

MergedPtr merged_policy(const config::SubnetConfig& config, const Policies& policies) {
  auto sources = with_api(sources_of(config), policies);
  const auto classes = config::qos_classes_of(config);
  for (auto& partition : sources.api) {
    const auto* of = config::class_of_partition(classes, {}, partition.name, partition.pkey);
    if (of != nullptr) partition.settings.sl = of->sl;
  }
  auto merged = config::merge_partitions(sources);
  if (!merged) return nullptr;
  return std::make_shared<const config::PartitionPolicy>(std::move(merged->policy));
}

}  // namespace smd::policy
