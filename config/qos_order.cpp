// SPDX-License-Identifier: Apache-2.0
#include "config/qos_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::config {
namespace {

constexpr std::size_t kMostUnreachable = 10;

/// All numbers of the later rule's criterion, which is given, are among those of the first one's.
bool has_all(const QosRanges& first, const QosRanges& later) {
  return !later.empty() &&
         std::ranges::all_of(later, [&](const QosRange& range) { return covers(first, range); });
}

bool covers_pkeys(const QosRule& first, const QosRule& later) {
  if (first.pkeys.empty() && first.partitions.empty()) return true;
  if (later.pkeys.empty() && later.partitions.empty()) return false;
  const auto has = [&](const std::string& name) {
    return std::ranges::find(first.partitions, name) != first.partitions.end();
  };
  return (later.pkeys.empty() || has_all(first.pkeys, later.pkeys)) &&
         std::ranges::all_of(later.partitions, has);
}

bool covers(const QosRule& first, const QosRule& later) {
  return source_of(first).covers(source_of(later)) && destination_of(first).covers(destination_of(later)) &&
         (first.qos_classes.empty() || has_all(first.qos_classes, later.qos_classes)) &&
         (first.service_ids.empty() || has_all(first.service_ids, later.service_ids)) &&
         (!first.no_service || later.no_service) && covers_pkeys(first, later);
}

/// The criterion of a protocol as that of a rule. Ports are no part of it.
QosRule rule_of(const QosUlp& ulp) {
  QosRule rule;
  if (ulp.by == QosUlpKey::service_id) rule.service_ids = ulp.ranges;
  if (ulp.by == QosUlpKey::pkey) rule.pkeys = ulp.ranges;
  return rule;
}

bool covers(const QosUlp& first, const QosUlp& later) {
  if (first.by != later.by) return false;
  if (!first.ports.terms.empty() || !later.ports.terms.empty())
    return first.ports == later.ports && first.ranges.empty() && later.ranges.empty();
  return has_all(first.ranges, later.ranges);
}

class UnreachableRules {
 public:
  explicit UnreachableRules(const QosPolicy& policy) : policy_(policy) {}

  std::vector<ConfigError> take() {
    const auto& rules = policy_.rules;
    const auto& ulps = policy_.ulps;
    for (auto rule = rules.begin(); rule != rules.end(); ++rule)
      look_at(rule->source, rules.begin(), rule, [&](const auto& first) { return covers(first, *rule); });
    for (auto ulp = ulps.begin(); ulp != ulps.end(); ++ulp) {
      const auto as_rule = rule_of(*ulp);
      const bool covered = look_at(ulp->source, rules.begin(), rules.end(),
                                   [&](const auto& first) { return covers(first, as_rule); });
      if (!covered)
        look_at(ulp->source, ulps.begin(), ulp, [&](const auto& first) { return covers(first, *ulp); });
    }
    if (count_ > kMostUnreachable)
      found_.push_back({.file = policy_.file,
                        .expected = fmt::format("{} more rules never count", count_ - kMostUnreachable)});
    return std::move(found_);
  }

 private:
  template <class Iterator, class Covers>
  bool look_at(const QosSource& source, Iterator begin, Iterator end, Covers covering) {
    const auto first = std::find_if(begin, end, covering);
    if (first == end) return false;
    if (++count_ > kMostUnreachable) return true;
    found_.push_back({.file = policy_.file,
                      .line = source.line,
                      .expected = fmt::format("this rule never counts: that of {} has all that it matches",
                                              place_of(first->source, policy_))});
    return true;
  }

  const QosPolicy& policy_;
  std::vector<ConfigError> found_{};
  std::size_t count_ = 0;
};

}  // namespace

bool covers(const QosRanges& ranges, const QosRange& range) {
  return std::ranges::any_of(
      ranges, [&](const QosRange& one) { return one.first <= range.first && range.last <= one.last; });
}

bool has_only_pkeys(const QosRule& rule) {
  return rule.service_ids.empty() && rule.qos_classes.empty() && source_of(rule).any() &&
         destination_of(rule).any();
}

std::vector<ConfigError> unreachable_rules(const QosPolicy& policy) {
  return UnreachableRules(policy).take();
}

}  // namespace smd::config
