// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/group_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/base/rate.h"
#include "smd/decide/qos_shares.h"

namespace smd::sa {
namespace {

std::string gbps_text(std::uint8_t code) { return fmt::format("{:g} Gb/s", rate_mbps(code) / 1000.0); }

/// The partition, or one of its groups, has this SL.
bool has_sl(const config::PartitionPolicy& partitions, PKey pkey, Sl on_wire, const sm::SlPart* sls) {
  const auto* partition = partitions.find(pkey);
  if (partition == nullptr) return false;
  const auto is = [&](Sl of_class) { return sm::wire_sl(sls, of_class, 0) == on_wire; };
  return is(partition->sl) ||
         std::ranges::any_of(partition->groups, [&](const auto& group) { return is(group.sl); });
}

}  // namespace

sm::GroupSls groups_on_other_sls(const Registry& registry, const config::PartitionPolicy* partitions,
                                 const sm::SlPart* sls) {
  sm::GroupSls found;
  for (const auto& [mgid, group] : registry.groups()) {
    if (group.members == 0) continue;
    const auto& terms = group.terms;
    if (partitions != nullptr && has_sl(*partitions, terms.pkey, terms.sl, sls)) continue;
    auto& on_sl = found[terms.sl];
    if (on_sl.count++ == 0) on_sl.first = to_string(mgid);
  }
  return found;
}

sm::GroupSls dropped_groups(const Registry& registry, const sm::Decided& decided) {
  if (!decided.qos_tables) return {};
  const auto& part = decided.partitions;
  auto found =
      groups_on_other_sls(registry, part ? part->policy.get() : nullptr, decided.service_levels.get());
  std::erase_if(found, [&](const auto& one) { return !sm::drops(*decided.qos_tables, one.first); });
  return found;
}

GroupParameters configured_terms(GroupParameters terms, const config::PolicyGroup& group,
                                 const sm::SlPart* sls) {
  if (group.mtu != Mtu::none) terms.mtu = group.mtu;
  if (group.rate != 0) terms.rate = group.rate;
  terms.qkey = group.qkey;
  terms.sl = sm::wire_sl(sls, group.sl, 0);
  terms.traffic_class = group.tclass;
  terms.hop_limit = group.hop_limit;
  terms.flow_label = group.flow_label;
  return terms;
}

std::string term_changes(const GroupParameters& terms, const GroupParameters& next) {
  std::string text;
  const auto add = [&](std::string_view name, const std::string& was, const std::string& is) {
    if (was != is) text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", name, was, is);
  };
  const auto plain = [&](std::string_view name, std::uint32_t was, std::uint32_t is) {
    add(name, fmt::format("{}", was), fmt::format("{}", is));
  };
  plain("MTU", bytes(terms.mtu), bytes(next.mtu));
  add("rate", gbps_text(terms.rate), gbps_text(next.rate));
  plain("SL", terms.sl.value(), next.sl.value());
  add("Q_Key", fmt::format("0x{:08x}", terms.qkey), fmt::format("0x{:08x}", next.qkey));
  add("P_Key", fmt::format("{}", terms.pkey), fmt::format("{}", next.pkey));
  plain("TClass", terms.traffic_class, next.traffic_class);
  plain("HopLimit", terms.hop_limit, next.hop_limit);
  plain("FlowLabel", terms.flow_label, next.flow_label);
  plain("PacketLifeTime", terms.life, next.life);
  return text;
}

std::vector<TermsKept> WaitingTerms::refreshed(std::vector<TermsKept>& all, const Registry& registry) {
  std::map<Mgid, TermsKept> now;
  for (const auto& one : all) now.emplace(one.mgid, one);
  std::vector<TermsKept> changed;
  for (auto& [mgid, before] : waiting_) {
    const auto* group = registry.groups().find(mgid);
    if (group == nullptr || group->terms == before.terms || now.contains(mgid)) continue;
    changed.push_back(before);
    changed.back().next = group->terms;
  }
  std::erase_if(all, [&](const TermsKept& one) {
    const auto before = waiting_.find(one.mgid);
    return before != waiting_.end() && before->second.terms == one.terms &&
           before->second.configured == one.configured;
  });
  waiting_ = std::move(now);
  return changed;
}

void WaitingTerms::keep_new(sm::GroupSls& dropped) {
  if (dropped_ == dropped) return dropped.clear();
  dropped_ = dropped;
}

std::vector<TermsKept> WaitingTerms::apply(Registry& registry) {
  std::vector<TermsKept> applied;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto* group = registry.groups().find(at->first);
    if (group != nullptr && group->members != 0) {
      ++at;
      continue;
    }
    if (group != nullptr && group->well_known) {
      registry.put_group(at->first, group->mlid, at->second.next, true);
      applied.push_back(at->second);
    }
    at = waiting_.erase(at);
  }
  return applied;
}

}  // namespace smd::sa
