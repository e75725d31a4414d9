// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other subnet managers that come, go, or rank above us, one log line each.

#include <set>
#include <vector>

#include "smd/ha/election.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline availability {

struct SmChanges {
  std::vector<OtherSm> seen;  ///< new, answering again, or of another state or priority
  std::vector<OtherSm> gone;  ///< not there any more, or silent
  friend bool operator==(const SmChanges&, const SmChanges&) = default;
};
/// What differs between two lists of other SMs. Pure.
SmChanges sm_changes(const std::vector<OtherSm>& before, const std::vector<OtherSm>& now);

/// Standbys (and SMs that are about to be) that rank above the master that we are: port GUIDs. By IBA they
/// would be master.
std::set<Guid> outranking(const SmRank& ours, const std::vector<OtherSm>& now);

/// Logs sm.seen and sm.gone, a line for each SM.
void log_sms(const log::Log& log, const SmChanges& changes);
/// Logs sm.outranked.
void log_outranked(const log::Log& log, const OtherSm& other, const SmRank& ours);

}  // namespace smd::sm::inline availability
