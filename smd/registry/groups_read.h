// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a standby has read of the multicast groups of a master whose state it does not copy: for people.

#include <cstddef>
#include <cstdint>

#include "mad/base/id.h"
#include "mad/base/published.h"

namespace smd::sa {

struct GroupsRead {
  Lid from{};  ///< of the master's SM
  std::size_t groups = 0;
  std::size_t members = 0;  ///< of all groups; 0 where that SA does not show them
  std::size_t ignored = 0;  ///< records that make no sense
  std::int64_t at = 0;      ///< Unix time in seconds at which that SA answered last
  friend bool operator==(const GroupsRead&, const GroupsRead&) = default;
};
/// Null: nothing was read of the SM that is master now.
using PublishedGroupsRead = base::Published<GroupsRead>;

}  // namespace smd::sa
