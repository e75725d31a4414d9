// SPDX-License-Identifier: Apache-2.0
// Cables fail and come back, one after another: what repair does each time, and converge at the end.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>

#include "routing/ranking/costs.h"
#include "routing/repair/converge.h"
#include "routing/repair/repair.h"
#include "routing/verify/changes.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

using fabrics::Routable;
using fabrics::Told;

/// Entries that do not lead to their LID by the ranking, or lack a route that it has.
std::uint64_t wrong_entries(const Routable& fabric, const SwitchRanking& ranking,
                            std::span<const std::shared_ptr<const LftRow>> rows) {
  using C = WideCosts;
  const auto& topology = fabric.topology;
  std::vector<SwitchIndex> all(topology.switches());
  for (SwitchIndex s = 0; s < all.size(); ++s) all[s] = s;
  const C costs(topology, &ranking, all, Serial{});
  std::uint64_t count = 0;
  for (SwitchIndex s = 0; s < all.size(); ++s) {
    for (std::uint32_t value = 1; value <= fabric.lids.top().value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = fabric.lids.destination(lid).sw;
      if (to == kNoSwitch || to == s) continue;
      const auto own = costs.row(s)[to];
      const auto port = entry(rows[s].get(), lid);
      const auto peer = topology.peer(s, PortNum{port}).sw;
      bool right = port == kNoRoute && own == C::kUnreachable;
      if (peer != kNoSwitch) {
        const auto theirs = costs.row(peer)[to];
        right = ranking.up(s, peer) ? own >= C::kGoesUp && theirs != C::kUnreachable
                                    : own < C::kGoesUp && theirs < C::kGoesUp;
      }
      count += right ? 0 : 1;
    }
  }
  return count;
}

/// A fabric under events, with its tables and their proof.
class Events {
 public:
  Events(const std::string& spec, std::uint64_t seed)
      : random_(seed),
        whole_(fabrics::told(fabrics::of_spec(spec).input)),
        told_(whole_),
        now_(whole_.routable()) {
    reference_ = merge({}, now_.topology);
    ranking_ = *find_engine("dmodc")->ranking(now_.topology, {}, Serial{});
    routes_ = routed_by("dmodc", now_);
    found_ = verify_routes(context(), routes_);
    EXPECT_TRUE(found_.clean()) << describe(found_, now_.topology);
  }

  /// A cable fails, or one of the failed ones comes back.
  void step() {
    auto next = told_;
    auto& links = next.input.links;
    auto out = out_;
    if (out.empty() || (out.size() < 6 && random_() % 2 == 0)) {
      const auto at = random_() % links.size();
      out.push_back(links[at]);
      links.erase(links.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      const auto at = random_() % out.size();
      links.push_back(out[at]);
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (apply(next)) out_ = std::move(out);
  }

  void all_back() {
    auto next = told_;
    next.input.links.insert(next.input.links.end(), out_.begin(), out_.end());
    EXPECT_TRUE(apply(next));
    out_.clear();
  }

  /// Step by step to fresh tables, each step proven.
  void converge_to_fresh() {
    const auto goal = routed_by("dmodc", now_);
    for (bool done = false; !done;) {
      auto step = converge({.topology = now_.topology,
                            .lids = now_.lids,
                            .now = routes_.rows,
                            .goal = goal,
                            .most_blocks = 256});
      done = step.done;
      routes_ = std::move(step.routes);
      const auto found = verify_routes(context(), routes_);
      ASSERT_TRUE(found.clean()) << describe(found, now_.topology);
    }
    for (std::size_t s = 0; s < goal.rows.size(); ++s) EXPECT_EQ(*routes_.rows[s], *goal.rows[s]);
  }

 private:
  RoutingContext context() const { return {now_.topology, now_.lids, serial_}; }

  /// False if hosts would be left without a legal path: then nothing changes.
  bool apply(const Told& next) {
    auto fabric = next.routable();
    std::vector<OldRow> old;
    for (SwitchIndex s = 0; s < fabric.topology.switches(); ++s)
      old.push_back({fabric.topology.guid(s), routes_.rows[s]});
    const Before before{now_.topology, now_.lids};
    const auto must = wrong_entries(fabric, ranking_, routes_.rows);
    auto repaired = repair_routes({.context = {fabric.topology, fabric.lids, serial_},
                                   .old = old,
                                   .reference = reference_,
                                   .engine = *find_engine("dmodc"),
                                   .options = {},
                                   .before = &before});
    if (!repaired) return false;
    EXPECT_LE(static_cast<double>(repaired->changes()), 1.02 * static_cast<double>(must));
    const Proven proven{now_.topology, now_.lids, routes_.rows, routes_.layers, found_};
    auto found = verify_after(proven, {fabric.topology, fabric.lids, serial_}, repaired->routes);
    EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
    routes_ = std::move(repaired->routes);
    found_ = std::move(found);
    told_ = next;
    now_ = std::move(fabric);
    return true;
  }

  const Serial serial_;
  std::mt19937_64 random_;
  Told whole_, told_;
  Routable now_;
  ReferenceTopology reference_;
  SwitchRanking ranking_;
  Routes routes_;
  Verification found_;
  std::vector<LinkSpec> out_;
};

TEST(CableEvents, AreRepairedWithWhatMustChangeAndConvergeToFreshTables) {
  const std::array<std::string, 5> shapes{"ft3:8+an", "ft2:16+an", "fullcore:4:4:4:4:4+an", "chassis:8:8:8:4",
                                          "rails:8:4:8:4+an"};
  const std::size_t fabrics = std::getenv("SMD_LONG") != nullptr ? 20 : 5;
  for (std::size_t i = 0; i < fabrics; ++i) {
    const auto spec = shapes[i % shapes.size()] + "+guids=" + std::to_string(i + 1);
    SCOPED_TRACE(spec);
    Events events(spec, i);
    for (int n = 0; n < 30; ++n) events.step();
    events.all_back();
    events.converge_to_fresh();
  }
}

}  // namespace
}  // namespace smd::routing
