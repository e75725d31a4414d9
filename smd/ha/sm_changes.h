// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other subnet managers that come and go, one log line each.

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

/// Logs sm.seen and sm.gone, a line for each SM.
void log_sms(const log::Log& log, const SmChanges& changes);

}  // namespace smd::sm::inline availability
