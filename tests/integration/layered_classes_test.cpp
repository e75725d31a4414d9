// SPDX-License-Identifier: Apache-2.0
// Classes of QoS on routes of several layers: an SL for each class and layer, VLs of their own between
// switches, no credit loop on what ports hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>

#include "mad/wire/sa/path_record.h"
#include "smd/report/qos_explanation.h"
#include "tests/support/layered_fabric.h"
#include "tests/support/partition_config.h"
#include "tests/support/sa_lab.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::LayeredFabric;
using testing::HasSubstr;

class LayeredClasses : public LayeredFabric {
 protected:
  explicit LayeredClasses(std::string_view spec = "torus:4x4:2+guids=7") : LayeredFabric(spec) {
    config_.qos.enabled = true;
    config_.partition = {test::partition("Default", 0x7fff, {"ALL"}), test::partition("blue", 0x21, {"ALL"})};
    config_.partition[1].sl = 3;
  }

  /// A switch's port and the VL by which packets leave it.
  struct Channel {
    Guid node;
    PortNum out;
    Vl vl;
    auto operator<=>(const Channel&) const = default;
  };

  const sm::Decided& decided() { return manager_->last().decided; }
  const sm::Subnet& subnet() { return *manager_->last().subnet; }
  Vl vl_of(const sim::Place& place, PortNum in, Sl sl) {
    return Vl{static_cast<std::uint8_t>(sim::sl_to_vl_row(state(), at(place), in) >> (4 * sl.value()) & 0xF)};
  }

  /// What a packet crosses between switches, as these forward and map it.
  std::vector<Channel> crossed(const sm::Node& from, Lid to, Sl sl) {
    std::vector<Channel> found;
    auto at = *from.ports[1].peer;
    while (subnet().find(at.node)->is_switch()) {
      const auto& node = *subnet().find(at.node);
      const PortNum out{routing::entry(node.lft.row.get(), to)};
      const auto& peer = node.ports[out.value()].peer;
      if (!peer) break;
      const auto vl = vl_of({fmt::to_string(node.guid()), out}, at.port, sl);
      if (subnet().find(peer->node)->is_switch()) found.push_back({node.guid(), out, vl});
      at = *peer;
    }
    return found;
  }

  /// Walks all pairs of hosts in all classes, there and back on one SL; the channels of each class.
  std::map<Sl, std::set<Channel>> walk() {
    std::map<Sl, std::set<Channel>> found;
    for (const auto& from : subnet().nodes) {
      for (const auto& to : subnet().nodes) {
        if (from == to || from->is_switch() || to->is_switch()) continue;
        for (const auto one : decided().service_levels->classes) {
          const auto sl = sm::path_sl(decided(), one, *from, PortNum{1}, to->ports[1].info.lid);
          EXPECT_EQ(sl, sm::path_sl(decided(), one, *to, PortNum{1}, from->ports[1].info.lid));
          add(crossed(*from, to->ports[1].info.lid, sl), found[one]);
        }
      }
    }
    return found;
  }
  void add(const std::vector<Channel>& path, std::set<Channel>& of_class) {
    EXPECT_FALSE(path.empty() && of_class.empty());
    for (std::size_t i = 0; i < path.size(); ++i) {
      of_class.insert(path[i]);
      if (i != 0) waits_[path[i - 1]].insert(path[i]);
    }
  }
  bool credit_loop() {
    std::map<Channel, int> seen;  // 1: under way, 2: done
    std::function<bool(const Channel&)> loops = [&](const Channel& one) {
      auto& state = seen[one];
      if (state != 0) return state == 1;
      state = 1;
      for (const auto& next : waits_[one]) {
        if (loops(next)) return true;
      }
      seen[one] = 2;
      return false;
    };
    const auto all = waits_;
    return std::ranges::any_of(all, [&](const auto& one) { return loops(one.first); });
  }
  std::set<Vl> vls(const std::set<Channel>& channels) {
    std::set<Vl> found;
    for (const auto& one : channels) found.insert(one.vl);
    return found;
  }
  std::string sls() {
    std::string text;
    for (const auto& [key, sl] : decided().service_levels->sls)
      text += fmt::format("{}/{}={} ", key.first, key.second, sl);
    return text;
  }
  void reload() {
    (*manager_)->requests().reload(config_);
    world_.run_for(30s);
  }

  std::map<Channel, std::set<Channel>> waits_;
};

