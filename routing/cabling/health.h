// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong with the cabling of a tree, in sentences that a technician can act on.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/id.h"
#include "mad/base/link.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

enum class CablingFault : std::uint8_t {
  missing,  ///< a cable that switches of the same kind have
  extra,    ///< one that they have not
  swapped,  ///< one that leads to the wrong switch
  slow,     ///< a speed below the usual
  width,    ///< lanes lost
  rail,     ///< a host's adapter on a leaf of another rail, or a rail without one
  uneven,   ///< a group of switches with fewer uplinks than others
};
constexpr std::string_view to_string(CablingFault kind) {
  switch (kind) {
    case CablingFault::missing:
      return "missing";
    case CablingFault::extra:
      return "extra";
    case CablingFault::swapped:
      return "swapped";
    case CablingFault::slow:
      return "slow";
    case CablingFault::width:
      return "width";
    case CablingFault::rail:
      return "rail";
    case CablingFault::uneven:
      return "uneven";
  }
  return "unknown";
}

/// Port 0: the node as a whole.
struct PortName {
  Guid node;
  PortNum port;
  friend auto operator<=>(const PortName&, const PortName&) = default;
};

struct Finding {
  CablingFault kind = CablingFault::missing;
  std::vector<PortName> ports;
  std::string text;  ///< one sentence without a full stop
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Cables that a level has towards the one above it, and should have.
struct LevelHealth {
  std::int32_t rank = 0;
  std::uint64_t cables = 0, wanted = 0;
};

struct Health {
  bool tree = false;   ///< else only speeds and widths are looked at
  std::string reason;  ///< why it is no tree
  std::vector<Finding> findings;
  std::vector<LevelHealth> levels;
};

struct PortRate {
  LinkWidth width = LinkWidth::x4;
  LinkSpeed speed = LinkSpeed::unknown;
};

struct HealthInput {
  const Topology& topology;
  std::function<PortRate(PortName)> rate;  ///< of a switch's port that is linked
  std::function<std::string(Guid)> name;   ///< of a node, for the sentences
};

/// Against the tree that the fabric was built as, which is what most switches of a kind still show: a fault
/// is what the few have and the many have not. Deterministic.
Health check_cabling(const HealthInput& in);

// The parts, each adding what it finds.
/// Nothing where they find nothing; else the fabric as it would be without what they have found.
std::optional<Topology> check_swaps(const HealthInput& in, const SwitchRanking& ranking, Health& health);
std::optional<Topology> check_paired_switches(const HealthInput& in, const SwitchRanking& ranking,
                                              Health& health);
void check_cables(const HealthInput& in, const SwitchRanking& ranking, const TreeTemplate& tree_template,
                  Health& health);
/// Families with fewer cables upwards than three of four of their rank have.
void check_uplink_imbalance(const HealthInput& in, const SwitchRanking& ranking,
                            const TreeTemplate& tree_template, Health& health);
void check_misplaced_cables(const HealthInput& in, const SwitchRanking& ranking,
                            const TreeTemplate& tree_template, Health& health);
void check_rails(const HealthInput& in, Health& health);
/// Cables from a switch to itself, in trees and others.
void check_loopbacks(const HealthInput& in, Health& health);
/// Leaves without a cable to another switch, where there are others, and no finding names them yet.
void check_isolated_switches(const HealthInput& in, Health& health);
void check_rates(const HealthInput& in, const SwitchRanking& ranking, Health& health);

}  // namespace smd::routing::inline cabling
