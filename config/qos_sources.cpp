// SPDX-License-Identifier: Apache-2.0
#include "config/qos_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

#include "config/import/qos_ulps.h"
#include "config/partition_sources.h"
#include "config/port_references.h"
#include "config/qos_classes.h"
#include "config/qos_order.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr Vl kDroppedVl{15};

QosSource toml_source(const SourceLine& line) { return {.origin = PolicyOrigin::toml, .line = line.value}; }

QosLevel level_of(const ConfiguredQosLevel& block) {
  return {.name = block.name,
          .use = block.use,
          .sl = Sl{block.sl},
          .mtu_limit = block.mtu_limit,
          .rate_limit = block.rate_limit,
          .packet_life = block.packet_life,
          .pkeys = block.pkey,
          .source = toml_source(block.line)};
}

QosRule rule_of(const ConfiguredQosRule& block) {
  return {.use = block.use,
          .source_ports = {block.source},
          .destination_ports = {block.destination},
          .qos_classes = block.qos_class,
          .service_ids = block.service_id,
          .pkeys = block.pkey,
          .level = block.level,
          .source = toml_source(block.line)};
}

/// The one criterion of a block, or the one that the name means.
QosUlp ulp_of(const ConfiguredQosUlp& block) {
  QosUlp ulp{.name = block.name, .sl = Sl{block.sl}, .source = toml_source(block.line)};
  if (const auto* known = find_port_ulp(block.name)) {
    ulp.ranges = service_ids_of(
        *known, block.port_num.empty() && known->usual ? QosRanges{*known->usual} : block.port_num);
  } else if (!block.service_id.empty()) {
    ulp.ranges = block.service_id;
  } else if (!block.pkey.empty() || block.name == "ipoib") {
    ulp.by = QosUlpKey::pkey;
    ulp.ranges = block.pkey.empty() ? QosRanges{{kIpoibPKey, kIpoibPKey}} : block.pkey;
  } else if (!block.target.empty()) {
    ulp.by = QosUlpKey::target;
    ulp.ports = {block.target};
  } else if (!block.source.empty()) {
    ulp.by = QosUlpKey::source;
    ulp.ports = {block.source};
  } else {
    ulp.by = QosUlpKey::source_target;
    ulp.ports = {block.source_target};
  }
  return ulp;
}

class QosSourcesCheck {
 public:
  QosSourcesCheck(const SubnetConfig& subnet, const std::string& toml_file)
      : subnet_(subnet), qos_(subnet.qos), toml_file_(toml_file) {}

  QosNotes run() {
    if (both()) return std::move(notes_);
    notes_.errors = check_qos_classes(subnet_, toml_file_);
    if (!notes_.errors.empty()) return std::move(notes_);
    const auto policy = qos_policy_of(subnet_);
    if (qos_.policy_file.empty() && !qos_.accepted) notes_ = check_qos_policy(policy, false);
    look_for_second_default();
    look_for_partitions(policy);
    look_for_tenants_beyond();
    if (!qos_.accepted) look_for_claimed(policy), look_for_memberless(policy);
    auto groups = missing_groups(port_lists_of_qos(subnet_), subnet_, toml_file_);
    std::ranges::move(groups, std::back_inserter(notes_.errors));
    if (!policy.empty() && !qos_.enabled)
      notes_.warnings.push_back(
          {.file = policy.file, .expected = "this QoS policy has no effect while qos.enabled is false"});
    if (qos_.enabled) look_for_overridden(policy), look_for_dropped_sm();
    return std::move(notes_);
  }

