// SPDX-License-Identifier: Apache-2.0
// What the log says to do where multicast trees are not proven.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "routing/topology/topology.h"
#include "smd/decide/multicast.h"
#include "smd/report/multicast.h"

namespace smd::sm {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Switches in a ring, without some of its cables.
routing::Topology ring_without(unsigned missing) {
  routing::TopologyInput input;
  constexpr unsigned kSwitches = 4;
  for (unsigned s = 0; s < kSwitches; ++s) input.switches.push_back({Guid{s + 1}, 2});
  for (unsigned s = missing; s < kSwitches; ++s)
    input.links.push_back({s, PortNum{1}, (s + 1) % kSwitches, PortNum{2}});
  return routing::Topology(input);
}

/// The line about two trees without a proof.
std::string line_for(const std::string& engine, RoutePart::Origin origin, unsigned missing = 0) {
  auto routes = std::make_shared<RoutePart>();
  routes->engine = engine;
  routes->origin = origin;
  routes->topology = std::make_shared<const routing::Topology>(ring_without(missing));
  routes->reference = std::make_shared<const routing::ReferenceTopology>(
      routing::merge(routing::merge({}, ring_without(0)), *routes->topology));
  auto context = std::make_shared<MulticastContext>();
  context->proof = std::make_shared<const routing::McProof>();
  context->trees = context->not_proven = 2;
  auto multicast = std::make_shared<McPart>();
  multicast->context = std::move(context);
  Decided decided;
  decided.routes = std::move(routes);
  decided.multicast = std::move(multicast);
  std::string said;
  const log::Log log({}, [&](const log::Record&, std::string_view line) { said = line; }, log::real_times());
  log_multicast(log, decided);
  return said;
}

TEST(MulticastAction, NamesNoEngineThatIsInForce) {
  using enum RoutePart::Origin;
  EXPECT_THAT(line_for("updn", fresh), HasSubstr("as nue\""));
  EXPECT_THAT(line_for("nue", fresh), HasSubstr("as updn\""));
  EXPECT_THAT(line_for("minhop", fresh), HasSubstr("as updn or nue\""));
  EXPECT_THAT(line_for("minhop", fresh), Not(HasSubstr("missing")));
}

TEST(MulticastAction, IsToMendWhatIsMissing) {
  EXPECT_THAT(line_for("nue", RoutePart::Origin::fresh, 1),
              HasSubstr("mend the cables that are missing, or"));
}

TEST(MulticastAction, OfRepairedTablesIsToConverge) {
  for (const auto* engine : {"updn", "nue", "dor"}) {
    const auto line = line_for(engine, RoutePart::Origin::repaired, 1);
    EXPECT_THAT(line, HasSubstr("smd resweep converge, or"));
    EXPECT_THAT(line, Not(HasSubstr("as updn")));
    EXPECT_THAT(line, HasSubstr("if they do not, give the fabric another engine: ")) << "it is not done yet";
  }
}

}  // namespace
}  // namespace smd::sm
