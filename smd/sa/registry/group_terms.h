// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of partitions whose configured terms have changed while ports are in them: members have taken over
// the terms that they joined with, so the new ones wait for the last of them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/partitions.h"
#include "smd/decide/decided.h"
#include "smd/registry/registry.h"
#include "smd/report/qos_uses.h"

namespace smd::sa {

/// A group with members that has not got the terms that are configured.
struct TermsKept {
  Mgid mgid{};
  GroupParameters terms{};       ///< that it has
  GroupParameters configured{};  ///< what the configuration leaves open is as in `terms`
  GroupParameters next{};        ///< what it gets when it has no members: the same, open ones as ports can
  std::uint32_t members = 0;
};

/// `terms` with what the configuration of the group says; `sls` may be null.
GroupParameters configured_terms(GroupParameters terms, const config::PolicyGroup& group,
                                 const sm::SlPart* sls);
/// "MTU 2048 -> 4096, SL 0 -> 3"; empty: they are equal.
std::string term_changes(const GroupParameters& terms, const GroupParameters& next);

/// Groups with members on another SL than their partition and its groups have. `partitions` and `sls` may be
/// null. O(groups).
sm::GroupSls groups_on_other_sls(const Registry& registry, const config::PartitionPolicy* partitions,
                                 const sm::SlPart* sls);
/// Of those the ones whose SL ports map to VL 15: their packets are dropped.
sm::GroupSls dropped_groups(const Registry& registry, const sm::Decided& decided);

/// Remembers which groups wait, and which SLs of groups are dropped, so that each is told of once.
class WaitingTerms {
 public:
  /// `all` of a refresh; those that were told of already are taken out of it. Returns groups that waited and
  /// have other terms since this refresh.
  std::vector<TermsKept> refreshed(std::vector<TermsKept>& all, const Registry& registry);
  /// Gives groups that have lost their last member since their new terms, and returns these groups.
  std::vector<TermsKept> apply(Registry& registry);
  /// `dropped` of a refresh becomes empty where it is that of the refresh before.
  void keep_new(sm::GroupSls& dropped);
  /// This SM is no master any more.
  void clear() {
    waiting_.clear();
    dropped_.clear();
  }

 private:
  sm::GroupSls dropped_;
  std::map<Mgid, TermsKept> waiting_;
};

}  // namespace smd::sa