class ClassesOfALargeTorus : public LayeredClasses {
 protected:
  ClassesOfALargeTorus() : LayeredClasses("torus:4x4x4:1+guids=5") {}
};

/// dfsssp has 7 layers where it may use 8 VLs; two classes would share each.
TEST_F(ClassesOfALargeTorus, HaveVlsOfTheirOwn) {
  begin();
  EXPECT_EQ(routes().engine, "dfsssp");
  const auto found = walk();
  ASSERT_EQ(found.size(), 2U);
  const auto first = vls(found.begin()->second), second = vls(found.rbegin()->second);
  std::set<Vl> both;
  std::ranges::set_intersection(first, second, std::inserter(both, both.begin()));
  EXPECT_THAT(both, testing::IsEmpty());
  EXPECT_FALSE(credit_loop());
}

/// Connections have SLs of four layers: in fewer VLs these would close a loop.
TEST_F(ClassesOfALargeTorus, KeepTheirLayersWhereMaxVlsLeavesFewer) {
  begin();
  const auto before = layers();
  const auto needed = routes().layers.vl_indexes();
  ASSERT_GT(needed, 2U);
  config_.qos.all.max_vls = 2;
  world_.fabric().counts().clear();
  reload();
  EXPECT_EQ(layers(), before);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_EQ(decided().service_levels->limit.waits, 2U);
  EXPECT_THAT(manager_->lines().first("qos.max_vls_waits"),
              HasSubstr(fmt::format("max_vls=2 layers={}", needed)));
  const auto found = walk();
  EXPECT_FALSE(credit_loop());
  EXPECT_EQ(vls(found.begin()->second).size(), needed);

  end();
  begin();
  EXPECT_EQ(layers(), before);
  EXPECT_EQ(decided().service_levels->limit.waits, 2U);
  waits_.clear();
  EXPECT_EQ(vls(walk().begin()->second).size(), needed);
  EXPECT_FALSE(credit_loop());

  (*manager_)->requests().resweep(sm::Resweep::converge_engine, "test");
  world_.run_for(30s);
  EXPECT_EQ(decided().service_levels->limit, (sm::VlLimit{.vls = 2}));
  EXPECT_LE(routes().layers.vl_indexes(), 2U);
  EXPECT_EQ(routes().pairs_moved, 0U);
  waits_.clear();
  walk();
  EXPECT_FALSE(credit_loop());
}

/// Layers that share a VL are not what was proven.
TEST_F(LayeredClasses, MaxVlsLimitsTheLayersToo) {
  begin();
  ASSERT_GT(routes().layers.vl_indexes(), 1U);
  config_.qos.classes[static_cast<std::size_t>(config::PortClass::switch_external)].max_vls = 1;
  reload();
  EXPECT_EQ(decided().service_levels->limit.waits, 1U);
  (*manager_)->requests().resweep(sm::Resweep::converge_engine, "test");
  world_.run_for(30s);
  EXPECT_EQ(routes().layers.vl_indexes(), 1U);
  walk();
  EXPECT_FALSE(credit_loop());

  config_.qos.classes = {};
  config_.qos.all.max_vls = 3;  // IBA knows 2 and 4
  reload();
  EXPECT_LE(routes().layers.vl_indexes(), 2U);
  waits_.clear();
  walk();
  EXPECT_FALSE(credit_loop());
}

TEST_F(LayeredClasses, HaveVlsOfTheirOwnInEachLayer) {
  begin();
  EXPECT_THAT(decided().service_levels->classes, testing::ElementsAre(Sl{0}, Sl{3}));
  const auto found = walk();
  EXPECT_FALSE(credit_loop());
  const auto layers = routes().layers.count;
  EXPECT_EQ(vls(found.at(Sl{0})).size(), layers);
  EXPECT_EQ(vls(found.at(Sl{3})).size(), layers);
  for (const auto vl : vls(found.at(Sl{3}))) EXPECT_FALSE(vls(found.at(Sl{0})).contains(vl));
  EXPECT_EQ(sm::wire_sl(decided().service_levels.get(), Sl{3}, 0), Sl{3});
}

