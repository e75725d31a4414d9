// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos_uses.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::sm::inline reports {
namespace {

/// The SL that a rule gives; of a class its rules are what has it, not its level.
void add_rule_use(QosUses& uses, const config::QosPolicy& policy, const config::QosRule& rule) {
  const auto* level = policy.find_level(rule.level);
  if (level == nullptr || rule.service_ids.empty()) return;
  uses[level->sl].services.push_back(config::to_string(rule.service_ids, true));
}

void add_classes(QosUses& uses, const config::QosPolicy& policy) {
  for (const auto& one : policy.classes) {
    auto& use = uses[one.sl];
    use.name = one.name;
    use.by.push_back(fmt::format("class {}{}{}", one.name, one.standard ? " (all else)" : "",
                                 one.high ? " (high priority)" : ""));
  }
  for (const auto& rule : policy.rules) add_rule_use(uses, policy, rule);
}

void add_policy(QosUses& uses, const config::QosPolicy& policy) {
  if (!policy.classes.empty()) return add_classes(uses, policy);
  for (const auto& level : policy.levels) uses[level.sl].by.push_back(fmt::format("level {}", level.name));
  for (const auto& ulp : policy.ulps) {
    auto& use = uses[ulp.sl];
    use.by.push_back(ulp.name);
    if (ulp.by == config::QosUlpKey::service_id && !ulp.ranges.empty())
      use.services.push_back(fmt::format("{} {}", ulp.name, config::to_string(ulp.ranges, true)));
    if (ulp.by == config::QosUlpKey::pkey && !ulp.ranges.empty())
      use.pkeys.push_back(config::to_string(ulp.ranges, true));
  }
  if (policy.default_ulp) uses[policy.default_ulp->sl].by.emplace_back("default");
}

void add_partitions(QosUses& uses, const config::PartitionPolicy& policy) {
  for (const auto& partition : policy.partitions) {
    auto& use = uses[partition.sl];
    use.by.push_back(fmt::format("partition {}", partition.name));
    use.pkeys.push_back(fmt::format("{}", partition.pkey));
    for (const auto& group : partition.groups) {
      if (group.sl != partition.sl)
        uses[group.sl].by.push_back(fmt::format("group {}", to_string(group.mgid)));
    }
  }
}

/// `sls` may be null: the same.
QosUses on_the_wire(const QosUses& uses, const SlPart* sls, unsigned layers) {
  if (sls == nullptr || !has_layers(*sls)) return uses;
  QosUses found;
  for (const auto& [of_class, use] : uses) {
    for (unsigned layer = 0; layer < layers; ++layer) {
      auto& there = found[wire_sl(sls, of_class, layer)];
      if (there.by.empty()) there.name = use.name, there.of_class = of_class;
      for (const auto& by : use.by)
        there.by.push_back(layers == 1 || !there.by.empty() ? by : fmt::format("layer {}: {}", layer, by));
      there.services.insert(there.services.end(), use.services.begin(), use.services.end());
      // IPoIB's groups are in the first layer.
      if (layer == 0) there.pkeys.insert(there.pkeys.end(), use.pkeys.begin(), use.pkeys.end());
    }
  }
  return found;
}

}  // namespace

QosUses qos_uses(Sl sm_sl, const config::QosPolicy* policy, const config::PartitionPolicy* partitions) {
  QosUses uses;
  uses[sm_sl].by.emplace_back("the SM");
  if (partitions != nullptr) add_partitions(uses, *partitions);
  if (policy != nullptr) add_policy(uses, *policy);
  for (auto& [sl, use] : uses) use.of_class = sl;
  return uses;
}

QosUses qos_uses(const Decided& decided, const config::PartitionPolicy* partitions) {
  const auto* policy = decided.qos_policy ? decided.qos_policy->policy.get() : nullptr;
  const auto uses = qos_uses(decided.settings ? decided.settings->master_sm_sl : Sl{}, policy, partitions);
  return on_the_wire(uses, decided.service_levels.get(), decided.routes ? decided.routes->layers.count : 1U);
}

}  // namespace smd::sm::inline reports
