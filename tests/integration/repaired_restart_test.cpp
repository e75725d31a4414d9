// SPDX-License-Identifier: Apache-2.0
// A restart between a repair and the convergence that follows: the tables in the switches are still ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "smd/decide/repaired_tables.h"
#include "tests/support/kept_manager.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

struct RepairedCase {
  const char* spec;
  const char* engine;
};

class RepairedRestart : public ::testing::TestWithParam<RepairedCase>, protected test::KeptManager {
 protected:
  RepairedRestart() : KeptManager(test::spec(GetParam().spec)) {
    config_.routing.engines = {GetParam().engine};
    config_.routing.path_sl = config::PathSl::asked;
    config_.routing.converge_after = config::Duration(60s);
  }
  bool as_at_first(const sm::RoutePart& first) {
    return std::ranges::equal(routes().rows, first.rows, [](const auto& a, const auto& b) {
      return a.node == b.node && *a.row == *b.row;
    });
  }
  /// A cable between two switches.
  sim::Place a_cable() const {
    for (const auto& node : fabric_.nodes) {
      for (std::uint8_t p = 1; p <= node.port_count(); ++p) {
        const auto& peer = node.ports[p].peer;
        const bool between =
            node.type == NodeType::switch_ && peer && fabric_.nodes[peer->node].type == NodeType::switch_;
        if (between) return {node.name, PortNum{p}};
      }
    }
    return {};
  }

  /// Until tables are being written, two minutes at most: no switch has answered yet.
  bool run_into_writing() {
    for (const auto& node : fabric_.nodes) {
      if (node.type == NodeType::switch_) world_.fabric().faults().slow(node.name, 20ms);
    }
    const auto until = world_.now() + 2min;
    while (world_.now() < until && !sm::marks_writing(store_.loaded()->repaired_tables)) world_.run_for(5ms);
    return sm::marks_writing(store_.loaded()->repaired_tables);
  }

  base::Fabric fabric_ = test::spec(GetParam().spec);
};

TEST_P(RepairedRestart, ConvergesAsWithoutIt) {
  begin();
  const auto first = routes();
  const auto cable = a_cable();
  world_.fabric().faults().link_down(cable);
  world_.run_for(10s);
  world_.fabric().faults().link_up(cable);
  world_.run_for(10s);
  ASSERT_EQ(routes().origin, sm::RoutePart::Origin::repaired);
  ASSERT_FALSE(as_at_first(first));
  stop();

  begin();
  EXPECT_EQ(routes().origin, sm::RoutePart::Origin::repaired);
  EXPECT_EQ(routes().engine, GetParam().engine);
  world_.run_for(10min);

  EXPECT_EQ(routes().origin, sm::RoutePart::Origin::fresh);
  EXPECT_TRUE(as_at_first(first));
}

TEST_P(RepairedRestart, InTheMiddleOfWritingToo) {
  begin();
  const auto first = routes();
  EXPECT_FALSE(sm::marks_writing(store_.loaded()->repaired_tables));
  const auto cable = a_cable();
  world_.fabric().faults().link_down(cable);
  world_.run_for(10s);
  world_.fabric().faults().link_up(cable);
  world_.run_for(10s);
  ASSERT_FALSE(as_at_first(first));
  ASSERT_FALSE(sm::marks_writing(store_.loaded()->repaired_tables));
  ASSERT_TRUE(run_into_writing());
  stop();

  begin();
  EXPECT_NE(routes().origin, sm::RoutePart::Origin::adopted);
  world_.run_for(10min);

  EXPECT_EQ(routes().origin, sm::RoutePart::Origin::fresh);
  EXPECT_TRUE(as_at_first(first));
  EXPECT_EQ(store_.loaded()->repaired_tables, 0U);
}

TEST_P(RepairedRestart, NotWhereAnotherSmHasWrittenItsTablesSince) {
  begin();
  const auto cable = a_cable();
  world_.fabric().faults().link_down(cable);
  world_.run_for(10s);
  world_.fabric().faults().link_up(cable);
  world_.run_for(10s);
  ASSERT_TRUE(run_into_writing());
  stop();

  auto other = config_;
  other.routing.engines = {"nue"};
  other.routing.path_sl = config::PathSl::fixed;
  other.adopt.routes = config::AdoptRoutes::converge;
  manager_.emplace(world_, other);
  group_.emplace(world_.io().get_executor());
  group_->spawn((*manager_)->run());
  world_.run_for(1min);
  (*manager_)->requests().resweep(sm::Resweep::converge_engine, "test");
  world_.run_for(2min);
  const auto theirs = routes();
  ASSERT_EQ(theirs.engine, "nue");
  stop();
  const auto mark = store_.loaded()->repaired_tables;
  ASSERT_TRUE(sm::marks_writing(mark));

  std::vector<routing::OldRow> held;
  for (const auto& row : theirs.rows) held.push_back({row.node, row.row});
  EXPECT_FALSE(sm::are_ours(mark, theirs, held));
}

INSTANTIATE_TEST_SUITE_P(Fabrics, RepairedRestart,
                         testing::Values(RepairedCase{"ft3:4+guids=3", "dmodc"},
                                         RepairedCase{"torus:5x5+guids=7", "updn"},
                                         RepairedCase{"torus:4x4x4+guids=7", "lash"},
                                         RepairedCase{"dragonfly:4:2:2+guids=3", "dfsssp"}));

}  // namespace
}  // namespace smd