 private:
  /// The file and blocks of smd.toml at once: neither is before the other.
  bool both() {
    const auto line = !qos_.level.empty()  ? qos_.level.front().line.value
                      : !qos_.rule.empty() ? qos_.rule.front().line.value
                      : !qos_.ulp.empty()  ? qos_.ulp.front().line.value
                                           : 0;
    if (qos_.policy_file.empty() || line == 0) return false;
    notes_.errors.push_back(
        {.file = toml_file_,
         .line = line,
         .key = !qos_.level.empty()  ? "qos.level"
                : !qos_.rule.empty() ? "qos.rule"
                                     : "qos.ulp",
         .expected = fmt::format("the QoS policy is in qos.policy_file already ({}): have one of the two",
                                 qos_.policy_file)});
    return true;
  }

  /// Paths that no rule matches have one SL. In qos-policy.conf the last one counts, as in opensm, with a
  /// warning; in smd.toml a second one is an error.
  void look_for_second_default() {
    const ConfiguredQosUlp* first = nullptr;
    for (std::size_t i = 0; i < qos_.ulp.size(); ++i) {
      if (qos_.ulp[i].name != "default") continue;
      if (first == nullptr) {
        first = &qos_.ulp[i];
        continue;
      }
      notes_.errors.push_back(
          {.file = toml_file_,
           .line = qos_.ulp[i].line.value,
           .key = fmt::format("qos.ulp[{}]", i),
           .expected = fmt::format("only one \"default\"; line {} has it already", first->line.value)});
    }
  }

  /// A partition that no file defines may be made by the API.
  void look_for_partitions(const QosPolicy& policy) {
    const auto merged = merge_partitions(partition_sources(subnet_));
    if (!merged) return;
    auto of_lists = missing_partitions(port_lists_of_qos(subnet_), merged->policy, toml_file_);
    std::ranges::move(of_lists, std::back_inserter(notes_.warnings));
    if (policy.classes.empty()) return;
    std::vector<std::string> names;
    for (const auto& partition : merged->policy.partitions) names.push_back(partition.name);
    const auto warn = [&](const QosRule& rule, std::string_view partition, std::string hint) {
      notes_.warnings.push_back(
          {.file = policy.file,
           .line = rule.source.line,
           .expected = fmt::format("no file defines the partition {} of the class \"{}\"", partition,
                                   printable(rule.level.substr(rule.level.find(':') + 1))),
           .hint = std::move(hint)});
    };
    for (const auto& rule : policy.rules) {
      for (const auto& name : rule.partitions) {
        if (std::ranges::find(names, name) == names.end())
          warn(rule, fmt::format("\"{}\"", printable(name)), did_you_mean(name, names));
      }
      if (qos_.preset != QosPreset::none) continue;  // their P_Keys are those of partitions
      for (const auto& range : rule.pkeys) {
        const PKey pkey{static_cast<std::uint16_t>(range.first)};
        if (merged->policy.find(pkey) == nullptr) warn(rule, fmt::format("{}", pkey), {});
      }
    }
  }

  /// Tenants without a class of their own.
  void look_for_tenants_beyond() {
    if (qos_.preset != QosPreset::tenants_equal || qos_.accepted) return;
    const auto blocks = class_blocks(subnet_);
    std::string names;
    for (auto i = kMostClasses - 1; i < blocks.size(); ++i)
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", printable(blocks[i].name));
    if (names.empty()) return;
    notes_.warnings.push_back(
        {.file = toml_file_,
         .key = "qos.preset",
         .expected = fmt::format("\"tenants-equal\" has classes for {} tenants: in the default class are {}",
                                 kMostClasses - 1, names)});
  }

