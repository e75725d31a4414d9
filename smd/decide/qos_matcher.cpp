// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "smd/decide/qos_policy.h"

namespace smd::sm::inline decisions {
namespace {

constexpr std::size_t kRulesOfWord = 64;

constexpr QosWord bit_of(std::size_t rule) { return QosWord{1} << (rule % kRulesOfWord); }

/// Rules of `count` without the bits behind the last.
std::vector<QosWord> all_rules(std::size_t count) {
  std::vector<QosWord> all((count + kRulesOfWord - 1) / kRulesOfWord, ~QosWord{0});
  if (count % kRulesOfWord != 0) all.back() = bit_of(count) - 1;
  return all;
}

}  // namespace

void QosAxis::finish() {
  starts_ = {0};
  for (const auto& rule : rules_) {
    for (const auto& range : rule.ranges) {
      starts_.push_back(range.first);
      if (range.last != std::numeric_limits<std::uint64_t>::max()) starts_.push_back(range.last + 1);
    }
  }
  std::ranges::sort(starts_);
  starts_.erase(std::ranges::unique(starts_).begin(), starts_.end());
  rows_.assign(starts_.size() * words_, 0);
  without_.assign(words_, 0);
  const auto set = [&](std::size_t interval, std::size_t rule) {
    rows_[interval * words_ + rule / kRulesOfWord] |= bit_of(rule);
  };
  for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
    const auto& [ranges, none] = rules_[rule];
    if (ranges.empty()) without_[rule / kRulesOfWord] |= bit_of(rule);
    if (ranges.empty() && !none) {
      for (std::size_t i = 0; i < starts_.size(); ++i) set(i, rule);
    }
    for (const auto& range : ranges) {
      const auto first = std::ranges::lower_bound(starts_, range.first) - starts_.begin();
      for (auto i = static_cast<std::size_t>(first); i < starts_.size() && starts_[i] <= range.last; ++i)
        set(i, rule);
    }
  }
  rules_ = {};
}

const QosWord* QosAxis::row(const std::optional<std::uint64_t>& value) const {
  if (!value) return without_.data();
  const auto after = std::ranges::upper_bound(starts_, *value) - starts_.begin();
  return rows_.data() + (static_cast<std::size_t>(after) - 1) * words_;
}

QosMatcher::QosMatcher(const std::vector<Rule>& rules, std::vector<QosTerms> terms,
                       std::optional<std::uint32_t> standard, std::size_t classes)
    : terms_(std::move(terms)), standard_(standard) {
  const auto all = all_rules(rules.size());
  words_ = all.size();
  for (std::size_t i = 0; i < classes; ++i) sources_.insert(sources_.end(), all.begin(), all.end());
  targets_ = sources_;
  qos_classes_ = service_ids_ = pkeys_ = QosAxis(words_);
  of_the_path_ = all;
  for (const auto& rule : rules) {
    const auto index = of_rules_.size();
    if (rule.no_service) of_the_path_[index / kRulesOfWord] &= ~bit_of(index);
    of_rules_.push_back(rule.terms);
    qos_classes_.add(rule.qos_classes);
    service_ids_.add(rule.service_ids, rule.no_service);
    pkeys_.add(rule.pkeys);
  }
  for (auto* axis : {&qos_classes_, &service_ids_, &pkeys_}) axis->finish();
}

void QosMatcher::clear(std::vector<QosWord>& rows, std::size_t rule, QosPortClass ports) const {
  rows[ports * words_ + rule / kRulesOfWord] &= ~bit_of(rule);
}

const QosTerms* QosMatcher::match(QosPortClass source, QosPortClass target, const QosRequest& request) const {
  if (words_ != 0) {
    const auto* from = sources_.data() + source * words_;
    const auto* to = targets_.data() + target * words_;
    const auto* of_class = qos_classes_.row(request.qos_class);
    const auto* of_service = service_ids_.row(request.service_id);
    const auto* of_pkey =
        pkeys_.row(request.pkey ? std::optional<std::uint64_t>(request.pkey->partition()) : std::nullopt);
    for (std::size_t at = 0; at < words_; ++at) {
      auto left = from[at] & to[at] & of_class[at] & of_service[at] & of_pkey[at];
      if (!request.names_pkey) left &= of_the_path_[at];
      if (left != 0)
        return &terms_[of_rules_[at * kRulesOfWord + static_cast<std::size_t>(std::countr_zero(left))]];
    }
  }
  return standard_ ? &terms_[*standard_] : nullptr;
}

}  // namespace smd::sm::inline decisions
