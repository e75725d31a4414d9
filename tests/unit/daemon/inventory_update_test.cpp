// SPDX-License-Identifier: Apache-2.0
// Pairs of Subnets: what came, what went, what belongs together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/inventory/flaps.h"
#include "smd/inventory/gone.h"
#include "smd/inventory/update.h"
#include "smd/report/changes.h"
#include "tests/support/dual_fabric.h"
#include "tests/support/offline.h"

namespace smd::sm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A fabric that is edited, and the updated that was taken of it.
class Lab {
 public:
  explicit Lab(std::string_view spec = "ft2:4") : Lab(test::settle_spec(spec).subnet) {}
  explicit Lab(Subnet subnet) : now_(std::move(subnet)) { take(); }

  const Subnet& now() const { return now_; }
  const Inventory& known() const { return known_; }
  Guid guid(std::string_view name) const {
    for (const auto& node : known_.nodes()) {
      if (node.second.name == name) return node.first;
    }
    throw std::runtime_error(std::string(name));
  }
  LinkEnd end(std::string_view name, unsigned port) const {
    return {guid(name), PortNum{static_cast<std::uint8_t>(port)}};
  }

  /// The node as it may be changed.
  Node& edit(Guid node) {
    auto copy = std::make_shared<Node>(*now_.find(node));
    auto& edited = *copy;
    now_.nodes[*now_.index_of(node)] = std::move(copy);
    return edited;
  }
  Node& edit(std::string_view name) { return edit(guid(name)); }

  void cut(std::string_view name, unsigned port) {
    auto& here = edit(name).ports[port];
    const auto peer = *here.peer;
    here.info.port_state = PortState::down;
    here.info.phys_state = PhysState::polling;
    here.peer.reset();
    if (now_.find(peer.node) == nullptr) return;
    auto& there = edit(peer.node).ports[peer.port.value()];
    there.info.port_state = PortState::down;
    there.peer.reset();
  }
  void mend(std::string_view name, unsigned port) {
    const auto& link = *known_.find(end(name, port));
    join(end(name, port), link.peer);
  }
  void join(const LinkEnd& a, const LinkEnd& b) {
    for (const auto& [here, there] : {std::pair{a, b}, std::pair{b, a}}) {
      auto& port = edit(here.node).ports[here.port.value()];
      port.info.port_state = PortState::active;
      port.peer = PeerPort{there.node, there.port};
      port.known = true;
    }
  }
  /// Without its links: powered off.
  NodePtr remove(std::string_view name) {
    const auto node = now_.nodes[*now_.index_of(guid(name))];
    for (unsigned p = 1; p < node->ports.size(); ++p) {
      if (node->ports[p].peer && now_.find(node->ports[p].peer->node) != nullptr) cut(name, p);
    }
    drop(name);
    return node;
  }
  /// Out of the sweep's sight, its links as they were.
  void drop(std::string_view name) {
    now_.nodes.erase(now_.nodes.begin() + static_cast<std::ptrdiff_t>(*now_.index_of(guid(name))));
  }
  void restore(const NodePtr& node) {
    const auto at = std::ranges::lower_bound(now_.nodes, node->guid(), {}, &Node::guid);
    now_.nodes.insert(at, node);
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& peer = node->ports[p].peer;
      if (peer && now_.find(peer->node) != nullptr)
        join({node->guid(), PortNum{static_cast<std::uint8_t>(p)}}, {peer->node, peer->port});
    }
  }

  Changes take(bool restarted = false) {
    time_ += 10;
    const auto before = std::exchange(before_, std::make_shared<const Subnet>(now_));
    const auto* old = restarted ? nullptr : before.get();
    const auto found = restarts(known_, old, now_);
    auto updated =
        update_inventory({.known = known_, .before = old, .now = *before_, .restarts = found, .time = time_});
    known_ = std::move(updated.after);
    return updated.changes;
  }
  UnixTime time() const { return time_; }

 private:
  Subnet now_;
  std::shared_ptr<const Subnet> before_;
  Inventory known_;
  UnixTime time_ = 1000;
};

MATCHER_P(IsNode, guid, "") { return arg.node == guid; }
MATCHER_P(IsLink, end, "") { return arg.end == end; }

