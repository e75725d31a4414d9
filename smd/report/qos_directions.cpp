// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos_directions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "config/qos_order.h"

namespace smd::sm::inline reports {
namespace {

constexpr std::size_t kMostOneWay = 10;

/// A rule or a protocol by ports, with the SL of its paths.
struct DirectedRule {
  config::QosRule rule{};
  std::optional<Sl> sl{};  ///< nothing: its level is not there
  std::string_view what = "rule";
};

/// A protocol as a rule; GUIDs of ports are a group of their own.
config::QosRule rule_of_protocol(const config::QosUlp& ulp) {
  using enum config::QosUlpKey;
  config::QosRule rule{.source = ulp.source};
  if (ulp.by == service_id) rule.service_ids = ulp.ranges;
  if (ulp.by == pkey) rule.pkeys = ulp.ranges;
  const bool by_ports = ulp.by == target || ulp.by == source || ulp.by == source_target;
  if (!by_ports) return rule;
  std::vector<std::string> guids;
  if (ulp.ports.terms.empty()) guids.push_back("port-guid: " + config::to_string(ulp.ranges, true));
  if (ulp.by != target) rule.source_groups = guids, rule.source_ports = ulp.ports;
  if (ulp.by != source) rule.destination_groups = guids, rule.destination_ports = ulp.ports;
  return rule;
}

/// In the order in which they match.
std::vector<DirectedRule> directed_rules(const config::QosPolicy& policy) {
  std::vector<DirectedRule> all;
  for (const auto& rule : policy.rules) {
    const auto* level = policy.find_level(rule.level);
    all.push_back({.rule = rule, .sl = level != nullptr ? std::optional(level->sl) : std::nullopt});
  }
  for (const auto& ulp : policy.ulps)
    all.push_back({.rule = rule_of_protocol(ulp), .sl = ulp.sl, .what = "protocol"});
  return all;
}

/// `rule` holds for all requests of the way back that `asked` has.
bool holds_for_way_back(const config::QosRule& rule, const config::QosRule& asked) {
  const auto same = [](const auto& wanted, const auto& has) { return wanted.empty() || wanted == has; };
  return source_of(rule).covers(destination_of(asked)) && destination_of(rule).covers(source_of(asked)) &&
         same(rule.qos_classes, asked.qos_classes) && same(rule.service_ids, asked.service_ids) &&
         same(rule.pkeys, asked.pkeys) && same(rule.partitions, asked.partitions);
}

std::optional<Sl> sl_without_rule(const config::QosPolicy& policy) {
  if (const auto* level = policy.find_level(config::kDefaultQosLevel)) return level->sl;
  if (policy.default_ulp) return policy.default_ulp->sl;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> one_way_rules(const config::QosPolicy& policy) {
  std::vector<std::string> lines;
  if (!policy.classes.empty()) return lines;
  const auto all = directed_rules(policy);
  for (const auto& [rule, own, what] : all) {
    if (!own || source_of(rule).same(destination_of(rule))) continue;
    const auto back = std::ranges::find_if(
        all, [&](const DirectedRule& one) { return holds_for_way_back(one.rule, rule); });
    const auto sl = back != all.end() && back->sl ? back->sl : sl_without_rule(policy);
    if (sl == own) continue;
    if (lines.size() == kMostOneWay) {
      lines.emplace_back("more rules hold for one direction and are not named");
      break;
    }
    lines.push_back(fmt::format(
        "{}: paths of this {} have SL {}, those back {}: what answers on a path of its own does so in "
        "another class, and a request for a reversible path that names the SL finds none; add a {} with "
        "source and destination exchanged",
        config::place_of(rule.source, policy), what, *own,
        sl ? fmt::format("SL {}", *sl) : std::string("the SL of their partition"), what));
  }
  return lines;
}

}  // namespace smd::sm::inline reports
