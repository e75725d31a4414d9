// SPDX-License-Identifier: Apache-2.0
#include "config/qos_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "config/import/qos_ulps.h"
#include "config/scalars.h"
#include "mad/base/parse.h"

namespace smd::config {
namespace {

constexpr std::uint8_t kStorageShare = 40;
constexpr unsigned kHalf = 50, kAll = 100;

std::vector<ConfiguredQosClass> storage_and_compute() {
  return {{.name = "compute", .standard = true},
          {.name = "storage", .share = kStorageShare, .ulps = {"lustre", "nvmeof", "nfsrdma", "iser"}}};
}

/// What hosts ask the SM is little, so that it may go first.
std::vector<ConfiguredQosClass> management_guard() {
  return {{.name = std::string(kStandardClass), .standard = true},
          {.name = "management", .high_priority = true, .ulps = {std::string(kSmWord)}}};
}

/// A class for each partition but the default one: those of the files, then those of the API.
class Tenants {
 public:
  void add(const std::string& name, std::optional<std::uint16_t> pkey) {
    if (pkey && (*pkey & 0x7fffU) == kDefaultPartition.value()) return;
    if (pkey ? !pkeys_.insert(*pkey).second : names_.contains(name)) return;
    const auto number = pkey ? fmt::format("0x{:04x}", *pkey) : std::string{};
    auto called = name.empty() ? number : name;
    if (!names_.insert(called).second) called += " " + number;
    classes_.push_back({.name = called, .partitions = {number.empty() ? name : number}});
  }
  std::vector<ConfiguredQosClass> take() { return std::move(classes_); }

 private:
  std::set<std::uint16_t> pkeys_{};
  std::set<std::string> names_{};
  std::vector<ConfiguredQosClass> classes_{};
};

std::vector<ConfiguredQosClass> tenants_equal(const SubnetConfig& subnet) {
  Tenants tenants;
  for (const auto& definition : subnet.partitions.conf.definitions)
    tenants.add(definition.name, definition.pkey);
  for (const auto& block : subnet.partition) tenants.add(block.name, block.pkey);
  for (const auto& tenant : subnet.qos.api_tenants) tenants.add(tenant.name, tenant.pkey);
  return tenants.take();
}

/// Of the classes of low priority, in percent: its share, or its minimum and an equal part of the rest.
void share_low(std::vector<QosClass>& classes, const std::vector<ConfiguredQosClass>& asked) {
  unsigned given = 0, elastic = 0;
  for (const auto& block : asked) {
    if (block.high_priority) continue;
    given += block.share.value_or(block.minimum.value_or(0));
    if (!block.share) ++elastic;
  }
  const double rest = given < kAll ? kAll - given : 0;
  std::vector<double> parts(asked.size());
  double sum = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].high_priority) continue;
    if (const auto& share = asked[i].share) {
      parts[i] = *share;
    } else {
      parts[i] = asked[i].minimum.value_or(0) + rest / elastic;
    }
    sum += parts[i];
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].high_priority || sum <= 0) continue;
    classes[i].share = std::max(1U, static_cast<std::uint32_t>(std::lround(parts[i] / sum * kWholeShare)));
  }
}

/// Of the classes of high priority, and VLHighLimit: so many packets of 4 KiB before one of low priority.
void share_high(QosClasses& found, const std::vector<ConfiguredQosClass>& asked) {
  auto& classes = found.all;
  unsigned given = 0, count = 0;
  bool at_least = false;
  for (const auto& block : asked) {
    if (!block.high_priority) continue;
    ++count;
    given += block.share.value_or(block.minimum.value_or(0));
    at_least = at_least || block.minimum;
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!asked[i].high_priority) continue;
    const auto part = asked[i].share.value_or(asked[i].minimum.value_or(0));
    const double of_high = given != 0 ? static_cast<double>(part) / given : 1.0 / count;
    classes[i].share = std::max(1U, static_cast<std::uint32_t>(std::lround(of_high * kWholeShare)));
  }
  if (!at_least) found.high_share = static_cast<std::uint8_t>(std::min(given, kAll));
  if (given < kHalf || given >= kAll) return;
  const double packets = static_cast<double>(given) / (kAll - given);
  // 1 would be 4,096 bytes for each packet of the others, 0 is one packet: half of the link with small
  // packets, too.
  const double whole = at_least ? std::ceil(packets) : packets < 2 ? 0 : std::floor(packets);
  found.high_limit = static_cast<std::uint8_t>(whole);
}

