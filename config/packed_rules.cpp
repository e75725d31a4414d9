// SPDX-License-Identifier: Apache-2.0
#include "config/packed_rules.h"

#include <string>
#include <string_view>

#include "config/partition_definition.h"
#include "config/partitions.h"

namespace smd::config {
namespace {

/// Nothing where the term needs memory of its own.
std::optional<PackedRule> packed_rule(const PortTerm& term, Membership membership, bool index0,
                                      const PolicySource& source) {
  const bool of_guids = term.kind == PortTermKind::guid || term.kind == PortTermKind::guid_range;
  if (!of_guids || !term.name.empty() || term.number != 0) return std::nullopt;
  return PackedRule{.first = term.first,
                    .last = term.last,
                    .line = source.line,
                    .kind = std::to_underlying(term.kind),
                    .origin = std::to_underlying(source.origin),
                    .membership = std::to_underlying(membership),
                    .index0 = index0};
}

PortTerm term_of(const PackedRule& rule) {
  return {.kind = static_cast<PortTermKind>(rule.kind), .first = rule.first, .last = rule.last};
}

PolicySource source_of(const PackedRule& rule) {
  return {.origin = static_cast<PolicyOrigin>(rule.origin), .line = rule.line};
}

std::string_view usual_reason(PortTermKind kind) {
  return kind == PortTermKind::guid ? kNoPortHasGuid : kNoPortInRange;
}

}  // namespace

MemberRule MemberRule::unpacked(const PackedRule& rule) {
  MemberRule found{.membership = static_cast<Membership>(rule.membership), .index0 = rule.index0};
  found.ports.terms.push_back(term_of(rule));
  found.source = source_of(rule);
  return found;
}

std::optional<PackedRule> MemberRule::packed() const {
  if (ports.terms.size() != 1) return std::nullopt;
  return packed_rule(ports.terms.front(), membership, index0, source);
}

PendingRule PendingRule::unpacked(const PackedRule& rule) {
  const auto term = term_of(rule);
  return {.member = {.term = term, .reason = std::string(usual_reason(term.kind))},
          .membership = static_cast<Membership>(rule.membership),
          .source = source_of(rule)};
}

std::optional<PackedRule> PendingRule::packed() const {
  if (member.reason != usual_reason(member.term.kind)) return std::nullopt;
  return packed_rule(member.term, membership, false, source);
}

}  // namespace smd::config
