// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/policies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "config/difference.h"
#include "config/partition_groups.h"
#include "config/partition_sources.h"
#include "config/qos_classes.h"
#include "config/refused_policy.h"
#include "smd/policy/accepted.h"
#include "smd/policy/nameless.h"

namespace smd::policy {

config::PartitionSources with_api(config::PartitionSources files, const Policies& policies) {
  for (const auto& [name, partition] : policies.api) files.api.push_back(*partition);
  return files;
}

config::PartitionSources sources_of(const config::SubnetConfig& config) {
  return config::partition_sources(config);
}

void keep_answer(KeptAnswers& answers, const std::string& scope, KeptAnswer answer) {
  std::erase_if(answers, [&](const auto& one) { return answer.made - one.second->made >= kAnswerKept; });
  answers.insert_or_assign(scope, std::make_shared<const KeptAnswer>(std::move(answer)));
  while (answers.size() > kMostAnswers)
    answers.erase(std::ranges::min_element(answers, {}, [](const auto& one) { return one.second->made; }));
}

namespace {

constexpr unsigned kNoSl = 16;  ///< after all SLs

bool has_classes(const config::SubnetConfig& config) {
  const auto& qos = config.qos;
  if (qos.accepted) return !qos.accepted->classes.empty();
  return qos.preset != config::QosPreset::none || !qos.traffic_classes.empty();
}

/// A definition of a file has no P_Key of its own.
template <class Toml, class Conf>
bool has_automatic(const Toml& toml, const Conf& conf) {
  const auto lacks = [](const auto& one) { return !one.pkey; };
  return std::ranges::any_of(toml, lacks) || std::ranges::any_of(conf, lacks);
}

/// In the order of their SLs, new ones last: VLs go by the order of classes, and a new one moves none to
/// another VL. Where there are more tenants than SLs it takes none away.
void add_tenants_of_api(config::QosConfig& qos, const Policies& policies) {
  std::multimap<unsigned, config::QosTenant> ordered;
  for (const auto& [name, partition] : policies.api) {
    if (!partition->pkey) continue;
    const auto sl = config::kept_sl(qos.kept_sls, name);
    ordered.emplace(sl ? sl->value() : kNoSl, config::QosTenant{.name = name, .pkey = *partition->pkey});
  }
  qos.api_tenants.clear();
  for (auto& [sl, tenant] : ordered) qos.api_tenants.push_back(std::move(tenant));
}

/// The default partition that nothing defines has the SL of its class, and so have its groups: those of paths
/// come from the rules. True where that is another one.
bool take_sl_of_class(const config::QosClasses& classes, config::PartitionPolicy& policy) {
  const auto at =
      std::ranges::find(policy.partitions, config::kDefaultPartition, &config::PolicyPartition::pkey);
  if (at == policy.partitions.end() || at->sources.size() > 1) return false;
  const auto* of = config::class_of_partition(classes, {}, at->name, config::kDefaultPartition.value());
  if (of == nullptr || of->sl == at->sl) return false;
  at->sl = of->sl;
  for (auto& group : at->groups) group.sl = of->sl;
  return true;
}

/// What accepted_differences() tells of by its own keys is left out.
config::SubnetConfig without_policy(config::SubnetConfig config) {
  config::forget_partitions(config, {});
  config::forget_qos_policy(config.qos, {});
  config.qos.accepted = nullptr;
  return config;
}

}  // namespace

// A store of an earlier release has SLs in the accepted policy alone.
config::SubnetConfig with_kept_sls(config::SubnetConfig config, const Policies& policies) {
  if (!has_classes(config)) return config;
  config.qos.kept_sls = policies.class_sls.empty() && !policies.accepted.empty()
                            ? accepted_sls(policies.accepted)
                            : policies.class_sls;
  return config;
}

std::shared_ptr<const config::SubnetConfig> with_kept(std::shared_ptr<const config::SubnetConfig> config,
                                                      const Policies& policies) {
  if (!has_classes(*config)) return config;
  auto kept = with_kept_sls(*config, policies);
  add_tenants_of_api(kept.qos, policies);
  return std::make_shared<const config::SubnetConfig>(std::move(kept));
}

PoliciesPtr with_class_sls(const config::SubnetConfig& config, PoliciesPtr policies) {
  if (!has_classes(config)) return policies;
  auto kept = with_kept_sls(config, *policies);
  add_tenants_of_api(kept.qos, *policies);
  auto sls = config::class_sls(config::qos_classes_of(kept), kept.qos.kept_sls);
  if (sls == policies->class_sls) return policies;
  auto next = std::make_shared<Policies>(*policies);
  next->class_sls = std::move(sls);
  return next;
}

std::vector<std::string> reload_differences(const config::SubnetConfig& in_force,
                                            const config::SubnetConfig& next, const Policies& policies) {
  // Where the policy of our files was wrong, the one that is restored was theirs.
  const bool of_another =
      in_force.partitions.accepted && in_force.partitions.refused.empty() && in_force.qos.refused.empty();
  if (!of_another) return config::differences(in_force, next);
  // Its blocks are those of our files, and not what is in force.
  auto found = config::differences(without_policy(in_force), without_policy(next));
  const auto is_named = [&](const std::string& key) {
    return std::ranges::any_of(found, [&](const std::string& line) {
      return line.starts_with(key + ' ') || line.ends_with(' ' + key);
    });
  };
  for (const auto& key :
       accepted_differences(policies.accepted, accepted_text(with_kept_sls(next, policies))).keys) {
    if (!is_named(key)) found.push_back(key + ": as in the files instead of the master's before");
  }
  return found;
}

bool merges_by_sources(const config::SubnetConfig& config) {
  if (has_classes(config)) return false;
  if (const auto& accepted = config.partitions.accepted)
    return !has_automatic(accepted->toml, accepted->conf);
  return !has_automatic(config.partition, config.partitions.conf.definitions);
}

MergedPtr merged_policy(const config::SubnetConfig& config, const Policies& policies) {
  auto kept = has_classes(config) ? std::optional(with_kept_sls(config, policies)) : std::nullopt;
  if (kept) add_tenants_of_api(kept->qos, policies);
  const auto& in_force = kept ? *kept : config;
  auto sources = with_api(sources_of(in_force), policies);
  if (has_automatic(sources.toml, sources.conf)) {
    auto accepted = accepted_pkeys(policies.accepted);
    keep_by_members(sources.conf, accepted);
    sources.kept_pkeys = std::move(accepted.chosen);
    sources.given_before = std::move(accepted.given);
  }
  const auto classes = config::qos_classes_of(in_force);
  std::vector<config::SlOfClass> others;
  for (auto& partition : sources.api) {
    const auto* of = config::class_of_partition(classes, {}, partition.name, partition.pkey);
    if (of == nullptr) continue;
    const auto asked = std::exchange(partition.settings.sl, of->sl);
    if (asked != Sl{0} && asked != of->sl && partition.pkey)
      others.push_back({.name = partition.name, .pkey = PKey{*partition.pkey}, .asked = asked, .sl = of->sl});
  }
  auto merged = config::merge_partitions(sources);
  if (!merged) return nullptr;
  // Without QoS all have SL 0, and of a partition that a file has taken over the API's SL does not count.
  std::erase_if(others, [&](const auto& one) {
    return !in_force.qos.enabled ||
           std::ranges::find(merged->policy.taken_over, one.name, &config::TakenOver::name) !=
               merged->policy.taken_over.end();
  });
  const bool other_default = in_force.qos.enabled && take_sl_of_class(classes, merged->policy);
  if (!others.empty()) merged->policy.sls_of_class = std::move(others);
  if (other_default || !merged->policy.sls_of_class.empty())
    merged->policy.digest = config::digest_of(merged->policy);
  return std::make_shared<const config::PartitionPolicy>(std::move(merged->policy));
}

}  // namespace smd::policy