/// SLs that are taken, and those that classes had before.
class SlNumbers {
 public:
  explicit SlNumbers(const ClassSls& kept) : kept_(kept) {}

  void take(Sl sl) { taken_.insert(sl); }
  /// The one that the class had, where it is free.
  std::optional<Sl> kept(std::string_view name) const {
    const auto sl = kept_sl(kept_, name);
    return sl && !taken_.contains(*sl) ? sl : std::nullopt;
  }
  /// The lowest that is free. Where classes had all of these before, the highest: tenants have VLs in the
  /// order of their SLs, and the fewest come after it.
  Sl fresh() const {
    Sl had_before{0};
    for (std::uint8_t number = 1; number <= kMostSl; ++number) {
      const Sl sl{number};
      if (taken_.contains(sl)) continue;
      if (std::ranges::none_of(kept_, [&](const auto& one) { return one.second == sl; })) return sl;
      had_before = sl;
    }
    return had_before;
  }

 private:
  static constexpr std::uint8_t kMostSl = 15;
  const ClassSls& kept_;
  std::set<Sl> taken_{Sl{0}};
};

/// Those that are given, then those that classes had before, then free ones in the order of the blocks.
void number_sls(std::vector<QosClass>& classes, const std::vector<ConfiguredQosClass>& asked,
                const ClassSls& kept) {
  SlNumbers numbers(kept);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].standard) continue;
    const auto& given = asked[i].sl;
    if (!given) {
      open.push_back(i);
      continue;
    }
    classes[i].sl = Sl{*given};
    numbers.take(classes[i].sl);
  }
  std::erase_if(open, [&](std::size_t i) {
    const auto before = numbers.kept(asked[i].name);
    if (!before) return false;
    classes[i].sl = *before;
    numbers.take(*before);
    return true;
  });
  for (const auto i : open) {
    classes[i].sl = numbers.fresh();
    numbers.take(classes[i].sl);
  }
}

/// The rule of one kind of criterion.
QosRule rule_for(const QosClass& one) { return {.level = "class:" + one.name, .source = one.source}; }

/// The partitions that a class lists, and those that name it.
QosRule partition_rule(const QosClass& one, const SubnetConfig& subnet) {
  auto rule = rule_for(one);
  for (const auto& item : one.partitions) {
    if (const auto pkey = pkey_of_item(item)) {
      rule.pkeys.push_back({*pkey, *pkey});
    } else {
      rule.partitions.push_back(item);
    }
  }
  for (const auto& block : subnet.partition) {
    const bool listed = std::ranges::find(rule.partitions, block.name) != rule.partitions.end();
    if (!listed && !block.qos_class.empty() && same_qos_name(block.qos_class, one.name))
      rule.partitions.push_back(block.name);
  }
  return rule;
}

QosRanges protocol_ids(const ConfiguredQosClass& block) {
  auto ids = block.service_id;
  for (const auto& word : block.ulps) {
    const auto more = service_ids_of_word(word);
    if (more) ids.insert(ids.end(), more->begin(), more->end());
  }
  return ids;
}

