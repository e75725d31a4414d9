// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos_directions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/qos_order.h"

namespace smd::sm::inline reports {
namespace {

constexpr std::size_t kMostOneWay = 10;

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
  for (const auto& rule : policy.rules) {
    const auto* level = policy.find_level(rule.level);
    const auto from = source_of(rule), to = destination_of(rule);
    if (level == nullptr || from.same(to)) continue;
    const auto back = std::ranges::find_if(
        policy.rules, [&](const config::QosRule& one) { return holds_for_way_back(one, rule); });
    const auto* level_back = back != policy.rules.end() ? policy.find_level(back->level) : nullptr;
    const auto sl = level_back != nullptr ? std::optional(level_back->sl) : sl_without_rule(policy);
    if (sl == level->sl) continue;
    if (lines.size() == kMostOneWay) {
      lines.emplace_back("more rules hold for one direction and are not named");
      break;
    }
    lines.push_back(fmt::format(
        "{}: paths of this rule have SL {}, those back {}: what answers on a path of its own does so in "
        "another class, and a request for a reversible path that names the SL finds none; add a rule with "
        "source and destination exchanged",
        config::place_of(rule.source, policy), level->sl,
        sl ? fmt::format("SL {}", *sl) : std::string("the SL of their partition")));
  }
  return lines;
}

}  // namespace smd::sm::inline reports
