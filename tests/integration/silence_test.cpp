// SPDX-License-Identifier: Apache-2.0
// What one node that does not answer costs: 1.5 * timeout * (retries + 1) in each sweep, wherever it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mad/wire/attributes.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Managed;

struct Case {
  std::string name, fabric;
  std::function<void(sim::Faults)> fault;
};

std::vector<std::uint16_t> all_but(std::uint16_t ignored) {
  std::vector<std::uint16_t> rest;
  for (std::uint16_t attribute = 0x10; attribute <= 0x20; ++attribute) {
    if (attribute != ignored) rest.push_back(attribute);
  }
  return rest;
}

constexpr auto kLftAttribute = wire::LinearForwardingTable::kAttribute;
constexpr auto kPortInfo = wire::PortInfo::kAttribute;

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

struct SilentFabric {
  const char *name, *spec, *host, *leaf, *inner;
};
constexpr std::array kFabrics{SilentFabric{"Two", "ft2:8", "h00005", "leaf002", "spine001"},
                              SilentFabric{"Three", "ft3:4", "h01-00-01", "edge01-01", "core00-01"},
                              SilentFabric{"Torus", "torus:3x3", "ht01-01-00", "t02-01", "t01-01"}};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& f : kFabrics) {
    const auto add = [&](const std::string& name, std::function<bool(sim::Faults)> fault) {
      all.push_back({f.name + name, f.spec, [fault](auto faults) { EXPECT_TRUE(fault(faults)); }});
    };
    add("SilentHost", [f](auto faults) { return faults.silent(f.host); });
    for (const std::string node : {f.leaf, f.inner}) {
      const std::string role = node == f.leaf ? "Leaf" : "Inner";
      add("Silent" + role, [node](auto faults) { return faults.silent(node); });
      add(role + "RefusesTables",
          [node](auto faults) { return faults.refuses(node, kLftAttribute, wire::kStatusBadField); });
      add(role + "RefusesPorts",
          [node](auto faults) { return faults.refuses(node, kPortInfo, wire::kStatusBadField); });
      add(role + "AnswersNodeInfoOnly",
          [node](auto faults) { return faults.answers_only(node, {wire::NodeInfo::kAttribute}); });
      const std::map<std::string, std::uint16_t> ignored{{"Tables", kLftAttribute},
                                                         {"Ports", kPortInfo},
                                                         {"SwitchInfo", wire::SwitchInfo::kAttribute},
                                                         {"Keys", wire::PKeyTable::kAttribute},
                                                         {"Description", wire::NodeDescription::kAttribute}};
      for (const auto& [name, attribute] : ignored) {
        add(role + "Ignores" + name,
            [node, attribute](auto faults) { return faults.answers_only(node, all_but(attribute)); });
      }
    }
  }
  return all;
}

class Silence : public testing::TestWithParam<Case> {};

double most(const test::Lines& lines, std::string& which) {
  double longest = 0;
  for (const auto& line : lines.all) {
    const auto at = line.find(" total_ms=");
    if (line.rfind("sweep ", 0) != 0 || at == std::string::npos) continue;
    const double took = std::stod(line.substr(at + 10));
    if (took > longest) longest = took, which = line;
  }
  return longest;
}

constexpr double kAllowed = 1.5 * 200 * (3 + 1);

TEST_P(Silence, OfOneNodeAtBringUpCostsItsOwnTimeOutsOnly) {
  sim::World world(test::spec(GetParam().fabric));
  GetParam().fault(world.fabric().faults());
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  EXPECT_LE(manager.last().summary.total_ms, kAllowed) << testing::PrintToString(manager.lines().all);
}

TEST_P(Silence, OfOneNodeOfARunningFabricCostsItsOwnTimeOutsOnly) {
  sim::World world(test::spec(GetParam().fabric));
  config::SubnetConfig config;
  config.sweep.interval = seconds(1);
  Managed manager(world, config);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(seconds(2));
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  GetParam().fault(world.fabric().faults());

  manager->requests().resweep(sm::Resweep::heavy, "test");
  world.run_for(seconds(20));

  std::string which;
  EXPECT_LE(most(manager.lines(), which), kAllowed) << which;
  world.run(group.stop());
}

TEST_P(Silence, OfOneNodeThatALightSweepFindsCostsItsOwnTimeOutsOnly) {
  sim::World world(test::spec(GetParam().fabric));
  config::SubnetConfig config;
  config.sweep.interval = seconds(1);
  Managed manager(world, config);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(seconds(2));
  GetParam().fault(world.fabric().faults());

  world.run_for(seconds(20));

  std::string which;
  EXPECT_LE(most(manager.lines(), which), kAllowed) << which;
  world.run(group.stop());
}

INSTANTIATE_TEST_SUITE_P(Places, Silence, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace smd
