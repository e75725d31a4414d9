// SPDX-License-Identifier: Apache-2.0
// Tables of another SM whose paths have SLs of their own: kept by a file of these SLs, and only by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "tests/support/layered_fabric.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class AdoptedLayers : public test::LayeredFabric {
 protected:
  using SlOf = std::function<unsigned(std::uint8_t layer, Lid from, Lid to)>;

  /// What a file says of the paths that are there now.
  std::shared_ptr<const base::PathSlFile> file(const SlOf& sl_of) {
    base::PathSlFile paths;
    const auto& topology = *routes().topology;
    const auto& lids = *routes().lid_map;
    for (routing::EndIndex e = 0; e < topology.end_ports().size(); ++e) {
      auto& row = paths[topology.end_ports()[e].node];
      row.assign(lids.row_size(), base::kNoSlSaid);
      for (std::size_t value = 1; value < row.size(); ++value) {
        const Lid lid{static_cast<std::uint16_t>(value)};
        const auto to = lids.destination(lid);
        if (to.sw == routing::kNoSwitch || to.end == routing::kNoEnd) continue;
        const auto layer = routes().layers.of(topology.end_ports()[e].sw, to.sw, lid);
        row[value] =
            static_cast<std::uint8_t>(sl_of(static_cast<std::uint8_t>(layer), lids.of_end(e).base, lid));
      }
    }
    return std::make_shared<const base::PathSlFile>(std::move(paths));
  }

  /// Another program takes over, which has nothing stored. `lost`: a cable that fails before that.
  void take_over(std::shared_ptr<const base::PathSlFile> paths, const std::optional<sim::Place>& lost = {}) {
    end();
    if (lost) world_.fabric().faults().link_down(*lost);
    store_.emplace();
    config_.adopt.path_sl_file = paths ? "paths.txt" : "";
    config_.adopt.path_sl = std::move(paths);
    config_.routing.engines = {"lash"};
    world_.fabric().counts().clear();
    begin();
  }

  std::uint64_t lft_sets() { return world_.fabric().counts().sets(wire::LinearForwardingTable::kAttribute); }
  std::string line(const std::string& event) { return manager_->lines().first(event); }
};

TEST_F(AdoptedLayers, TablesAndSlsStayAsTheFileHasThem) {
  begin();
  const auto first_layers = layers();
  const auto first_tables = tables();
  const auto paths = file([](auto layer, Lid, Lid) { return layer; });
  take_over(paths);
  EXPECT_EQ(routes().engine, "adopted");
  EXPECT_EQ(layers(), first_layers);
  EXPECT_EQ(tables(), first_tables);
  EXPECT_EQ(world_.fabric().counts().sets(wire::LinearForwardingTable::kAttribute), 0U);
  EXPECT_EQ(vl_sets(), 0U);
  EXPECT_THAT(line("routing.path_sl_adopted"), HasSubstr("with_another_sl_than_their_pair=0"));
  EXPECT_EQ(line("routing.sl_unknown"), "");
  // From now on they are our own: the file is not looked at any more.
  end();
  config_.adopt.path_sl = std::make_shared<const base::PathSlFile>();
  begin();
  EXPECT_EQ(layers(), first_layers);
  EXPECT_EQ(tables(), first_tables);
}