TEST_F(LayeredClasses, HaveTurnsOnEveryVlThatTheyUse) {
  begin();
  for (const auto& [of_class, channels] : walk()) {
    for (const auto& one : channels) {
      const auto& blocks = state().ports[at({fmt::to_string(one.node), one.out})].tables->vl_arb;
      const bool served = std::ranges::any_of(blocks, [&](const auto& block) {
        return std::ranges::any_of(block.entries,
                                   [&](const auto& e) { return e.vl == one.vl && e.weight != 0; });
      });
      EXPECT_TRUE(served) << "VL " << one.vl.value();
    }
  }
}

TEST_F(LayeredClasses, LayersShareTheVlOfTheirClassAtHosts) {
  begin();
  const auto& sls = *decided().service_levels;
  ASSERT_GT(sls.layers, 1U);
  for (const auto& node : subnet().nodes) {
    if (node->is_switch()) continue;
    const sim::Place place{fmt::to_string(node->guid()), PortNum{1}};
    for (unsigned layer = 0; layer < sls.layers; ++layer) {
      EXPECT_EQ(vl_of(place, PortNum{0}, sm::wire_sl(&sls, Sl{0}, layer)), Vl{0});
      EXPECT_EQ(vl_of(place, PortNum{0}, sm::wire_sl(&sls, Sl{3}, layer)), Vl{1});
    }
  }
}

