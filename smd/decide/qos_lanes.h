// SPDX-License-Identifier: Apache-2.0
#pragma once
// Classes of traffic and layers of routing, combined: which SL a class has in a layer, which VL on a link,
// and which weights. Pure; here alone the two meet (docs/architecture.md).

#include <expected>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "smd/decide/qos_part.h"
#include "smd/decide/sl_part.h"

namespace smd::sm::inline decisions {

/// What is needed and what there is, for messages.
struct LaneBudget {
  std::size_t needed = 0;
  std::size_t available = 0;
  friend bool operator==(const LaneBudget&, const LaneBudget&) = default;
};

/// SLs for classes x layers. Those of `kept` stay. Of the others, classes have their own numbers in layer 0
/// where these are free; further layers have the lowest that are free, SL 15 last. What `kept` has beyond
/// the classes and layers stays as long as its SLs are not needed. Nothing where 16 SLs are too few.
/// `in_blocks`: a class of which none is in `kept` has 0 to 7 or 8 to 15 where these are free, first those
/// around its own number.
std::expected<WireSls, LaneBudget> wire_sls(std::span<const Sl> classes, unsigned layers,
                                            const WireSls& kept = {}, bool in_blocks = false);

/// What a link can.
struct LaneLimits {
  unsigned vls = 1;            ///< data VLs in use
  unsigned low = 0, high = 0;  ///< entries of the arbitration tables; 0: there is none to write
  bool in_blocks = false;      ///< the VLs of a class follow each other, instead of those of an index
};

/// A VL and its part of what its table sends, in any unit.
struct LaneWeight {
  Vl vl{};
  double part = 0;
  std::size_t of_class = 0;  ///< the class that has it, with the VLs of its other layers
  bool spare = false;        ///< of a layer that no route has yet: it has a turn where entries are left over
  friend bool operator==(const LaneWeight&, const LaneWeight&) = default;
};

/// g(class, VL index) on one link.
struct QosLanes {
  std::vector<std::vector<Vl>> vls;   ///< [class][index]
  std::vector<LaneWeight> low, high;  ///< ascending by VL; all VLs that are used are in one of them
  std::size_t own = 0;                ///< so many classes, the first ones, have VLs of their own
  LaneBudget budget;                  ///< VLs
};

/// VLs of a link for its classes and the VL indexes of routing. `loads` is the route load of each index on
/// the link, 0 where no route has it; a class divides its weight in proportion. Indexes are never merged, as
/// each has its part of the routes so that they cannot dead-lock. A further index has further VLs, and those
/// of the others stay. Indexes without a route that come after all others have VLs where there are some left,
/// and entries beside those that the shares of the others need; else they are on the first VL of their class.
/// Where VLs or entries are too few, classes share the VLs of the first class, from the last one on: as few
/// as have to, and on links of one index further ones where the shares are much nearer to those asked for by
/// that. Nothing where the indexes alone are too many: a VL without a turn would stand still.
std::expected<QosLanes, LaneBudget> qos_lanes(std::span<const QosPart::Class> classes,
                                              std::span<const double> loads, const LaneLimits& limits);

/// A list of at most `entries` turns that sends packets of 4 KiB in these parts. The sums of the classes come
/// first, then the parts of their VLs: of the lists whose sums are nearest that one whose VLs are, where half
/// a percent of the link is near enough, and the shortest of equal ones. Spare VLs come last in `all` and
/// have a packet each. The turns of a VL are spread. Empty for no entries.
std::vector<wire::VlWeight> arbitration_list(std::span<const LaneWeight> all, std::size_t entries);

}  // namespace smd::sm::inline decisions