TEST(InventoryUpdate, OfTheFirstSweepNothingIsNew) {
  Lab lab;

  EXPECT_TRUE(lab.take().empty());
  EXPECT_TRUE(lab.take(true).empty()) << "nor after a restart of smd";
  EXPECT_EQ(lab.known().nodes().size(), 14U);
  EXPECT_EQ(lab.known().hosts(), 8U);
  EXPECT_TRUE(lab.known().lost().none());
  EXPECT_EQ(lab.known().complete_at(), 1010);
}

TEST(InventoryUpdate, ACutCableIsOneLinkWithBothEndsItsRateAndItsAge) {
  Lab lab;
  lab.cut("leaf000", 3);

  const auto changes = lab.take();

  ASSERT_THAT(changes.down, ElementsAre(IsLink(lab.end("leaf000", 3))));
  EXPECT_EQ(changes.down[0].peer, lab.end("spine000", 1));
  EXPECT_EQ(to_string(changes.down[0].rate), "4x HDR");
  EXPECT_EQ(changes.down[0].since, 1010);
  EXPECT_EQ(changes.down[0].phys, PhysState::polling);
  EXPECT_THAT(changes.gone, IsEmpty());
  EXPECT_EQ(lab.known().lost(), (Inventory::Counts{.links = 1, .switch_links = 1}));
  EXPECT_EQ(lab.known().complete_at(), lab.time());

  lab.mend("leaf000", 3);
  const auto mended = lab.take();
  ASSERT_THAT(mended.up, ElementsAre(IsLink(lab.end("leaf000", 3))));
  EXPECT_EQ(mended.up[0].since, 1020);
  EXPECT_TRUE(lab.known().lost().none());
}

TEST(InventoryUpdate, AHostThatWentIsNamedWithThePortThatLedToIt) {
  Lab lab;
  const auto host = lab.remove("h00002");

  const auto changes = lab.take();

  ASSERT_THAT(changes.gone, ElementsAre(IsNode(lab.guid("h00002"))));
  EXPECT_EQ(changes.gone[0].behind, lab.end("leaf001", 1));
  EXPECT_THAT(changes.down, ElementsAre(IsLink(lab.end("leaf001", 1))));
  EXPECT_EQ(lab.known().lost(), (Inventory::Counts{.hosts = 1, .links = 1}));

  lab.restore(host);
  const auto back = lab.take();
  EXPECT_THAT(back.fresh, ElementsAre(IsNode(lab.guid("h00002"))));
  EXPECT_THAT(back.rebooted, IsEmpty()) << "it has kept its LID";
  EXPECT_EQ(back.fresh[0].since, 1020);
}

TEST(InventoryUpdate, ANameIsKeptWithItsControlCharacters) {
  Lab lab;
  auto& host = lab.edit("h00002");
  const auto guid = host.guid();
  host.description = "h\x1b[31m";
  host.name(printable(host.description));
  lab.edit("h00003").name("rack 7");
  lab.take();
  EXPECT_EQ(lab.known().find(guid)->name, "h\x1b[31m");
  lab.remove("h\x1b[31m");

  const auto changes = lab.take();

  ASSERT_THAT(changes.gone, ElementsAre(IsNode(guid)));
  EXPECT_EQ(changes.gone[0].name, "h\x1b[31m");
  EXPECT_NO_THROW(lab.guid("rack 7")) << "of the map of names";
}

TEST(InventoryUpdate, AHostWithoutItsLidHasRebootedWhetherItWasMissedOrNot) {
  Lab lab;
  const auto host = lab.remove("h00002");
  lab.take();
  lab.restore(host);
  lab.edit("h00002").ports[1].info.lid = Lid{};
  lab.edit("h00005").ports[1].info.lid = Lid{};

  const auto changes = lab.take();

  EXPECT_THAT(changes.rebooted, ElementsAre(IsNode(lab.guid("h00002")), IsNode(lab.guid("h00005"))));
  EXPECT_EQ(changes.rebooted[0].since, 1020);
  EXPECT_EQ(changes.rebooted[1].since, 0);
  EXPECT_THAT(changes.fresh, IsEmpty());
}