/// A class for each partition of the API that has none yet; all have equal parts then.
void add_api_tenants(QosClasses& classes, const QosConfig& qos) {
  SlNumbers numbers(qos.kept_sls);
  for (const auto& one : classes.all) numbers.take(one.sl);
  const auto before = classes.all.size();
  for (const auto& tenant : qos.api_tenants) {
    const bool standard = tenant.pkey == kDefaultPartition.value();
    const auto* there = class_of_partition(classes, {}, tenant.name, tenant.pkey);
    if (standard || (there != nullptr && !there->standard) || classes.all.size() >= kMostClasses) continue;
    const auto number = fmt::format("0x{:04x}", tenant.pkey);
    QosClass one{.name = tenant.name, .partitions = {number}, .source = {.origin = PolicyOrigin::toml}};
    if (find_class(classes.all, one.name) != nullptr) one.name += " " + number;
    one.sl = numbers.kept(one.name).value_or(numbers.fresh());
    numbers.take(one.sl);
    classes.all.push_back(std::move(one));
  }
  if (classes.all.size() == before) return;
  const auto part = std::lround(static_cast<double>(kWholeShare) / static_cast<double>(classes.all.size()));
  for (auto& one : classes.all) one.share = static_cast<std::uint32_t>(part);
}

}  // namespace

std::vector<ConfiguredQosClass> class_blocks(const SubnetConfig& subnet) {
  switch (subnet.qos.preset) {
    case QosPreset::none:
      return subnet.qos.traffic_classes;
    case QosPreset::storage_compute:
      return storage_and_compute();
    case QosPreset::tenants_equal:
      return tenants_equal(subnet);
    case QosPreset::management_guard:
      return management_guard();
  }
  return {};
}

QosClasses qos_classes_of(const SubnetConfig& subnet) {
  if (const auto& accepted = subnet.qos.accepted) {
    QosClasses found{.all = accepted->classes,
                     .high_limit = accepted->class_high_limit,
                     .high_share = accepted->class_high_share};
    if (accepted->tenants_equal) add_api_tenants(found, subnet.qos);
    return found;
  }
  auto asked = class_blocks(subnet);
  if (asked.empty() && subnet.qos.preset == QosPreset::none) return {};
  const auto standard = std::ranges::find(asked, true, &ConfiguredQosClass::standard);
  if (standard == asked.end()) {
    asked.insert(asked.begin(), {.name = std::string(kStandardClass), .standard = true});
  } else {
    std::rotate(asked.begin(), standard, standard + 1);
  }
  if (asked.size() > kMostClasses) asked.resize(kMostClasses);
  QosClasses found;
  for (const auto& block : asked) {
    const bool of_sm = std::ranges::find(block.ulps, kSmWord) != block.ulps.end();
    found.all.push_back({.name = block.name,
                         .high = block.high_priority,
                         .standard = found.all.empty(),
                         .of_sm = of_sm,
                         .partitions = block.partitions,
                         .source = {.origin = PolicyOrigin::toml, .line = block.line.value}});
  }
  number_sls(found.all, asked, subnet.qos.kept_sls);
  share_low(found.all, asked);
  share_high(found, asked);
  return found;
}

const QosClass* find_class(std::span<const QosClass> classes, std::string_view name) {
  const auto at =
      std::ranges::find_if(classes, [&](const QosClass& one) { return same_qos_name(one.name, name); });
  return at != classes.end() ? &*at : nullptr;
}

const QosClass* class_of_partition(const QosClasses& classes, std::string_view asked, std::string_view name,
                                   std::optional<std::uint16_t> pkey) {
  if (classes.all.empty()) return nullptr;
  if (const auto* named = asked.empty() ? nullptr : find_class(classes.all, asked)) return named;
  const auto lists = [&](const std::string& item) {
    const auto number = pkey_of_item(item);
    return number ? pkey && *number == (*pkey & 0x7fffU) : !name.empty() && item == name;
  };
  for (const auto& one : classes.all) {
    if (std::ranges::any_of(one.partitions, lists)) return &one;
  }
  return &classes.all.front();
}

std::optional<Sl> kept_sl(const ClassSls& kept, std::string_view name) {
  const auto at = std::ranges::find_if(kept, [&](const auto& one) { return same_qos_name(one.first, name); });
  return at != kept.end() ? std::optional(at->second) : std::nullopt;
}

