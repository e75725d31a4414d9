// SPDX-License-Identifier: Apache-2.0
#pragma once
// What outlives a sweep: decisions of earlier ones that bind the next.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "mad/base/id.h"
#include "routing/repair/reference.h"
#include "smd/decide/link_limits.h"

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
  /// Ports that were taken down once for what is enabled at them: a link that comes up as before stays up.
  std::set<std::tuple<Guid, PortNum, EnabledLinks>> retrained;
  /// The widest cabling that was seen: repaired tables go by it. Null: none yet.
  std::shared_ptr<const routing::Reference> reference;
};

}  // namespace smd::sm