TEST(InventoryUpdate, ADeadLeafIsOneNodeWithItsHosts) {
  Lab lab;
  const auto leaf = lab.remove("leaf001");
  const std::vector hosts{lab.guid("h00002"), lab.guid("h00003")};
  lab.drop("h00002");
  lab.drop("h00003");

  const auto changes = lab.take();

  ASSERT_THAT(changes.gone, ElementsAre(IsNode(lab.guid("leaf001"))));
  EXPECT_EQ(changes.gone[0].hosts, hosts);
  EXPECT_EQ(changes.gone[0].links, 4U);
  EXPECT_THAT(changes.down, IsEmpty());
  EXPECT_EQ(lab.known().lost(),
            (Inventory::Counts{.switches = 1, .hosts = 2, .links = 4, .switch_links = 2}));
}

/// The port that such a host has there is read over the link to the dead leaf, so that no sweep reads it.
TEST(InventoryUpdate, ADeadLeafIsGoneThoughAHostOfItIsReachedByAnotherOne) {
  Lab lab(test::settle_text(test::kDualFabric).subnet);
  lab.remove("leafB");
  lab.edit("d1").ports[2] = {};
  lab.drop("h2");

  const auto changes = lab.take();

  ASSERT_THAT(changes.gone, ElementsAre(IsNode(lab.guid("leafB"))));
  EXPECT_THAT(changes.gone[0].hosts, ElementsAre(lab.guid("h2")));
  EXPECT_EQ(lab.known().lost(),
            (Inventory::Counts{.switches = 1, .hosts = 1, .links = 4, .switch_links = 2}));
}

TEST(InventoryUpdate, WhatLiesBehindASilentLeafIsNotGone) {
  Lab lab;
  for (const auto* name : {"leaf001", "h00002", "h00003"}) lab.drop(name);

  const auto changes = lab.take();

  EXPECT_TRUE(changes.empty());
  EXPECT_TRUE(lab.known().lost().none());
  EXPECT_THAT(hosts_behind(lab.known(), lab.guid("leaf001"), lab.now()),
              ElementsAre(lab.guid("h00002"), lab.guid("h00003")));

  // Its power goes off later.
  lab.cut("spine000", 2);
  EXPECT_THAT(lab.take().down, SizeIs(1));
  lab.cut("spine001", 2);
  const auto dead = lab.take();
  ASSERT_THAT(dead.gone, ElementsAre(IsNode(lab.guid("leaf001"))));
  EXPECT_THAT(dead.gone[0].hosts, SizeIs(2));
}

TEST(InventoryUpdate, WhatWentWhileSmdWasNotRunningIsTold) {
  Lab lab;
  lab.remove("h00002");
  lab.cut("leaf000", 3);

  const auto changes = lab.take(true);

  EXPECT_THAT(changes.gone, ElementsAre(IsNode(lab.guid("h00002"))));
  EXPECT_THAT(changes.down, SizeIs(2));
}

TEST(InventoryUpdate, AReplacedHostIsForgotten) {
  Lab lab;
  const auto host = lab.remove("h00002");
  lab.take();
  auto other = std::make_shared<Node>(*host);
  other->info.node = Guid{0x77};
  other->info.port = other->ports[1].guid = Guid{0x78};
  other->name("h00099");
  lab.restore(other);

  const auto changes = lab.take();

  EXPECT_THAT(changes.fresh, ElementsAre(IsNode(Guid{0x77})));
  EXPECT_TRUE(lab.known().lost().none());
  EXPECT_EQ(lab.known().find(host->guid()), nullptr);
}

TEST(InventoryUpdate, AMovedCableIsOneLinkLessAndOneMore) {
  Lab lab;
  const auto spine = lab.end("spine000", 1), leaf = lab.end("leaf000", 3);
  lab.cut("leaf000", 4);
  lab.take();
  lab.cut("leaf000", 3);
  lab.join({leaf.node, PortNum{4}}, spine);

  const auto changes = lab.take();

  EXPECT_THAT(changes.down, ElementsAre(IsLink(leaf)));
  EXPECT_THAT(changes.up, ElementsAre(IsLink(lab.end("leaf000", 4))));
  EXPECT_EQ(lab.known().lost().links, 0U) << "the other end of each is in use";
}

TEST(InventoryUpdate, ALinkThatWentDownAndUpBetweenTwoLooksIsSeen) {
  Lab lab;
  for (const auto& [name, port] : {std::pair{"leaf000", 3U}, std::pair{"spine000", 1U}})
    lab.edit(name).ports[port].info.port_state = PortState::init;

  const auto changes = lab.take();

  ASSERT_THAT(changes.up, ElementsAre(IsLink(lab.end("leaf000", 3))));
  EXPECT_TRUE(changes.up[0].bounced);
}

