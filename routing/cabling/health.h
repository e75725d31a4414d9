// SPDX-License-Identifier: Apache-2.0
#pragma once
// Validates the cabling of a tree and describes faults in sentences for a technician.

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
  extra,    ///< a cable that switches of the same kind do not have
  swapped,  ///< a cable to the wrong switch
  slow,     ///< a speed below the usual one
  width,    ///< a link narrower than usual: lanes are down
  rail,     ///< an adapter on a leaf of another rail, or a missing rail
  uneven,   ///< a group of switches with fewer uplinks than others
  differs,  ///< a difference as a design has it, such as leaves with fewer uplinks: no fault
};
/// The kind as in reports: the name of the enumerator.
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
    case CablingFault::differs:
      return "differs";
  }
  return "unknown";
}

/// Port 0: the whole node.
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

/// Whether a finding is a fault. What differs from its peers as a design would is none.
constexpr bool is_fault(const Finding& finding) { return finding.kind != CablingFault::differs; }

/// Number of cables from a level to the one above it: present, and expected.
struct LevelHealth {
  std::int32_t rank = 0;
  std::uint64_t cables = 0, wanted = 0;
};

struct Health {
  bool tree = false;
  std::string left_out;  ///< why not all was compared, and what was instead; empty if all was
  std::vector<Finding> findings;
  std::vector<LevelHealth> levels;
};

struct PortRate {
  LinkWidth width = LinkWidth::x4;
  LinkSpeed speed = LinkSpeed::unknown;
};

struct HealthInput {
  const Topology& topology;
  std::function<PortRate(PortName)> rate;  ///< of a linked switch port
  std::function<std::string(Guid)> name;   ///< of a node, for the sentences
};

/// Compares the cabling with the tree as it was built, which most switches of a kind still show: a fault is
/// where few differ from a real majority (two thirds, for rates three quarters). Differences that several
/// share or that are too large for a fault of cables are findings `differs`. Deterministic.
Health check_cabling(const HealthInput& in);

// The checks. Each appends its findings to `health`.
/// Swapped cables: returns the fabric with the swap put right, or nothing if there is none.
std::optional<Topology> check_swaps(const HealthInput& in, const SwitchRanking& ranking, Health& health);
/// Swapped cables between switches in groups of two; returns as check_swaps().
std::optional<Topology> check_paired_switches(const HealthInput& in, const SwitchRanking& ranking,
                                              Health& health);
/// Missing, extra and swapped cables between a group and its upper switches; fills Health::levels.
void check_cables(const HealthInput& in, const SwitchRanking& ranking, const TreeTemplate& tree_template,
                  Health& health);
/// Groups with fewer uplinks than three quarters of the groups of their rank have.
void check_uplink_imbalance(const HealthInput& in, const SwitchRanking& ranking,
                            const TreeTemplate& tree_template, Health& health);
/// Misplaced cables at switches with few uplinks.
void check_misplaced_cables(const HealthInput& in, const SwitchRanking& ranking,
                            const TreeTemplate& tree_template, Health& health);
/// Adapters on leaves of another rail, for hosts with an adapter per rail.
void check_rails(const HealthInput& in, Health& health);
/// Cables from a switch to itself, in any fabric.
void check_loopbacks(const HealthInput& in, Health& health);
/// Leaves without a cable to another switch, if there are other switches and no finding names the leaf yet.
void check_isolated_switches(const HealthInput& in, Health& health);
/// A missing cable in a fabric that is no tree: two switches with nothing at a port where all others
/// like them have a cable to another switch.
void check_positions(const HealthInput& in, Health& health);
/// Cables with a speed or width below that of three quarters of their kind.
void check_rates(const HealthInput& in, const SwitchRanking& ranking, Health& health);

}  // namespace smd::routing::inline cabling
