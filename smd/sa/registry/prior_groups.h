// SPDX-License-Identifier: Apache-2.0
#pragma once
// Multicast groups as the master had them whose standby we were: without a copy of its state they are read by
// its subnet administration.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "mad/gsi/sa_records.h"
#include "smd/registry/registry.h"
#include "smd/sa/registry/write.h"

namespace smd::sa {

struct PriorGroup {
  Lid mlid{};
  GroupParameters terms{};
  /// By port GUID or alias. Empty where the master did not show members, or there are none.
  std::map<Guid, Member> members{};
  friend bool operator==(const PriorGroup&, const PriorGroup&) = default;
};

struct PriorGroups {
  Lid from{};  ///< the master's
  std::map<Mgid, PriorGroup> groups{};
  std::size_t members = 0;  ///< of all groups
  std::size_t ignored = 0;  ///< records that cannot be, or say of a group what another one does not
  friend bool operator==(const PriorGroups&, const PriorGroups&) = default;
};
using PriorGroupsPtr = std::shared_ptr<const PriorGroups>;

/// What MCMemberRecords of the SM at this LID say; whatever is in them. Pure.
PriorGroups prior_groups(const mad::SaRecords& records, Lid from);

/// What was taken over from the master before, and no client has confirmed yet.
struct Inherited {
  std::set<MemberKey> members{};
  std::set<Mgid> groups{};
  bool empty() const { return members.empty() && groups.empty(); }
  friend bool operator==(const Inherited&, const Inherited&) = default;
};

/// After we became master: groups have the multicast LIDs and parameters of the master before, and its
/// members are members, so that packets reach them until they have joined again. Groups that it did not have
/// end; so do members that it did not have of groups whose members it showed. A multicast LID that the
/// switches have no room for is left out with its groups. Returns what was taken over.
Inherited inherit(Writing& writing, const PriorGroups& prior);

/// The port has joined this group again, or has left it.
void confirm(Inherited& inherited, const MemberKey& key);

/// The grace is over: what is left in `inherited` ends.
void end_inherited(Writing& writing, const Inherited& inherited);

}  // namespace smd::sa
