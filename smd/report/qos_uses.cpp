// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos_uses.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/qos_order.h"

namespace smd::sm::inline reports {
namespace {

/// What has the SL that a rule gives, as far as programs name it in a PathRecord.
void add_rule_use(QosUses& uses, const config::QosPolicy& policy, const config::QosRule& rule) {
  const auto* level = policy.find_level(rule.level);
  if (level == nullptr) return;
  auto& services = uses[level->sl].services;
  if (!rule.service_ids.empty()) services.push_back(config::to_string(rule.service_ids, true));
  if (!rule.qos_classes.empty())
    services.push_back("any, with QoS class " + config::to_string(rule.qos_classes, false));
}

/// A level that no rule names is that of no path, but for the one of paths without a rule.
bool is_used(const config::QosPolicy& policy, const config::QosLevel& level) {
  return config::same_qos_name(level.name, "DEFAULT") ||
         std::ranges::any_of(policy.rules, [&](const config::QosRule& rule) {
           return config::same_qos_name(rule.level, level.name);
         });
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

/// As those of partitions are written.
std::string pkey_text(const config::QosRange& range) {
  return range.first == range.last ? fmt::format("0x{:04x}", range.first)
                                   : fmt::format("0x{:04x}-0x{:04x}", range.first, range.last);
}

void add_pkey(QosUse& use, std::string pkey) {
  if (std::ranges::find(use.pkeys, pkey) == use.pkeys.end()) use.pkeys.push_back(std::move(pkey));
}

/// Whether the rule matches all paths in a partition, whatever else a request of IPoIB asks for.
bool decides(const config::QosRule& rule, const config::PolicyPartition& partition) {
  if (!config::has_only_pkeys(rule)) return false;
  const bool all = rule.pkeys.empty() && rule.partitions.empty();
  return all || holds(rule.pkeys, partition.pkey.partition()) ||
         std::ranges::find(rule.partitions, partition.name) != rule.partitions.end();
}

/// The SL of IPoIB's paths in a partition: that of a rule with its P_Key or of all paths, or its own.
Sl path_sl_of(const config::PolicyPartition& partition, const config::QosPolicy* policy) {
  if (policy == nullptr) return partition.sl;
  const auto pkey = partition.pkey.partition();
  for (const auto& rule : policy->rules) {
    const auto* level = decides(rule, partition) ? policy->find_level(rule.level) : nullptr;
    if (level != nullptr) return level->sl;
  }
  for (const auto& ulp : policy->ulps) {
    if (ulp.by == config::QosUlpKey::pkey && holds(ulp.ranges, pkey)) return ulp.sl;
  }
  if (!policy->classes.empty()) return partition.sl;
  if (const auto* level = policy->find_level(config::kDefaultQosLevel)) return level->sl;
  return policy->default_ulp ? policy->default_ulp->sl : partition.sl;
}

void add_policy(QosUses& uses, const config::QosPolicy& policy) {
  if (!policy.classes.empty()) return add_classes(uses, policy);
  for (const auto& level : policy.levels) {
    if (is_used(policy, level)) uses[level.sl].by.push_back(fmt::format("level {}", level.name));
  }
  for (const auto& rule : policy.rules) add_rule_use(uses, policy, rule);
  for (const auto& ulp : policy.ulps) {
    auto& use = uses[ulp.sl];
    use.by.push_back(ulp.name);
    if (ulp.by == config::QosUlpKey::service_id && !ulp.ranges.empty())
      use.services.push_back(fmt::format("{} {}", ulp.name, config::to_string(ulp.ranges, true)));
    if (ulp.by == config::QosUlpKey::pkey) {
      for (const auto& range : ulp.ranges) {
        if (range.last != 0) add_pkey(use, pkey_text(range));
      }
    }
  }
  const bool counts = policy.find_level(config::kDefaultQosLevel) == nullptr;
  if (policy.default_ulp && counts) uses[policy.default_ulp->sl].by.emplace_back("default");
}

/// `qos` may be null.
void add_partitions(QosUses& uses, const config::PartitionPolicy& policy, const config::QosPolicy* qos) {
  for (const auto& partition : policy.partitions) {
    const auto path_sl = path_sl_of(partition, qos);
    add_pkey(uses[path_sl], pkey_text({partition.pkey.partition(), partition.pkey.partition()}));
    uses[partition.sl].by.push_back(path_sl == partition.sl
                                        ? fmt::format("partition {}", partition.name)
                                        : fmt::format("groups of partition {}", partition.name));
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
  if (partitions != nullptr) add_partitions(uses, *partitions, policy);
  if (policy != nullptr) add_policy(uses, *policy);
  for (auto& [sl, use] : uses) use.of_class = sl;
  return uses;
}

QosUses qos_uses(const Decided& decided, const config::PartitionPolicy* partitions) {
  const auto* policy = decided.qos_policy ? decided.qos_policy->policy.get() : nullptr;
  const auto uses = qos_uses(decided.settings ? decided.settings->master_sm_sl : Sl{}, policy, partitions);
  return on_the_wire(uses, decided.service_levels.get(), decided.routes ? decided.routes->layers.count : 1U);
}

void add_groups(QosUses& uses, const GroupSls& groups, const SlPart* sls) {
  for (const auto& [sl, found] : groups) {
    auto& use = uses[sl];
    // Groups are in the first layer.
    if (use.by.empty()) use.of_class = class_of(sls, sl, 0).value_or(sl);
    use.groups = found.count;
    use.by.push_back(found.count == 1
                         ? fmt::format("multicast group {}", found.first)
                         : fmt::format("{} multicast groups (first {})", found.count, found.first));
  }
}

}  // namespace smd::sm::inline reports
