// SPDX-License-Identifier: Apache-2.0
// Who is a member of which partition in a given fabric.
#include <algorithm>
#include <map>

#include "config/partitions.h"

namespace smd::config {
namespace {

/// A rule that a port comes under.
struct Claim {
  std::uint32_t port = 0;
  std::uint32_t rule = 0;  ///< index into PolicyPartition::members
  friend auto operator<=>(const Claim&, const Claim&) = default;
};

/// What a rule gives.
struct Rights {
  Membership membership = Membership::full;
  bool index0 = false;
};

/// The definition that decides index 0 of a port so far.
struct Index0 {
  std::uint32_t order = 0;
  PartitionMember* member = nullptr;
};

Membership effective(Membership given, bool allow_both) {
  return given == Membership::both && !allow_both ? Membership::full : given;
}

ResolvedPartition resolve_partition(const PolicyPartition& partition, const PortSetContext& context,
                                    const PortIndex& index, bool allow_both) {
  ResolvedPartition resolved{.pkey = partition.pkey, .members = {}, .pending = {}};
  std::vector<Claim> claims;
  std::vector<Rights> rights;  // of each rule
  rights.reserve(partition.members.size());
  const auto add = [&](const MemberRule& rule) {
    const auto number = static_cast<std::uint32_t>(rights.size());
    rights.push_back({.membership = effective(rule.membership, allow_both), .index0 = rule.index0});
    auto found = resolve(rule.ports, context, index);
    for (const auto port : found.ports) claims.push_back({.port = port, .rule = number});
    for (auto& pending : found.pending) {
      if (pending.term.kind == PortTermKind::self) continue;  // it comes with the SM
      resolved.pending.push_back(
          {.member = std::move(pending), .membership = rights.back().membership, .source = rule.source});
    }
  };
  for (std::size_t i = 0; i < partition.members.size(); ++i) partition.members.with(i, add);
  resolved.pending.share_equal(
      partition.members);  // a client may have named 200,000 ports that are not there
  std::ranges::sort(claims);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (i + 1 < claims.size() && claims[i + 1].port == claims[i].port) continue;  // the last rule counts
    const auto& of_rule = rights[claims[i].rule];
    resolved.members.push_back({.port = claims[i].port,
                                .membership = of_rule.membership,
                                .index0 = of_rule.index0,
                                .rule = claims[i].rule});
  }
  return resolved;
}

/// The port of an SM can talk to all members of the default partition: it answers them.
void make_sm_full(ResolvedPartition& partition, const PortIndex& index, Guid sm) {
  if (sm == Guid{}) return;
  for (const auto port : index.with_guids(sm, sm)) {
    auto at = std::ranges::lower_bound(partition.members, port, {}, &PartitionMember::port);
    if (at == partition.members.end() || at->port != port) at = partition.members.insert(at, {.port = port});
    if (at->membership != Membership::limited) continue;
    at->membership = Membership::full;
    at->rule = kBuiltInRule;
  }
}

/// Of several partitions that want index 0 of a port the one whose rule is the last gets it.
void settle_index0(const PartitionPolicy& policy, std::vector<ResolvedPartition>& resolved) {
  std::map<std::uint32_t, Index0> best;
  for (std::size_t i = 0; i < resolved.size(); ++i) {
    for (auto& member : resolved[i].members) {
      if (!member.index0) continue;
      const auto order = policy.partitions[i].order_of(member.rule);
      auto& place = best[member.port];
      const bool later = place.member == nullptr || order > place.order;
      if (place.member != nullptr) (later ? place.member : &member)->index0 = false;
      if (later) place = {.order = order, .member = &member};
    }
  }
}

}  // namespace

std::vector<ResolvedPartition> resolve_partitions(const PartitionPolicy& policy, const PortIndex& index,
                                                  Guid self, std::span<const Guid> other_sms) {
  const std::map<std::string, PKey, std::less<>> none;  // members are not named by partition here
  const PortSetContext context{.groups = policy.groups, .partitions = none, .self = self};
  std::vector<ResolvedPartition> resolved;
  resolved.reserve(policy.partitions.size());
  for (const auto& partition : policy.partitions) {
    resolved.push_back(resolve_partition(partition, context, index, policy.allow_both_pkeys));
  }
  settle_index0(policy, resolved);  // before membership without a rule: the rule says who comes last
  for (auto& one : resolved) {
    if (one.pkey != kDefaultPartition) continue;
    make_sm_full(one, index, self);
    for (const auto sm : other_sms) make_sm_full(one, index, sm);
  }
  return resolved;
}

}  // namespace smd::config
