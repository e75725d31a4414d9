// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/left_partitions.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "smd/policy/edits.h"

namespace smd::policy {
namespace {

ApiPartitionPtr partition_named(const Policies& policies, const std::string& name) {
  const auto at = policies.api.find(name);
  return at != policies.api.end() ? at->second : nullptr;
}

bool is_same(const ApiPartitionPtr& a, const ApiPartitionPtr& b) { return a == b || (a && b && *a == *b); }

/// Why the other part's change is not made here; empty: it may be.
std::string_view why_left(const Policies* common, const ApiPartitionPtr& ours, const ApiPartitionPtr& theirs,
                          const ApiPartitionPtr& was) {
  if (common == nullptr) return "what both parts had when the fabric was cut is not known";
  if (!theirs) return is_same(ours, was) ? "deleted there" : "deleted there, and changed here";
  if (is_same(ours, was)) return {};
  return ours ? "changed here, too" : "deleted here";
}

/// The partition as the API would make it here.
EditResult made_here(const PolicyParts& now, const ApiPartition& partition) {
  const auto config = with_kept(now.config, *now.policies);
  const auto files = sources_of(*config);
  const EditContext context{
      .files = files, .policies = *now.policies, .merged = *now.merged, .foreign_keys = {}};
  auto made = put_partition(context, partition);
  if (!made) return made;
  return in_classes(*now.config, *now.policies, *std::move(made));
}

}  // namespace

LeftPartitions with_left_partitions(PolicyParts now, const Policies& other, const Policies* common) {
  LeftPartitions left;
  std::set<std::string> names;
  for (const auto& [name, partition] : other.api) names.insert(name);
  if (common != nullptr) {
    for (const auto& [name, partition] : common->api) names.insert(name);
  }
  const auto before = *now.policies;
  const auto refuse = [&](const std::string& name, std::string_view reason) {
    left.refused.push_back(fmt::format("{} ({})", name, reason));
  };
  for (const auto& name : names) {
    const auto ours = partition_named(before, name), theirs = partition_named(other, name);
    const auto was = common != nullptr ? partition_named(*common, name) : nullptr;
    if (is_same(ours, theirs) || (common != nullptr && is_same(theirs, was))) continue;
    auto why = why_left(common, ours, theirs, was);
    if (why.empty() && !now.merged) why = "files and the API's partitions contradict each other here";
    if (!why.empty()) {
      refuse(name, why);
      continue;
    }
    auto made = made_here(now, *theirs);
    if (!made) {
      refuse(name, made.error().text);
      continue;
    }
    if (!made->changed) continue;
    now.policies = std::move(made->policies);
    now.merged = std::move(made->merged);
    left.taken.push_back(name);
  }
  left.policies = std::move(now.policies);
  left.merged = std::move(now.merged);
  return left;
}

}  // namespace smd::policy
