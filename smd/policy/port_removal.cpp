// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/port_removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "config/glob.h"

namespace smd::policy {
namespace {

using config::MemberRule;
using config::MemberRules;
using config::PortTerm;
using config::PortTermKind;

/// Nothing but this port GUID; a range of one is that, too.
bool is_one_guid(const PortTerm& term) {
  return term.kind == PortTermKind::guid ||
         (term.kind == PortTermKind::guid_range && term.first == term.last);
}

bool goes_as_whole(const PortTerm& term, const Removal& removal) {
  if (std::ranges::find(removal.terms, term) != removal.terms.end()) return true;
  return is_one_guid(term) && removal.ports.contains(term.first);
}

/// Whether the rule names these ports, and no others that may come.
bool is_one_node(const PortTerm& term, const std::vector<const config::PortView*>& ports) {
  const bool named = term.kind == PortTermKind::node || term.kind == PortTermKind::node_port;
  return named && !config::is_glob(term.name) && std::ranges::all_of(ports, [&](const auto* one) {
           return one->node_guid == ports.front()->node_guid;
         });
}

MemberRule rule_of_port(const MemberRule& before, Guid port) {
  auto rule = before;
  rule.ports.terms = {{.kind = PortTermKind::guid, .first = port}};
  return rule;
}

std::vector<const config::PortView*> views_of_rule(const MemberRule& rule, const config::PortGroups& groups,
                                                   const config::PortIndex& fabric, Guid self) {
  const std::map<std::string, PKey, std::less<>> no_partitions;
  const auto found =
      config::resolve(rule.ports, {.groups = groups, .partitions = no_partitions, .self = self}, fabric);
  std::vector<const config::PortView*> ports;
  for (const auto at : found.ports) ports.push_back(&fabric.ports()[at]);
  return ports;
}

}  // namespace

bool needs_fabric(const MemberRules& members, const Removal& removal) {
  return std::ranges::any_of(members, [&](const MemberRule& rule) {
    const auto& term = rule.ports.terms.front();
    return !is_one_guid(term) && !goes_as_whole(term, removal);
  });
}

std::expected<MemberRules, EditError> members_without(const ApiPartition& partition, const Removal& removal,
                                                      const config::PortGroups& groups,
                                                      const config::PortIndex& fabric, Guid self) {
  MemberRules left;
  for (const auto& rule : partition.members) {
    const auto& term = rule.ports.terms.front();
    if (goes_as_whole(term, removal)) continue;
    const auto ports = is_one_guid(term) ? std::vector<const config::PortView*>()
                                         : views_of_rule(rule, groups, fabric, self);
    const auto meant =
        std::ranges::find_if(ports, [&](const auto* one) { return removal.ports.contains(one->port_guid); });
    if (meant == ports.end()) {
      left.push_back(rule);
      continue;
    }
    if (!is_one_node(term, ports))
      return std::unexpected(EditError{
          .kind = EditError::Kind::conflict,
          .code = "member_rule",
          .text =
              fmt::format("port {} is in partition {} by the member {}, which stands for other ports too: "
                          "remove or change that member",
                          (*meant)->port_guid, partition.name, to_string(term))});
    for (const auto* one : ports) {
      if (!removal.ports.contains(one->port_guid)) left.push_back(rule_of_port(rule, one->port_guid));
    }
  }
  return left;
}

}  // namespace smd::policy