  /// What a class lists and another one before it has already: paths are in the first that has them.
  void look_for_claimed(const QosPolicy& policy) {
    if (policy.classes.empty()) return;
    const auto merged = merge_partitions(partition_sources(subnet_));
    // Classes list a partition by its number or by its name.
    const auto has_key = [&](const QosRule& rule, const QosRange& range) {
      const auto is_it = [&](const PolicyPartition& one) {
        return one.pkey.value() == range.first &&
               std::ranges::find(rule.partitions, one.name) != rule.partitions.end();
      };
      return covers(rule.pkeys, range) ||
             (merged && range.first == range.last && std::ranges::any_of(merged->policy.partitions, is_it));
    };
    const auto has_partition = [&](const QosRule& rule, const std::string& name) {
      if (std::ranges::find(rule.partitions, name) != rule.partitions.end()) return true;
      const auto is_it = [&](const PolicyPartition& one) {
        return one.name == name && holds(rule.pkeys, one.pkey.value());
      };
      return merged && std::ranges::any_of(merged->policy.partitions, is_it);
    };
    std::set<std::tuple<std::string, std::string, std::string>> told;  // a class has several rules
    for (auto rule = policy.rules.begin(); rule != policy.rules.end(); ++rule) {
      for (auto first = policy.rules.begin(); first != rule; ++first) {
        if (first->level == rule->level) continue;
        std::string items;
        const auto add = [&](const std::string& item) {
          if (told.emplace(rule->level, first->level, item).second)
            items += (items.empty() ? "" : ", ") + item;
        };
        for (const auto& range : rule->service_ids) {
          if (covers(first->service_ids, range)) add("service ID " + to_string(QosRanges{range}, true));
        }
        for (const auto& range : rule->pkeys) {
          if (has_key(*first, range)) add("P_Key " + to_string(QosRanges{range}, true));
        }
        for (const auto& name : rule->partitions) {
          if (has_partition(*first, name)) add(fmt::format("partition \"{}\"", printable(name)));
        }
        if (!items.empty()) claimed(policy, *rule, *first, items);
      }
    }
  }

  /// A class that no rule leads to keeps an SL, a VL and a share for programs that set its SL. A given SL
  /// says that this is meant.
  void look_for_memberless(const QosPolicy& policy) {
    if (qos_.preset != QosPreset::none) return;
    for (const auto& one : policy.classes) {
      const auto leads_here = [&](const QosRule& rule) { return rule.level == "class:" + one.name; };
      const auto block = std::ranges::find(qos_.traffic_classes, one.name, &ConfiguredQosClass::name);
      if (one.standard || one.of_sm || block == qos_.traffic_classes.end() || block->sl ||
          std::ranges::any_of(policy.rules, leads_here))
        continue;
      notes_.warnings.push_back(
          {.file = policy.file,
           .line = one.source.line,
           .expected =
               fmt::format("nothing belongs to the class \"{}\": it names no partition, protocol, service "
                           "ID or port, and no partition names it; its VL and its part of each link are "
                           "for programs that set SL {} themselves",
                           printable(one.name), one.sl),
           .hint = fmt::format("sl = {} says that this is meant", one.sl)});
    }
  }

  void claimed(const QosPolicy& policy, const QosRule& rule, const QosRule& first, const std::string& items) {
    const auto name = [](const QosRule& of) { return printable(of.level.substr(of.level.find(':') + 1)); };
    notes_.warnings.push_back(
        {.file = policy.file,
         .line = rule.source.line,
         .expected = fmt::format("the class \"{}\" never has {}: the class \"{}\" is first", name(rule),
                                 items, name(first))});
  }

  /// Hosts ask the SM on this SL: where it is dropped none finds a path.
  void look_for_dropped_sm() {
    if (!qos_classes_of(subnet_).all.empty()) return;  // their tables drop none
    const auto sl = master_sm_sl(subnet_);
    std::set<std::string> keys;
    const auto look = [&](const std::optional<SlMap>& map, std::string key) {
      if (map && (*map)[sl.value()] == kDroppedVl) keys.insert(std::move(key));
    };
    for (const auto& [tables, prefix] : prefixed_tables(qos_)) {
      if (tables == &qos_.all) continue;
      const bool own = tables->sl2vl.has_value();
      look(own ? tables->sl2vl : qos_.all.sl2vl, fmt::format("qos.{}sl2vl", own ? prefix : ""));
    }
    for (std::size_t i = 0; i < qos_.ports.size(); ++i)
      look(qos_.ports[i].sl2vl, fmt::format("qos.ports[{}].sl2vl", i));
    if (keys.empty()) return;
    notes_.warnings.push_back(
        {.file = toml_file_,
         .key = "qos.sm_sl",
         .found = fmt::format("{}", sl),
         .expected =
             fmt::format("an SL that {} {} not map to VL 15: hosts ask the SM on it, and what they ask is "
                         "dropped",
                         fmt::join(keys, ", "), keys.size() == 1 ? "does" : "do")});
  }