TEST_F(LayeredClasses, ASecondSweepWritesNothing) {
  begin();
  world_.fabric().counts().clear();
  (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(10s);
  EXPECT_EQ(world_.fabric().counts().sets(), 0U);
}

TEST_F(LayeredClasses, ARestartKeepsTheirSls) {
  begin();
  const auto then = sls();
  end();
  world_.fabric().counts().clear();
  begin();
  EXPECT_EQ(sls(), then);
  EXPECT_EQ(vl_sets(), 0U);
}

/// How many layers have SLs and VLs goes by the classes of now, not by those with which routes were made.
TEST_F(LayeredClasses, ARestartAfterAClassHasGoneKeepsTheirTables) {
  config_.partition.push_back(test::partition("green", 0x22, {"ALL"}));
  config_.partition.back().sl = 1;
  begin();
  config_.partition.pop_back();
  reload();
  const auto layers_then = decided().service_levels->layers;
  end();
  world_.fabric().counts().clear();
  begin();
  EXPECT_EQ(decided().service_levels->layers, layers_then);
  EXPECT_EQ(vl_sets(), 0U);
}

TEST_F(LayeredClasses, ANewClassTakesFreeSls) {
  begin();
  const auto before = decided().service_levels->sls;
  config_.partition.push_back(test::partition("green", 0x22, {"ALL"}));
  config_.partition.back().sl = 1;
  reload();
  const auto after = decided().service_levels->sls;  // a copy: the next sweep ends that snapshot
  EXPECT_THAT(decided().service_levels->classes, testing::ElementsAre(Sl{0}, Sl{1}, Sl{3}));
  for (const auto& [key, sl] : before)
    EXPECT_EQ(after.at(key), sl) << key.first.value() << " in layer " << key.second;
  const auto found = walk();
  EXPECT_FALSE(credit_loop());
  EXPECT_EQ(found.size(), 3U);

  config_.partition.pop_back();
  reload();
  config_.partition.push_back(test::partition("green", 0x22, {"ALL"}));
  config_.partition.back().sl = 1;
  reload();
  for (const auto& [key, sl] : after) EXPECT_EQ(decided().service_levels->sls.at(key), sl);
}

/// Connections go on on the SLs of a class that is gone. On the VL of one layer they would close a loop.
TEST_F(LayeredClasses, CloseNoCreditLoopOnSlsOfAClassThatIsGone) {
  begin();
  world_.run_for(1min);  // tables of ports in service have been read
  struct Connection {
    const sm::Node* from;
    Lid to;
    Sl sl;
  };
  const auto then = manager_->last().subnet;
  std::vector<Connection> connections;
  for (const auto& from : then->nodes) {
    for (const auto& to : then->nodes) {
      if (from == to || from->is_switch() || to->is_switch()) continue;
      const auto lid = to->ports[1].info.lid;
      connections.push_back({from.get(), lid, sm::path_sl(decided(), Sl{3}, *from, PortNum{1}, lid)});
    }
  }
  config_.partition[1].sl = 0;
  reload();
  ASSERT_THAT(decided().service_levels->classes, testing::ElementsAre(Sl{0}));
  walk();
  std::set<Channel> of_gone;
  for (const auto& one : connections) add(crossed(*one.from, one.to, one.sl), of_gone);
  EXPECT_EQ(vls(of_gone).size(), routes().layers.count);
  EXPECT_FALSE(credit_loop());
  EXPECT_EQ(manager_->lines().count("qos.vls_unproven"), 0U);
}

/// A second class takes every other VL: layers leave their VLs for those that others leave.
TEST_F(LayeredClasses, CloseNoCreditLoopWhileVlsChange) {
  config_.partition[1].sl = 0;
  begin();
  world_.run_for(1min);  // tables of ports in service have been read
  const auto first = vls(walk().at(Sl{0}));
  config_.partition[1].sl = 3;
  (*manager_)->requests().reload(config_);
  auto sets = [&] { return world_.fabric().counts().sets(wire::SlToVl::kAttribute); };
  auto before = sets();
  std::size_t looked = 0, between = 0;
  for (int i = 0; i < 100'000 && looked < 60; ++i) {
    world_.run_for(1us);
    if (sets() == before) continue;
    before = sets();
    waits_.clear();
    const auto now = vls(walk().at(Sl{0}));
    EXPECT_FALSE(credit_loop()) << "after " << before << " Sets";
    ++looked;
    between += now != first ? 1U : 0U;
  }
  EXPECT_GT(looked, 5U);
  EXPECT_GT(between, 2U);
  waits_.clear();
  const auto found = walk();
  EXPECT_NE(vls(found.at(Sl{0})), first);
  EXPECT_FALSE(credit_loop());
  EXPECT_EQ(manager_->lines().count("qos.vls_unproven"), 0U);
}

/// 16 SLs are too few for one class more: the engine stays, and with it the SLs of all others.
TEST_F(LayeredClasses, BeyondTheSlsTakeNoneOfTheLayersInUse) {
  begin();
  const auto layers_then = layers();
  const auto sls_then = decided().service_levels->sls;
  const auto count = routes().layers.count, most = 16 / count;
  // In front of the one that has SLs.
  const auto blue = config_.partition.back();
  config_.partition.pop_back();
  for (unsigned i = 0; i + 1 < most; ++i) {
    const auto sl = static_cast<std::uint8_t>(i == 0 ? 2U : 3U + i);
    config_.partition.push_back(
        test::partition(fmt::format("p{}", sl), static_cast<std::uint16_t>(0x30 + sl), {"ALL"}));
    config_.partition.back().sl = sl;
  }
  config_.partition.push_back(blue);
  reload();

  EXPECT_EQ(routes().engine, "dfsssp");
  EXPECT_EQ(layers(), layers_then);
  const auto& now = *decided().service_levels;
  ASSERT_EQ(now.left_out.size(), 1U);
  EXPECT_EQ(now.classes.size(), most);
  for (const auto& [of, sl] : sls_then) {
    if (of.second < count) EXPECT_EQ(now.sls.at(of), sl) << fmt::format("{}/{}", of.first, of.second);
  }
  EXPECT_EQ(manager_->lines().count("qos.too_few_sls"), 1U);
  EXPECT_EQ(manager_->last().summary.state, sm::SweepState::reduced);
  EXPECT_THAT(manager_->last().summary.why, HasSubstr("1 class has no SLs of its own in "));
  const auto said = manager_->lines().count("qos.service_levels");
  walk();
  EXPECT_FALSE(credit_loop());

  (*manager_)->requests().resweep(sm::Resweep::converge_engine, "test");
  world_.run_for(2min);
  EXPECT_TRUE(decided().service_levels->left_out.empty());
  EXPECT_TRUE(routes().verification.clean());
  EXPECT_EQ(manager_->last().summary.state, sm::SweepState::up) << manager_->last().summary.why;
  EXPECT_GT(manager_->lines().count("qos.service_levels"), said);
}

TEST_F(LayeredClasses, AreGrantedByTheSa) {
  begin();
  const sa::Directory directory((*manager_)->published());
  sa::Registry registry;
  const auto& sls = *decided().service_levels;
  const auto ports = directory.end_ports();
  std::size_t granted = 0;
  const auto ask = [&](const sa::EndPort& from, const sa::EndPort& to, PKey pkey, std::optional<Sl> sl) {
    using Record = wire::PathRecord;
    Record record;
    record.dlid = to.lid;
    record.slid = from.lid;
    record.paths = 1;
    record.pkey = pkey;
    record.sl = sl.value_or(Sl{});
    std::uint64_t mask =
        1U << Record::kDlid | 1U << Record::kSlid | 1U << Record::kPaths | 1U << Record::kPKey;
    if (sl) mask |= 1U << Record::kSl;
    const auto question = test::Question{.attribute = Record::kRecord, .mask = mask}.with(record);
    return test::reply_of(*sa::answer(&directory, registry, {}, question, {.lid = from.lid, .now = 1}));
  };
  for (std::size_t i = 0; i + 1 < ports.size(); i += 3) {
    const auto &from = ports[i], &to = ports[i + 1];
    if (from.node->is_switch() || to.node->is_switch()) continue;
    for (const auto& [pkey, of_class] : {std::pair{PKey{0xFFFF}, Sl{0}}, std::pair{PKey{0x8021}, Sl{3}}}) {
      const auto own = sm::path_sl(decided(), of_class, *from.node, from.port, to.lid);
      const auto reply = ask(from, to, pkey, std::nullopt);
      ASSERT_EQ(reply.records.size(), 1U);
      EXPECT_EQ(reply.get<wire::PathRecord>(0).sl, own);
      const auto layer = sm::layer_of(*decided().routes, *from.node, from.port, to.lid);
      for (std::uint8_t sl = 0; sl < 16; ++sl) {  // of any class, in the layer of the path
        const bool good = sm::class_of(&sls, Sl{sl}, layer).has_value();
        EXPECT_EQ(ask(from, to, pkey, Sl{sl}).records.size(), good ? 1U : 0U) << unsigned{sl};
        granted += good ? 1U : 0U;
      }
    }
  }
  EXPECT_GT(granted, 20U);
}

TEST_F(LayeredClasses, AreExplained) {
  begin();
  const auto found = sm::explain_qos({.subnet = subnet(), .decided = decided()});
  std::ostringstream text;
  sm::print_qos(text, found);
  EXPECT_EQ(found.layers, routes().layers.count);
  EXPECT_THAT(text.str(), HasSubstr("only by PathRecord"));
  const auto back = sm::qos_explanation_of(sm::qos_json(found));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, found);
}

