// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which SM is master: the comparison of ranks.

#include <cstdint>
#include <optional>

#include "mad/base/id.h"
#include "mad/wire/sm_info.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline availability {

/// The rank of an SM: the higher priority wins, of equal ones the lower port GUID.
struct SmRank {
  std::uint8_t priority = 0;
  Guid guid;
  friend bool operator<(const SmRank& a, const SmRank& b) {
    return a.priority != b.priority ? a.priority < b.priority : a.guid > b.guid;
  }
};

/// The SM that we give way to: a master of any rank, else, unless we are master ourselves, one that outranks
/// us and is not inactive; of several the highest rank. Nothing: we are to be master. Of two masters that
/// meet each gives way to the other, and their ranks decide which of them sends HANDOVER. Pure.
std::optional<OtherSm> gives_way_to(const SmRank& self, bool self_is_master,
                                    const std::vector<OtherSm>& others);

}  // namespace smd::sm::inline availability