  /// A level for all paths without a rule overrides the SLs of partitions, as with opensm.
  void look_for_overridden(const QosPolicy& policy) {
    const auto* level = policy.find_level(kDefaultQosLevel);
    QosDefault otherwise;
    if (level != nullptr) {
      otherwise = {level->sl, level->source};
    } else if (policy.default_ulp) {
      otherwise = *policy.default_ulp;
    } else {
      return;
    }
    const auto& [sl, source] = otherwise;
    const auto merged = merge_partitions(partition_sources(subnet_));
    if (!merged) return;
    for (const auto& partition : merged->policy.partitions) {
      if (partition.sl == sl || partition.sl == Sl{0} || has_rule(policy, partition.pkey)) continue;
      notes_.warnings.push_back(
          {.file = policy.file,
           .line = source.line,
           .expected = fmt::format(
               "paths of the partition \"{}\" ({}) that no rule matches get SL {} of the {}, not the "
               "partition's SL {}",
               printable(partition.name), partition.pkey, sl,
               level != nullptr ? "level DEFAULT" : "ULPs' default", partition.sl),
           .hint = fmt::format("a rule with the pkey {} keeps it", partition.pkey)});
    }
  }

  static bool has_rule(const QosPolicy& policy, PKey pkey) {
    const auto by_key = [&](const QosUlp& ulp) {
      return ulp.by == QosUlpKey::pkey && holds(ulp.ranges, pkey.partition());
    };
    // With other criteria, too, it leaves paths of the partition over.
    const auto has_key = [&](const QosRule& rule) {
      return has_only_pkeys(rule) && holds(rule.pkeys, pkey.partition());
    };
    return std::ranges::any_of(policy.ulps, by_key) || std::ranges::any_of(policy.rules, has_key);
  }

  const SubnetConfig& subnet_;
  const QosConfig& qos_;
  const std::string& toml_file_;
  QosNotes notes_{};
};

}  // namespace

QosPolicy qos_policy_of(const SubnetConfig& subnet) {
  const auto& qos = subnet.qos;
  if (qos.accepted) {
    auto accepted = *qos.accepted;
    if (accepted.tenants_equal) add_tenants(subnet, accepted);
    return accepted;
  }
  if (!qos.policy_file.empty()) return qos.conf.policy;
  QosPolicy policy{.file = subnet.source.name};
  if (auto classes = qos_classes_of(subnet); !classes.all.empty()) {
    add_class_rules(subnet, classes, policy);
    policy.classes = std::move(classes.all);
    policy.class_high_limit = classes.high_limit;
    policy.class_high_share = classes.high_share;
    policy.tenants_equal = qos.preset == QosPreset::tenants_equal;
    return policy;
  }
  for (const auto& block : qos.level) policy.levels.push_back(level_of(block));
  for (const auto& block : qos.rule) policy.rules.push_back(rule_of(block));
  for (const auto& block : qos.ulp) {
    if (block.name == "default") {
      if (!policy.default_ulp) policy.default_ulp = {.sl = Sl{block.sl}, .source = toml_source(block.line)};
    } else {
      policy.ulps.push_back(ulp_of(block));
    }
  }
  return policy;
}

QosNotes check_qos(const SubnetConfig& subnet, const std::string& toml_file) {
  return QosSourcesCheck(subnet, toml_file).run();
}

}  // namespace smd::config