/// 4 classes in 2 or 3 layers, 8 VLs: what does not fit shares the VLs of the first class, layer by layer.
class ManyLayeredClasses : public LayeredClasses {
 protected:
  ManyLayeredClasses() {
    for (const auto sl : std::initializer_list<std::uint8_t>{1, 2, 4}) {
      config_.partition.push_back(
          test::partition(fmt::format("p{}", sl), static_cast<std::uint16_t>(0x30 + sl), {"ALL"}));
      config_.partition.back().sl = sl;
    }
  }
};

TEST_F(ManyLayeredClasses, ShareVlsButNotThoseOfOtherLayers) {
  begin();
  const auto found = walk();
  EXPECT_EQ(found.size(), 5U);
  EXPECT_FALSE(credit_loop());
  EXPECT_EQ(manager_->lines().count("qos.sls_share_vl"), 1U);
}

/// 9 classes leave 16 / 9 = 1 layer: the next engine of the chain routes the fabric.
TEST_F(LayeredClasses, WithoutSlsForLayersTheNextEngineRoutes) {
  for (std::uint8_t sl = 4; sl < 11; ++sl) {
    config_.partition.push_back(
        test::partition(fmt::format("p{}", sl), static_cast<std::uint16_t>(0x30 + sl), {"ALL"}));
    config_.partition.back().sl = sl;
  }
  manager_.emplace(world_, config_, sm::ManagerOptions{}, &*store_);
  group_.emplace(world_.io().get_executor());
  group_->spawn((*manager_)->run());
  world_.run_for(10s);
  EXPECT_EQ(routes().layers.count, 1U);
  EXPECT_EQ(routes().engine, "updn");
  ASSERT_FALSE(routes().fell_back_from.empty());
  EXPECT_THAT(routes().fell_back_from[0].reason, HasSubstr("SLs for each class, and may use 1"));

  // Fewer classes: the tables stay, and what is said of the engine is what was then.
  config_.partition.clear();
  reload();
  EXPECT_EQ(routes().engine, "updn");
  ASSERT_FALSE(routes().fell_back_from.empty());
  EXPECT_THAT(routes().fell_back_from[0].reason,
              testing::EndsWith(
                  ", when there was room for 1 layer; there is for 8 now: smd resweep converge --engine "
                  "tries it again"));
}

}  // namespace
}  // namespace smd
