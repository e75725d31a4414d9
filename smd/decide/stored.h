// SPDX-License-Identifier: Apache-2.0
#pragma once
// What outlives a sweep: decisions of earlier ones that bind the next.

#include <cstdint>
#include <map>

#include "mad/base/id.h"

namespace smd::sm {

/// Kept in memory for the life of a manager.
struct Stored {
  struct LidRange {
    Lid base;
    std::uint8_t lmc = 0;
    friend bool operator==(const LidRange&, const LidRange&) = default;
  };
  /// By port GUID, also of ports that are gone: they get the same LID when they come back.
  std::map<Guid, LidRange> lids;
};

}  // namespace smd::sm
