// SPDX-License-Identifier: Apache-2.0
#include "config/qos_policy.h"

#include <fmt/format.h>

#include "config/qos_order.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr std::string_view kQosBlanks = " \t";

char qos_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// A name without what comparisons leave out.
std::string qos_key(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (!kQosBlanks.contains(c)) key += qos_lower(c);
  }
  return key;
}

class QosChecker {
 public:
  explicit QosChecker(const QosPolicy& policy) : policy_(policy) {
    for (const auto& group : policy.groups) groups_.push_back(group.name);
    for (const auto& level : policy.levels) levels_.push_back(level.name);
  }

  QosNotes run(bool needs_default) {
    look_for_twins(policy_.groups, "port-group");
    look_for_twins(policy_.levels, "qos-level");
    const auto* level = policy_.find_level(kDefaultQosLevel);
    if (needs_default && level == nullptr && !policy_.default_ulp)
      notes_.errors.push_back(
          {.file = policy_.file,
           .expected = "no qos-level DEFAULT, and no \"default\" in qos-ulps: one of them is mandatory"});
    if (level != nullptr && policy_.default_ulp)
      warn(policy_.default_ulp->source,
           fmt::format("\"default\" of the ULPs never counts: {} defines the level DEFAULT",
                       place_of(level->source, policy_)));
    for (std::size_t i = 0; i < policy_.rules.size(); ++i) check(policy_.rules[i], i);
    look_for_no_partition();
    // Classes overlap by design, and what they lose by it is said in their own words.
    if (!policy_.classes.empty()) return std::move(notes_);
    for (auto& warning : unreachable_rules(policy_)) notes_.warnings.push_back(std::move(warning));
    return std::move(notes_);
  }

 private:
  void warn(const QosSource& source, std::string text) {
    notes_.warnings.push_back({.file = policy_.file, .line = source.line, .expected = std::move(text)});
  }

  /// P_Keys without a number are no partition's.
  void look_for_no_partition() {
    const auto none = [](const QosRanges& pkeys) {
      return !pkeys.empty() && std::ranges::all_of(pkeys, [](const QosRange& one) { return one.last == 0; });
    };
    constexpr auto kNever = "P_Key 0x0000 is no partition's: this rule never counts";
    for (const auto& rule : policy_.rules) {
      if (none(rule.pkeys)) warn(rule.source, kNever);
    }
    for (const auto& ulp : policy_.ulps) {
      if (ulp.by == QosUlpKey::pkey && none(ulp.ranges)) warn(ulp.source, kNever);
    }
  }

  template <class Item>
  void look_for_twins(const std::vector<Item>& items, std::string_view what) {
    std::vector<std::string> keys;
    for (const auto& item : items) {
      auto key = qos_key(item.name);
      const auto first = std::ranges::find(keys, key);
      if (first != keys.end())
        warn(item.source,
             fmt::format("{} \"{}\" never counts: {} has the name already", what, printable(item.name),
                         place_of(items[static_cast<std::size_t>(first - keys.begin())].source, policy_)));
      keys.push_back(std::move(key));
    }
  }

  void wrong(const QosRule& rule, std::string_view key, std::string_view name, std::string_view what,
             const std::vector<std::string>& names) {
    notes_.errors.push_back({.file = policy_.file,
                             .line = rule.source.line,
                             .key = std::string(key),
                             .expected = fmt::format("there is no {} \"{}\"", what, printable(name)),
                             .hint = did_you_mean_or_all(name, names, fmt::format("{}s", what))});
  }

  void check(const QosRule& rule, std::size_t index) {
    const bool toml = rule.source.origin == PolicyOrigin::toml;
    if (policy_.find_level(rule.level) == nullptr)
      wrong(rule, toml ? fmt::format("qos.rule[{}].level", index) : "qos-level-name", rule.level,
            toml ? "level" : "qos-level", levels_);
    for (const auto& name : rule.source_groups) {
      if (policy_.find_group(name) == nullptr) wrong(rule, "source", name, "port-group", groups_);
    }
    for (const auto& name : rule.destination_groups) {
      if (policy_.find_group(name) == nullptr) wrong(rule, "destination", name, "port-group", groups_);
    }
  }

  const QosPolicy& policy_;
  std::vector<std::string> groups_{}, levels_{};
  QosNotes notes_{};
};

template <class Item>
const Item* find_qos_name(const std::vector<Item>& items, std::string_view name) {
  const auto at =
      std::ranges::find_if(items, [&](const Item& item) { return same_qos_name(item.name, name); });
  return at != items.end() ? &*at : nullptr;
}

}  // namespace

bool same_qos_name(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  for (;;) {
    while (i < a.size() && kQosBlanks.contains(a[i])) ++i;
    while (j < b.size() && kQosBlanks.contains(b[j])) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (qos_lower(a[i++]) != qos_lower(b[j++])) return false;
  }
}

const QosLevel* QosPolicy::find_level(std::string_view name) const { return find_qos_name(levels, name); }

const QosGroup* QosPolicy::find_group(std::string_view name) const { return find_qos_name(groups, name); }

std::string to_string(const QosRanges& ranges, bool hexadecimal) {
  std::string text;
  const auto number = [&](std::uint64_t value) {
    return hexadecimal ? fmt::format("0x{:x}", value) : std::to_string(value);
  };
  for (const auto& range : ranges) {
    if (!text.empty()) text += ", ";
    text += number(range.first);
    if (range.last != range.first) text += "-" + number(range.last);
  }
  return text;
}

std::string place_of(const QosSource& source, const QosPolicy& policy) {
  return fmt::format("{}:{}", policy.file, source.line);
}

QosNotes check_qos_policy(const QosPolicy& policy, bool needs_default) {
  return QosChecker(policy).run(needs_default);
}

}  // namespace smd::config
