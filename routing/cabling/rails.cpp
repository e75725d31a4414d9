// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "routing/cabling/health.h"
#include "routing/statistics.h"

namespace smd::routing::inline cabling {
namespace {

/// Adapters of a machine, by GUID. Without a system image GUID an adapter belongs to no machine.
using Machines = std::map<Guid, std::vector<EndIndex>>;

Machines machines(const Topology& topology) {
  Machines all;
  const auto ends = topology.end_ports();
  for (EndIndex e = 0; e < ends.size(); ++e) {
    if (ends[e].kind == EndKind::aggregation || ends[e].sw == kNoSwitch) continue;
    if (ends[e].system_image.value() != 0) all[ends[e].system_image].push_back(e);
  }
  for (auto& [image, ports] : all) {
    std::ranges::sort(ports, {}, [&](EndIndex e) { return std::pair(ends[e].guid, e); });
  }
  return all;
}

/// The number of adapters that three quarters of the machines have; 0 if there is none, or if it is 1.
std::size_t usual_count(const Machines& all) {
  std::map<std::size_t, std::size_t> counts;
  for (const auto& [image, ports] : all) ++counts[ports.size()];
  const auto usual = three_quarter_majority(counts).value_or(0);
  return usual > 1 ? usual : 0;
}

/// How machines with adapters on the same leaves number them.
struct RailOrders {
  std::size_t machines = 0, units = 0;  ///< a unit: those with adapters on the same leaves
  std::size_t others = 0;               ///< machines with another order than most of their unit
};

RailOrders rail_orders(const Topology& topology, const Machines& all, std::size_t count) {
  std::map<std::vector<SwitchIndex>, std::map<std::vector<SwitchIndex>, std::size_t>> units;
  RailOrders found;
  for (const auto& [image, ports] : all) {
    if (ports.size() != count) continue;
    std::vector<SwitchIndex> order;
    for (const auto e : ports) order.push_back(topology.end_ports()[e].sw);
    auto leaves = order;
    std::ranges::sort(leaves);
    ++units[std::move(leaves)][std::move(order)];
    ++found.machines;
  }
  found.units = units.size();
  found.others = found.machines;
  for (const auto& [leaves, orders] : units)
    found.others -=
        std::ranges::max_element(orders, {}, [](const auto& order) { return order.second; })->second;
  return found;
}

/// Whether the GUIDs of a machine's adapters follow the rails. Orders that agree as much by chance, where
/// each of the count! orders is as likely as another, have a probability of at most count!^units * sum over k
/// <= others of C(machines, k) * (count! - 1)^k / count!^machines.
bool guids_follow_rails(const RailOrders& orders, std::size_t count) {
  constexpr double kChance = 1e-3;
  const auto ln_factorial = [](std::size_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  const auto ln_orders = ln_factorial(count);
  const auto machines = static_cast<double>(orders.machines);
  double chance = 0;
  for (std::size_t k = 0; k <= orders.others; ++k) {
    const auto ways = ln_factorial(orders.machines) - ln_factorial(k) - ln_factorial(orders.machines - k);
    const auto other = count > 20 ? ln_orders : std::log(std::expm1(ln_orders));
    chance += std::exp(ways + static_cast<double>(k) * other +
                       (static_cast<double>(orders.units) - machines) * ln_orders);
  }
  return chance <= kChance;
}

constexpr std::size_t kNoRail = ~std::size_t{0};

/// By switch its rail: that of three quarters of its adapters.
std::vector<std::size_t> rails_of_leaves(const Topology& topology, const Machines& all, std::size_t count) {
  std::vector<std::map<std::size_t, std::size_t>> seen(topology.switches());
  for (const auto& [image, ports] : all) {
    if (ports.size() != count) continue;
    for (std::size_t rail = 0; rail < count; ++rail) ++seen[topology.end_ports()[ports[rail]].sw][rail];
  }
  std::vector<std::size_t> rails(topology.switches(), kNoRail);
  for (SwitchIndex s = 0; s < rails.size(); ++s) rails[s] = three_quarter_majority(seen[s]).value_or(kNoRail);
  return rails;
}

/// Machines of a unit have their adapters on the same leaves, one per rail. The value of three quarters of
/// the machines on a leaf is the usual one.
class Units {
 public:
  Units(const Topology& topology, const Machines& all, std::size_t count)
      : ends_(topology.end_ports()), usual_(topology.switches()) {
    std::vector<std::vector<std::map<SwitchIndex, std::size_t>>> seen(topology.switches());
    for (const auto& [image, ports] : all) {
      if (ports.size() != count) continue;
      for (const auto from : ports) {
        auto& on = seen[ends_[from].sw];
        on.resize(count);
        for (std::size_t rail = 0; rail < count; ++rail) ++on[rail][ends_[ports[rail]].sw];
      }
    }
    for (SwitchIndex s = 0; s < seen.size(); ++s) {
      for (const auto& on : seen[s]) usual_[s].push_back(three_quarter_majority(on).value_or(kNoSwitch));
    }
  }

  /// The leaf that most other adapters of the machine indicate for this one; kNoSwitch if they do not agree.
  SwitchIndex wanted(const std::vector<EndIndex>& ports, std::size_t rail) const {
    std::map<SwitchIndex, std::size_t> votes;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (i != rail) ++votes[usual_[ends_[ports[i]].sw][rail]];
    }
    for (const auto& [leaf, count] : votes) {
      if (count * 2 > ports.size() - 1) return leaf;
    }
    return kNoSwitch;
  }

 private:
  std::span<const EndPort> ends_;
  std::vector<std::vector<SwitchIndex>> usual_;  ///< by leaf and rail
};

class Adapters {
 public:
  Adapters(const HealthInput& in, const Machines& all, std::size_t count, Health& health)
      : in_(in),
        ends_(in.topology.end_ports()),
        count_(count),
        units_(in.topology, all, count),
        health_(health) {}

