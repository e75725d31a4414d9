// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/missing_counts.h"

#include <algorithm>
#include <tuple>

namespace smd::routing::inline verify {
namespace {

class Counts {
 public:
  Counts(const Proven& before, const RoutingContext& now, const Routes& routes,
         const Differences& differences)
      : before_(before),
        lids_(now.lids),
        topology_(now.topology),
        routes_(routes),
        differences_(differences) {
    by_rule_ = static_cast<std::int64_t>(before.verification.unrouted_by_rule);
    pairs_ = static_cast<std::int64_t>(before.verification.unreachable_switch_pairs);
    with_aggregation_ = static_cast<std::int64_t>(before.verification.aggregation_pairs_unreachable);
  }

  std::optional<Verification> run() {
    const bool any_before = with_aggregation_ != 0;
    forget_gone();
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      const auto was = differences_.was[s];
      for (const auto lid : differences_.entries[s]) {
        const bool routed = routed_now(s, lid);
        if (routed == ((*before_.rows[was])[lid.value()] != kNoRoute)) continue;
        if (topology_.component(lids_.destination(lid).sw) != topology_.component(s)) continue;
        const auto need = need_of(was, lid);
        if (!routed && need == RouteNeed::required) return std::nullopt;
        count(was, lid, routed ? -1 : 1);
        if (!routed && need == RouteNeed::by_rule) take_first({s, PortNum{kNoRoute}, lid});
      }
    }
    if (uncertain_ || ((any_before || first_) && !same_end_ports())) return std::nullopt;
    Verification found;
    found.unrouted_by_rule = static_cast<std::uint64_t>(by_rule_);
    found.unreachable_switch_pairs = static_cast<std::uint64_t>(pairs_);
    found.aggregation_pairs_unreachable = static_cast<std::uint64_t>(with_aggregation_);
    if (with_aggregation_ != 0 && !name_example(found)) return std::nullopt;
    return found;
  }

 private:
  bool routed_now(SwitchIndex s, Lid lid) const { return (*routes_.rows[s])[lid.value()] != kNoRoute; }

  RouteNeed need_of(SwitchIndex was, Lid lid) const {
    const auto end = before_.lids.destination(lid).end;
    return end == kNoEnd ? RouteNeed::none : route_need(before_.topology, was, end);
  }

  void count(SwitchIndex was, Lid lid, std::int64_t change) {
    const auto need = need_of(was, lid);
    if (need == RouteNeed::required) return;
    if (need == RouteNeed::none) {
      (before_.topology.leaf(was) ? pairs_ : by_rule_) += change;
      return;
    }
    // A pair with several LIDs misses a route if any of them does.
    uncertain_ = uncertain_ || before_.lids.of_end(before_.lids.destination(lid).end).count() != 1;
    const auto hosts = before_.topology.hosts(was);
    const auto nodes = before_.topology.end_ports_of(was).size() - hosts;
    by_rule_ += change;
    with_aggregation_ += change * static_cast<std::int64_t>(hosts != 0 ? hosts : nodes);
  }

  void forget(SwitchIndex was, Lid lid) {
    const auto to = before_.lids.destination(lid).sw;
    if (to == kNoSwitch || before_.topology.component(to) != before_.topology.component(was)) return;
    if ((*before_.rows[was])[lid.value()] == kNoRoute) count(was, lid, -1);
  }
  void forget_gone() {
    for (const auto was : differences_.was) {
      for (const auto lid : differences_.gone_lids) forget(was, lid);
    }
    for (const auto was : differences_.gone) {
      for (std::uint32_t value = 1; value <= before_.lids.top().value(); ++value) {
        forget(was, Lid{static_cast<std::uint16_t>(value)});
      }
    }
  }

  /// Whether each switch has as many end ports as before: each of them is a pair.
  bool same_end_ports() const {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      const auto was = differences_.was[s];
      if (topology_.hosts(s) != before_.topology.hosts(was)) return false;
      if (topology_.end_ports_of(s).size() != before_.topology.end_ports_of(was).size()) return false;
    }
    return true;
  }

  static auto place(const Hop& hop) { return std::tuple(hop.lid.value() / 64, hop.sw, hop.lid); }
  void take_first(const Hop& hop) {
    if (!first_ || place(hop) < place(*first_)) first_ = hop;
  }

  /// Names the pair that a complete verification would name. False if the earlier one has a route now: then
  /// the next one is not known.
  bool name_example(Verification& found) {
    if (before_.verification.aggregation_pairs_unreachable != 0) {
      const auto& old = before_.verification.aggregation_example.front();
      const auto at = std::ranges::find(differences_.was, old.sw);
      if (at == differences_.was.end() || lids_.destination(old.lid).sw == kNoSwitch) return false;
      const auto s = static_cast<SwitchIndex>(at - differences_.was.begin());
      if (routed_now(s, old.lid)) return false;
      take_first({s, PortNum{kNoRoute}, old.lid});
    }
    if (!first_) return false;
    const auto example = *first_;
    const auto& to = topology_.end_ports()[lids_.destination(example.lid).end];
    const auto sources = topology_.end_ports_of(example.sw);
    const auto from = std::ranges::find_if(sources, [&](const EndPort& end) {
      return (end.kind == EndKind::aggregation) != (to.kind == EndKind::aggregation);
    });
    if (from == sources.end()) return false;
    found.aggregation_example = {example};
    found.aggregation_pair = {from->guid, to.guid};
    return true;
  }

  const Proven& before_;
  const LidMap& lids_;
  const Topology& topology_;
  const Routes& routes_;
  const Differences& differences_;
  std::int64_t by_rule_ = 0, pairs_ = 0, with_aggregation_ = 0;
  bool uncertain_ = false;
  std::optional<Hop> first_;  ///< of the pairs that lost their route
};

}  // namespace

std::optional<Verification> count_missing(const Proven& before, const RoutingContext& now,
                                          const Routes& routes, const Differences& differences) {
  return Counts(before, now, routes, differences).run();
}

}  // namespace smd::routing::inline verify
