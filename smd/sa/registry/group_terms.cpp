// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/group_terms.h"

#include <fmt/format.h>

#include <utility>

#include "mad/base/rate.h"

namespace smd::sa {
namespace {

std::string gbps_text(std::uint8_t code) { return fmt::format("{:g} Gb/s", rate_mbps(code) / 1000.0); }

}  // namespace

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