TEST_F(AdoptedLayers, SlsKeepTheirNumbers) {
  begin();
  const auto paths = file([](auto layer, Lid, Lid) { return layer == 0 ? 0U : 15U - 2U * layer; });
  const auto first_tables = tables();
  take_over(paths);
  EXPECT_EQ(tables(), first_tables);
  const auto& topology = *routes().topology;
  const auto& now = manager_->last();
  std::size_t compared = 0;
  for (const auto& end : topology.end_ports()) {
    const auto& row = paths->at(end.node);
    for (std::size_t value = 1; value < row.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (row[value] == base::kNoSlSaid || routes().lid_map->destination(lid).sw == end.sw) continue;
      const auto sl = sm::path_sl(now.decided, Sl{0}, *now.subnet->find(end.node), PortNum{1}, lid);
      EXPECT_EQ(sl.value(), row[value]) << fmt::format("{} to {}", end.node, lid);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 32U * 30U);
}

/// We were master before the other SM, and what we have stored is of that time.
TEST_F(AdoptedLayers, TheFileCountsAgainAfterAnotherSm) {
  begin();
  const auto stored = store_->loaded();
  const auto first_tables = tables();
  const auto paths = file([](auto layer, Lid, Lid) { return layer == 0 ? 0U : 15U - 2U * layer; });
  take_over(paths);
  end();
  store_.emplace();
  world_.run(store_->commit(stored));
  world_.fabric().counts().clear();
  begin();
  EXPECT_EQ(tables(), first_tables);
  EXPECT_EQ(lft_sets(), 0U);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_NE(line("routing.path_sl_adopted"), "");
  std::size_t compared = 0;
  for (const auto& end : routes().topology->end_ports()) {
    const auto& row = paths->at(end.node);
    const auto& now = manager_->last();
    for (std::size_t value = 1; value < row.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (row[value] == base::kNoSlSaid || routes().lid_map->destination(lid).sw == end.sw) continue;
      const auto sl = sm::path_sl(now.decided, Sl{0}, *now.subnet->find(end.node), PortNum{1}, lid);
      EXPECT_EQ(sl.value(), row[value]) << fmt::format("{} to {}", end.node, lid);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 32U * 30U);
}

/// The tables of torus-2QoS are not kept but computed: these are the same.
TEST_F(AdoptedLayers, TablesAndSlsOfATorusAreNotRefusedWhereTheyAreOurs) {
  config_.routing.engines = {"torus-2QoS"};
  begin();
  const auto first_layers = layers();
  config_.adopt.path_sl = file([](auto layer, Lid, Lid) { return layer; });
  config_.adopt.path_sl_file = "paths.txt";
  end();
  store_.emplace();
  world_.fabric().counts().clear();
  begin();
  EXPECT_EQ(layers(), first_layers);
  EXPECT_EQ(lft_sets(), 0U);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_EQ(line("routing.not_adopted"), "");
}

TEST_F(AdoptedLayers, TablesThatTorus2QosReplacesHaveAReason) {
  begin();
  const auto paths = file([](auto layer, Lid, Lid) { return layer; });
  end();
  store_.emplace();
  config_.adopt.path_sl = paths;
  config_.adopt.path_sl_file = "paths.txt";
  config_.routing.engines = {"torus-2QoS"};
  start();
  EXPECT_THAT(line("routing.not_adopted"),
              HasSubstr("on the SLs of paths.txt: torus-2QoS uses tables of its own only"));
}

/// As long as the SLs that ports were told are ours, whatever the file says.
TEST_F(AdoptedLayers, AnOldFileDoesNotCountAgain) {
  begin();
  const auto first_layers = layers();
  config_.adopt.path_sl = file([](auto, Lid, Lid) { return 0U; });
  config_.adopt.path_sl_file = "paths.txt";
  end();
  begin();
  EXPECT_EQ(layers(), first_layers);
  EXPECT_EQ(line("routing.path_sl_adopted"), "");
  EXPECT_EQ(line("routing.not_adopted"), "");
}

TEST_F(AdoptedLayers, ARepairKeepsTheSlsOfTheOthers) {
  begin();
  const auto paths = file([](auto layer, Lid, Lid) { return layer; });
  const auto first_layers = layers();
  take_over(paths, cable(5));
  const auto now = layers();
  ASSERT_EQ(now.size(), first_layers.size());
  std::size_t moved = 0;
  for (std::size_t i = 0; i < now.size(); ++i) moved += now[i] == first_layers[i] ? 0U : 1U;
  EXPECT_LT(moved, now.size() / 10);
  EXPECT_TRUE(routes().verification.clean());
  EXPECT_EQ(routes().origin, sm::RoutePart::Origin::repaired) << line("routing.not_adopted");
}

TEST_F(AdoptedLayers, AReloadOfAnotherKeyChangesNoSl) {
  begin();
  const auto first_layers = layers();
  take_over(file([](auto layer, Lid, Lid) { return layer; }));
  ASSERT_EQ(routes().engine, "adopted");
  config_.routing.allow_credit_loops = true;
  (*manager_)->requests().reload(config_);
  world_.run_for(20s);
  EXPECT_EQ(layers(), first_layers);
  EXPECT_EQ(routes().pairs_moved, 0U);
}

/// The engine's own tables would give others their pairs back, not these.
TEST_F(AdoptedLayers, PairsComeBackToTheSlsOfTheFileWhenAllIsMended) {
  begin();
  const auto paths = file([](auto layer, Lid, Lid) { return layer; });
  take_over(paths);
  std::uint64_t moved = 0, left = 0;
  for (std::size_t which = 0; which < 64; which += 2) {
    const auto place = cable(which);
    world_.fabric().faults().link_down(place);
    world_.run_for(10s);
    moved += routes().pairs_moved;
    world_.fabric().faults().link_up(place);
    world_.run_for(2min);
    left += routes().pairs_moved;
    EXPECT_TRUE(routes().verification.clean());
  }
  ASSERT_NE(moved, 0U) << "no cable whose loss moves a pair";
  EXPECT_LT(left, moved);
}

TEST_F(AdoptedLayers, WrongSlsAreNotBelieved) {
  begin();
  take_over(file([](auto, Lid, Lid) { return 0U; }));
  EXPECT_EQ(routes().engine, "lash");
  EXPECT_THAT(line("routing.not_adopted"), HasSubstr("on the SLs of paths.txt"));
  EXPECT_THAT(line("routing.not_adopted"), HasSubstr("credit loop"));
}

/// Tables take the place of those that are not proven on the SLs of the file: clients have these all the
/// same.
TEST_F(AdoptedLayers, SlsThatAreNotKeptAreCounted) {
  begin();
  take_over(file([](auto, Lid, Lid) { return 0U; }));
  const auto now = layers();
  const auto moved = now.size() - static_cast<std::size_t>(std::ranges::count(now, '0'));
  ASSERT_NE(moved, 0U);
  EXPECT_EQ(routes().pairs_moved, moved);
  EXPECT_THAT(line("routing.sl_stale"), HasSubstr(fmt::format("pairs={} ", moved)));
  EXPECT_THAT(line("routing.sl_stale"), HasSubstr("another SL than the file of adopt.path_sl says"));
  EXPECT_EQ(line("routing.path_sl_adopted"), "");
  end();
  begin();
  EXPECT_EQ(layers(), now);
  EXPECT_EQ(routes().pairs_moved, moved) << "a restart brings no connection another SL";

  (*manager_)->requests().resweep(sm::Resweep::converge, "test");
  world_.run_for(20s);
  EXPECT_EQ(routes().pairs_moved, 0U);
}

TEST_F(AdoptedLayers, SlsCountWhereNoTablesAreKept) {
  config_.adopt.routes = config::AdoptRoutes::converge;
  begin();
  take_over(file([](auto, Lid, Lid) { return 0U; }));
  EXPECT_EQ(routes().engine, "lash");
  EXPECT_GT(routes().pairs_moved, 0U);
  EXPECT_THAT(line("routing.sl_stale"), HasSubstr("another SL than the file of adopt.path_sl says"));
  take_over(nullptr);
  EXPECT_THAT(line("routing.sl_unknown"), HasSubstr("paths=960 of=960"));
}

/// Also where the file has more SLs than there are layers.
TEST_F(AdoptedLayers, SlsThatNoLayerHasAreCounted) {
  begin();
  take_over(file([](auto, Lid from, Lid to) { return (from.value() + to.value()) % 16U; }));
  EXPECT_GT(routes().pairs_moved, 0U);
  EXPECT_THAT(line("routing.sl_stale"), HasSubstr("another SL than the file of adopt.path_sl says"));
}

/// One way has the SL of its layer; the way back always SL 0.
TEST_F(AdoptedLayers, TheWayBackCountsToo) {
  begin();
  take_over(file([](auto layer, Lid from, Lid to) { return from < to ? layer : 0U; }));
  EXPECT_EQ(routes().engine, "lash");
  EXPECT_THAT(line("routing.not_adopted"), HasSubstr("credit loop"));
}

TEST_F(AdoptedLayers, MoreSlsThanVlsAreRefused) {
  begin();
  take_over(file([](auto, Lid from, Lid to) { return (from.value() + to.value()) % 16U; }));
  EXPECT_EQ(routes().engine, "lash");
  EXPECT_THAT(line("routing.not_adopted"), HasSubstr("layers are possible, 16 are needed"));
}

TEST_F(AdoptedLayers, WithoutAFileTheNumberOfUnknownSlsIsSaid) {
  begin();
  take_over(nullptr);
  EXPECT_EQ(routes().engine, "lash");
  EXPECT_THAT(line("routing.sl_unknown"), HasSubstr("paths=960 of=960"));
  EXPECT_EQ(routes().adopted_sls->not_said, 960U);
  EXPECT_THAT(line("routing.chosen"),
              HasSubstr("tables that switches held are kept, those of lash would change"));
  // Which is not of a shape that is damaged then.
  world_.fabric().faults().link_down(cable(5));
  world_.run_for(10s);
  EXPECT_THAT(routes().why, testing::StartsWith("tables that switches held are kept"));
}

/// Any SL will do on them, until tables of several layers take their place.
TEST_F(AdoptedLayers, UnknownSlsMatterInTablesOfSeveralLayersOnly) {
  config_.routing.engines = {"updn"};
  start();
  end();
  store_.emplace();
  config_.routing.engines = {"dfsssp"};
  start();
  EXPECT_EQ(routes().engine, "adopted");
  EXPECT_EQ(routes().layers.count, 1U);
  EXPECT_EQ(line("routing.sl_unknown"), "");

  (*manager_)->requests().resweep(sm::Resweep::converge, "test");
  world_.run_for(60s);
  EXPECT_EQ(routes().engine, "dfsssp");
  EXPECT_GT(routes().layers.count, 1U);
  EXPECT_THAT(line("routing.sl_unknown"), HasSubstr("paths=960 of=960"));
}

}  // namespace
}  // namespace smd
