// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who may write to the fabric.

#include <cstdint>
#include <optional>

#include "mad/base/id.h"
#include "mad/wire/sm_info.h"
#include "smd/sweep/subnet.h"

namespace smd::sm {

/// What an SM is compared by: the higher priority wins, of equal ones the lower port GUID.
struct SmRank {
  std::uint8_t priority = 0;
  Guid guid;
  friend bool operator<(const SmRank& a, const SmRank& b) {
    return a.priority != b.priority ? a.priority < b.priority : a.guid > b.guid;
  }
};

/// The SM that we give way to: a master wherever it stands, else, as long as we are none ourselves, one that
/// outranks us and is not inactive. Nothing: the fabric is ours. Of two masters that meet both give way, ask
/// each other, and the higher rank takes the fabric. Pure.
std::optional<OtherSm> gives_way_to(const SmRank& self, bool self_is_master,
                                    const std::vector<OtherSm>& others);

}  // namespace smd::sm
