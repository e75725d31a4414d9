// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which links between switches may come up before any table changes.

#include <cstdint>
#include <optional>
#include <vector>

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// In a fabric that is running, links become Active before tables change that lead over them, so that none
/// leads over a link that carries nothing; but not where that itself would close a forwarding loop. Decided
/// once for each link.
class NewLinks {
 public:
  /// `in` outlives it.
  explicit NewLinks(const PlanInput& in);

  /// The link at this port may come up now: no table leads over it, or one end comes from a reset and
  /// discards what arrives, or all entries that lead over it are as decided and form no forwarding loop.
  bool contains(NodeIndex index, PortNum num);

 private:
  /// LIDs that a switch sends by each port; unknown: a block of its table is.
  struct Leads {
    bool unknown = false;
    std::vector<std::vector<std::uint16_t>> by_port;
  };
  const Leads& leads(NodeIndex index);
  bool harmless(NodeIndex index, PortNum num);
  bool loops(NodeIndex from, std::uint16_t lid) const;

  const PlanInput& in_;
  bool running_ = false;
  std::vector<std::optional<Leads>> leads_;
};

}  // namespace smd::sm::inline planning