TEST(InventoryUpdate, ANarrowLinkIsToldOnceAndAfterARestart) {
  Lab lab;
  for (const auto& [name, port] : {std::pair{"leaf000", 3U}, std::pair{"spine000", 1U}})
    lab.edit(name).ports[port].info.link_width_active = 1;

  const auto changes = lab.take();

  ASSERT_THAT(changes.degraded, ElementsAre(IsLink(lab.end("leaf000", 3))));
  EXPECT_EQ(to_string(changes.degraded[0].rate), "1x HDR");
  EXPECT_EQ(to_string(changes.degraded[0].best), "4x HDR");
  lab.edit("leaf000").ports[1].info.lid = Lid{};
  EXPECT_THAT(lab.take().degraded, IsEmpty());
  EXPECT_THAT(lab.take(true).degraded, SizeIs(1));
}

TEST(InventoryUpdate, OfOurOwnPortsCutNothingElseIsSaid) {
  Lab lab;
  lab.cut("h00000", 1);
  for (const auto& node : std::vector(lab.now().nodes)) {
    if (node->description != "h00000") lab.drop(node->description);
  }

  const auto changes = lab.take();

  EXPECT_TRUE(changes.cut_off);
  EXPECT_THAT(changes.down, SizeIs(1));
  EXPECT_THAT(changes.gone, IsEmpty());
  EXPECT_EQ(lab.known().lost(), (Inventory::Counts{.links = 1}));
}

TEST(InventoryUpdate, WhatIsAcceptedIsNotLost) {
  Lab lab;
  lab.remove("leaf001");
  lab.drop("h00002");
  lab.drop("h00003");
  lab.cut("leaf000", 3);
  lab.remove("h00004");
  lab.take();
  auto known = lab.known();

  EXPECT_EQ(accept_lost(known, lab.guid("leaf001")),
            (Inventory::Counts{.switches = 1, .hosts = 2, .links = 4, .switch_links = 2}));
  EXPECT_EQ(accept_lost(known, lab.guid("leaf000")), (Inventory::Counts{.links = 1, .switch_links = 1}));
  EXPECT_EQ(known.lost(), (Inventory::Counts{.hosts = 1, .links = 1}));
  EXPECT_EQ(accept_lost(known, Guid{}), (Inventory::Counts{.hosts = 1, .links = 1}));
  EXPECT_TRUE(known.lost().none());
  EXPECT_EQ(known.nodes().size(), 10U);
}

TEST(Flaps, AfterFiveTimesInAMinuteALinkIsOneLineUntilItIsQuiet) {
  Lab lab;
  Flaps flaps;
  mad::TimePoint now{};
  std::size_t told = 0, flapping = 0;
  for (int i = 0; i < 20; ++i) {
    lab.cut("leaf000", 3);
    auto down = lab.take();
    flapping += flaps.sift(down, now).size();
    lab.mend("leaf000", 3);
    auto up = lab.take();
    flapping += flaps.sift(up, now += std::chrono::seconds(2)).size();
    told += down.down.size() + up.up.size();
  }

  EXPECT_EQ(told, 8U) << "four times down and up";
  EXPECT_EQ(flapping, 1U);
  EXPECT_TRUE(flaps.quiet(now + std::chrono::seconds(50)).empty());
  const auto quiet = flaps.quiet(now + std::chrono::seconds(61));
  EXPECT_THAT(quiet.up, SizeIs(1));
  EXPECT_THAT(quiet.down, IsEmpty());
  EXPECT_TRUE(flaps.empty());
}

TEST(Durations, HaveTheTwoLargestUnits) {
  EXPECT_EQ(duration_text(0), "0s");
  EXPECT_EQ(duration_text(59), "59s");
  EXPECT_EQ(duration_text(60), "1m");
  EXPECT_EQ(duration_text(3'661), "1h 1m");
  EXPECT_EQ(duration_text(12 * 86'400 + 3 * 3'600 + 59), "12d 3h");
  EXPECT_EQ(duration_text(-5), "0s");
}

}  // namespace
}  // namespace smd::sm