  void compare(const std::vector<EndIndex>& ports, const std::vector<std::size_t>& rails) {
    if (ports.size() < count_) report_without(ports, rails);
    if (ports.size() != count_) return;
    bool right = true;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto rail = rails[ends_[ports[i]].sw];
      if (rail != i) report_rail(ports, i, rail);
      right = right && rail == i;
    }
    if (right && count_ == 2) compare_two(ports);
    for (std::size_t i = 0; right && count_ > 2 && i < count_; ++i) {
      const auto wanted = units_.wanted(ports, i), leaf = ends_[ports[i]].sw;
      if (wanted != kNoSwitch && wanted != leaf) report_unit(ports, i, wanted);
    }
  }

  /// Counts machines with fewer adapters than usual by the rails that they have.
  void count_fewer(const std::vector<EndIndex>& ports, const std::vector<std::size_t>& rails) {
    if (ports.size() < count_) ++fewer_[served(ports, rails)];
  }

  /// Three machines with the same rails are a kind of machine of their own.
  void report_kinds() {
    for (const auto& [rails, machines] : fewer_) {
      if (machines < 3) continue;
      health_.findings.push_back(
          {CablingFault::differs,
           {},
           fmt::format("{} machines have adapters on {} of {} rails only", machines, rails.size(), count_)});
    }
  }

 private:
  std::string name(SwitchIndex s) const { return in_.name(in_.topology.guid(s)); }
  PortName port_name(EndIndex e) const { return {in_.topology.guid(ends_[e].sw), ends_[e].port}; }
  std::string leads(const std::vector<EndIndex>& ports, std::size_t i) const {
    const auto& end = ends_[ports[i]];
    return fmt::format("{} port {} leads to adapter {} of {}", name(end.sw), end.port, i + 1,
                       in_.name(end.node));
  }

  std::set<std::size_t> served(const std::vector<EndIndex>& ports,
                               const std::vector<std::size_t>& rails) const {
    std::set<std::size_t> result;
    for (const auto e : ports) result.insert(rails[ends_[e].sw]);
    return result;
  }

  void report_without(const std::vector<EndIndex>& ports, const std::vector<std::size_t>& rails) {
    const auto served = this->served(ports, rails);
    if (fewer_[served] >= 3) return;
    for (std::size_t rail = 0; rail < count_; ++rail) {
      if (served.contains(rail)) continue;
      health_.findings.push_back({CablingFault::rail,
                                  {{ends_[ports.front()].node, PortNum{}}},
                                  fmt::format("the machine of {} has no adapter on rail {} of {}",
                                              in_.name(ends_[ports.front()].node), rail + 1, count_)});
    }
  }

  void report_rail(const std::vector<EndIndex>& ports, std::size_t i, std::size_t rail) {
    const auto wanted = units_.wanted(ports, i);
    health_.findings.push_back(
        {CablingFault::rail,
         {port_name(ports[i])},
         fmt::format("{}, which is of rail {}; {} is for rail {}{}", leads(ports, i), i + 1,
                     name(ends_[ports[i]].sw), rail + 1,
                     wanted == kNoSwitch ? "" : fmt::format("; it should lead to {}", name(wanted)))});
  }

  void report_unit(const std::vector<EndIndex>& ports, std::size_t i, SwitchIndex wanted) {
    health_.findings.push_back(
        {CablingFault::rail,
         {port_name(ports[i])},
         fmt::format("{}, which should lead to {}, where the machines beside it on its other leaves have it",
                     leads(ports, i), name(wanted))});
  }

  /// With two adapters in two units either may be in the wrong one.
  void compare_two(const std::vector<EndIndex>& ports) {
    const auto one = units_.wanted(ports, 0), other = units_.wanted(ports, 1);
    if (one == kNoSwitch || other == kNoSwitch || one == ends_[ports[0]].sw || other == ends_[ports[1]].sw)
      return;
    health_.findings.push_back(
        {CablingFault::rail,
         {port_name(ports[0]), port_name(ports[1])},
         fmt::format("{} and {}, in another unit: either the first should lead to {} or the second to {}",
                     leads(ports, 0), leads(ports, 1), name(one), name(other))});
  }

  const HealthInput& in_;
  std::span<const EndPort> ends_;
  std::size_t count_;
  Units units_;
  Health& health_;
  std::map<std::set<std::size_t>, std::size_t> fewer_;  ///< machines by their rails
};

}  // namespace

void check_rails(const HealthInput& in, Health& health) {
  const auto all = machines(in.topology);
  const auto count = usual_count(all);
  if (count == 0 || !guids_follow_rails(rail_orders(in.topology, all, count), count)) return;
  const auto rails = rails_of_leaves(in.topology, all, count);
  std::set<std::size_t> known;
  for (const auto leaf : in.topology.leaves()) known.insert(rails[leaf]);
  if (known.contains(kNoRail) || known.size() != count) return;  // a fabric without rails
  Adapters adapters(in, all, count, health);
  for (const auto& [image, ports] : all) adapters.count_fewer(ports, rails);
  for (const auto& [image, ports] : all) adapters.compare(ports, rails);
  adapters.report_kinds();
}

}  // namespace smd::routing::inline cabling