ClassSls class_sls(const QosClasses& classes, ClassSls before) {
  std::erase_if(before, [&](const auto& kept) {
    return std::ranges::any_of(classes.all, [&](const QosClass& one) {
      return one.sl == kept.second || same_qos_name(one.name, kept.first);
    });
  });
  for (const auto& one : classes.all) {
    if (!one.standard) before.insert_or_assign(one.name, one.sl);
  }
  return before;
}

bool is_pkey_item(std::string_view item) {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  return item.size() > 2 && item[0] == '0' && (item[1] == 'x' || item[1] == 'X') &&
         item.find_first_not_of(kDigits, 2) == std::string_view::npos;
}

std::optional<std::uint16_t> pkey_of_item(std::string_view item) {
  const auto key = is_pkey_item(item) ? base::parse_pkey(item) : std::nullopt;
  if (!key || key->partition() == 0) return std::nullopt;
  return key->partition();
}

std::optional<QosRanges> service_ids_of_word(std::string_view word) {
  const auto colon = word.find(':');
  const auto* known = find_port_ulp(word.substr(0, colon));
  if (known == nullptr) return std::nullopt;
  if (colon == std::string_view::npos)
    return known->usual ? std::optional(service_ids_of(*known, {*known->usual})) : std::nullopt;
  const auto port = parse_number(word.substr(colon + 1));
  if (!port || *port == 0 || *port > kMostPort) return std::nullopt;
  return service_ids_of(*known, {{*port, *port}});
}

void add_tenants(const SubnetConfig& subnet, QosPolicy& policy) {
  auto classes = qos_classes_of(subnet);
  for (std::size_t i = policy.classes.size(); i < classes.all.size(); ++i) {
    const auto& one = classes.all[i];
    policy.levels.push_back({.name = "class:" + one.name, .sl = one.sl, .source = one.source});
    policy.rules.push_back(partition_rule(one, subnet));
  }
  policy.classes = std::move(classes.all);
}

void add_class_rules(const SubnetConfig& subnet, const QosClasses& classes, QosPolicy& policy) {
  const auto blocks = class_blocks(subnet);
  std::vector<QosRule> by_pkey, by_protocol, by_port;
  for (const auto& block : blocks) {
    const auto* one = find_class(classes.all, block.name);
    if (one == nullptr) continue;
    policy.levels.push_back({.name = "class:" + one->name, .sl = one->sl, .source = one->source});
    auto partitions = partition_rule(*one, subnet);
    if (!partitions.pkeys.empty() || !partitions.partitions.empty()) by_pkey.push_back(std::move(partitions));
    if (auto ids = protocol_ids(block); !ids.empty())
      by_protocol.emplace_back(rule_for(*one)).service_ids = std::move(ids);
    if (std::ranges::find(block.ulps, "ipoib") != block.ulps.end()) {
      // rdma_cm's requests have the P_Key too, and a ServiceID: they are those of other protocols.
      auto& ipoib = by_protocol.emplace_back(rule_for(*one));
      ipoib.no_service = true;
      ipoib.pkeys = {{kIpoibPKey, kIpoibPKey}};
    }
    if (block.ports.empty()) continue;
    by_port.emplace_back(rule_for(*one)).source_ports = {block.ports};
    by_port.emplace_back(rule_for(*one)).destination_ports = {block.ports};
  }
  for (auto* rules : {&by_pkey, &by_protocol, &by_port})
    policy.rules.insert(policy.rules.end(), rules->begin(), rules->end());
}

Sl master_sm_sl(const SubnetConfig& subnet) {
  if (!subnet.qos.enabled) return subnet.qos.sm_sl;
  const auto classes = qos_classes_of(subnet);
  const auto of_sm = std::ranges::find(classes.all, true, &QosClass::of_sm);
  return of_sm != classes.all.end() ? of_sm->sl : subnet.qos.sm_sl;
}

}  // namespace smd::config
