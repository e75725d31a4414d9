// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/rule_list.h"

#include "config/glob.h"

namespace smd::policy {

const config::PortTerm* PlacesOfPorts::guids_of(const config::PortSet& ports) {
  using enum config::PortTermKind;
  if (ports.terms.size() != 1) return nullptr;
  const auto& term = ports.terms.front();
  return term.kind == guid || term.kind == guid_range ? &term : nullptr;
}

PlacesOfPorts::Guids PlacesOfPorts::key_of(const config::PortTerm& term) {
  return {term.first, term.kind == config::PortTermKind::guid ? Guid{} : term.last};
}

std::pair<std::size_t*, bool> PlacesOfPorts::emplace(const config::PortSet& ports, std::size_t place) {
  if (const auto* term = guids_of(ports)) {
    const auto [at, fresh] = by_guid_.emplace(key_of(*term), place);
    return {&at->second, fresh};
  }
  const auto [at, fresh] = by_text_.emplace(to_string(ports), place);
  return {&at->second, fresh};
}

bool PlacesOfPorts::contains(const config::PortSet& ports) const {
  const auto* term = guids_of(ports);
  return term != nullptr ? by_guid_.contains(key_of(*term)) : by_text_.contains(to_string(ports));
}

RuleList::RuleList(config::MemberRules rules) : rules_(std::move(rules)), gone_(rules_.size()) {
  std::size_t i = 0;
  for (const auto& rule : rules_) {
    *places_.emplace(rule.ports, i).first = i;
    ends_[std::to_underlying(kind_of(rule))] = ++i;
  }
}

RuleList::Kind RuleList::kind_of(const config::MemberRule& rule) {
  if (rule.ports.terms.size() != 1) return Kind::any;
  const auto& term = rule.ports.terms.front();
  if (term.kind == config::PortTermKind::guid) return Kind::guid;
  if (term.kind == config::PortTermKind::node && !config::is_glob(term.name)) return Kind::node;
  if (term.kind == config::PortTermKind::node_port && !config::is_glob(term.name)) return Kind::node_port;
  return Kind::any;
}

void RuleList::put(const config::MemberRule& rule) {
  const auto kind = kind_of(rule);
  const auto [place, fresh] = places_.emplace(rule.ports, rules_.size());
  if (!fresh) {
    if (rules_[*place] == rule && !is_overridden(kind, *place)) return;
    gone_[*place] = any_gone_ = true;
    *place = rules_.size();
  }
  rules_.push_back(rule);
  gone_.push_back(false);
  ends_[std::to_underlying(kind)] = rules_.size();
}

config::MemberRules RuleList::take() && {
  if (!any_gone_) return std::move(rules_);
  config::MemberRules left;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (!gone_[i]) left.push_back(rules_[i]);
  }
  return left;
}

/// Whether a rule behind `place` may be about a port of the one there, which is of this kind. What is taken
/// out of a kind is put at its end again, so that the last place of a kind is never empty.
bool RuleList::is_overridden(Kind kind, std::size_t place) const {
  for (std::size_t other = 0; other < kKinds; ++other) {
    const bool same = other == std::to_underlying(kind);
    if ((!same || kind == Kind::any) && ends_[other] > place + 1) return true;
  }
  return false;
}

}  // namespace smd::policy
