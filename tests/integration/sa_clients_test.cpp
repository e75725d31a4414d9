// SPDX-License-Identifier: Apache-2.0
// Who is asked to register again, who is taken for gone, and what ports are called beside their own GUIDs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <optional>

#include "mad/wire/sa/records.h"
#include "smd/sa/registry/group_members.h"
#include "tests/support/sa_session.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Question;
using wire::Method;
using Record = wire::McMemberRecord;

const Mgid kIpoibBroadcast = test::mgid("ff12:401b:ffff::ffff:ffff");

/// A manager and its server, which can end and begin again.
class SaClients : public testing::Test {
 protected:
  void begin(store::Store* store, config::SubnetConfig config = {}) {
    served_.emplace(world_, store, sa::Settings{.sm_key = 1}, std::move(config));
  }
  void end() { served_.reset(); }

  const sa::Registry& registry() { return served_->registry(); }
  std::size_t sets_of(std::uint16_t attribute) { return world_.fabric().counts().sets(attribute); }
  std::vector<Guid> asked() { return served_->asked(); }
  Guid port_of(const std::string& name) {
    for (const auto& node : served_->last().subnet->nodes) {
      if (node->description == name) return node->ports[1].guid;
    }
    return {};
  }
  /// What a client on that host sends to the SA, and the answer.
  test::Reply send(const std::string& host, const std::vector<std::uint8_t>& mad) {
    auto transport = world_.transport(sim::Place{host, PortNum{1}}, sim::Interface::gsi);
    std::vector<std::uint8_t> came;
    transport->on_receive([&](std::span<mad::Received> batch) {
      for (auto& one : batch) came = one.bytes;
    });
    EXPECT_TRUE(transport->send(mad, served_->address(), 1000ms));
    world_.run_for(100ms);
    transport->on_receive(nullptr);
    return came.empty() ? test::Reply{.status = 0xFFFF, .method = {}, .record_bytes = 0, .records = {}}
                        : test::reply_of(came);
  }
  test::Reply join(const std::string& host, std::optional<Guid> as = {}) {
    return send(host, test::membership(Method::set, kIpoibBroadcast,
                                       Gid::of(kDefaultSubnetPrefix, as.value_or(port_of(host)))));
  }
  bool is_member(Guid port) { return registry().members().contains({kIpoibBroadcast, port}); }

  base::Fabric fabric_ = test::spec("ft2:4");
  sim::World world_{fabric_};
  store::MemoryStore store_;
  std::optional<test::Served> served_;
};

TEST_F(SaClients, AreAskedToRegisterAgainWhereNobodyKnowsWhatTheyHad) {
  begin(&store_);
  const auto all = asked();
  EXPECT_GE(all.size(), 8U);
  EXPECT_EQ(registry().clients().size(), all.size());
  end();

  begin(&store_);  // with all that is known
  EXPECT_EQ(asked().size(), 0U);
  end();

  begin(nullptr);
  EXPECT_EQ(asked().size(), all.size());
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(2s);
  EXPECT_EQ(asked().size(), 0U) << "once";
}

TEST_F(SaClients, APortThatComesBackIsAskedAlone) {
  begin(&store_);
  asked();
  world_.fabric().faults().link_down({"h00005", PortNum{1}});
  world_.run_for(2s);
  EXPECT_EQ(asked().size(), 0U);
  const auto clients = registry().clients().size();

  world_.fabric().faults().link_up({"h00005", PortNum{1}});
  world_.run_for(3s);

  EXPECT_THAT(asked(), testing::ElementsAre(port_of("h00005")));
  EXPECT_EQ(registry().clients().size(), clients + 1);

  world_.fabric().faults().reboot("h00006");  // too short for anybody to miss it
  world_.run_for(3s);
  EXPECT_THAT(asked(), testing::ElementsAre(port_of("h00006")));
}

TEST_F(SaClients, WhoIsSilentStaysForAGraceAndWhoseLinkIsDownHasLeft) {
  begin(&store_);
  const auto silent = port_of("h00003"), cut = port_of("h00004");
  ASSERT_EQ(join("h00003").status, 0);
  ASSERT_EQ(join("h00004").status, 0);
  asked();

  world_.fabric().faults().silent("h00003");
  world_.fabric().faults().link_down({"h00004", PortNum{1}});
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(20s);
  EXPECT_TRUE(is_member(silent));
  EXPECT_FALSE(is_member(cut));

  world_.fabric().faults().silent("h00003", false);
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(20s);
  EXPECT_TRUE(is_member(silent));
  EXPECT_EQ(asked().size(), 0U) << "it has lost nothing";

  world_.fabric().faults().silent("h00003");
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(std::chrono::seconds(sa::Settings{}.keep_silent + 60));
  EXPECT_FALSE(is_member(silent));
  EXPECT_FALSE(registry().clients().contains(silent));
}

TEST_F(SaClients, HostsOfASilentSwitchStayToo) {
  begin(&store_);
  ASSERT_EQ(join("h00007").status, 0);
  const auto member = port_of("h00007");
  std::string leaf;
  for (const auto& node : served_->last().subnet->nodes) {
    if (node->description != "h00007") continue;
    leaf = served_->last().subnet->find(node->ports[1].peer->node)->description;
  }
  world_.fabric().faults().silent(leaf);
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(20s);

  EXPECT_EQ(port_of("h00007"), Guid{}) << "nobody can see it";
  EXPECT_TRUE(is_member(member));
}

/// A cable near the SM is out: of what is behind it nothing is known.
TEST_F(SaClients, KeepWhatTheyRegisteredWhileTheSmIsCutOff) {
  begin(&store_);
  for (const auto* host : {"h00003", "h00005", "h00007"}) ASSERT_EQ(join(host).status, 0);
  world_.run_for(2s);
  asked();
  const auto members = registry().members().size(), clients = registry().clients().size();
  ASSERT_EQ(members, 3U);
  world_.fabric().counts().clear();

  world_.fabric().faults().link_down({"h00000", PortNum{1}});
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(8s);
  ASSERT_EQ(port_of("h00003"), Guid{}) << "nobody can see it";
  world_.fabric().faults().link_up({"h00000", PortNum{1}});
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(5s);

  EXPECT_EQ(registry().members().size(), members);
  EXPECT_EQ(registry().clients().size(), clients);
  EXPECT_TRUE(registry().groups().contains(kIpoibBroadcast));
  const auto asked_ports = asked();
  EXPECT_EQ(std::set<Guid>(asked_ports.begin(), asked_ports.end()).size(), 1U)
      << "the SM's own port alone was down";
  EXPECT_EQ(sets_of(wire::MulticastForwardingTable::kAttribute), 0U);
}

/// Not for ever: hosts that go with their switch are gone after the grace.
TEST_F(SaClients, HostsBehindACutAreGoneAfterTheGrace) {
  begin(&store_);
  ASSERT_EQ(join("h00007").status, 0);
  const auto member = port_of("h00007");
  std::string leaf;
  for (const auto& node : served_->last().subnet->nodes) {
    if (node->description == "h00007")
      leaf = served_->last().subnet->find(node->ports[1].peer->node)->description;
  }
  world_.fabric().faults().remove(leaf);
  world_.run_for(20s);
  EXPECT_EQ(port_of("h00007"), Guid{});
  EXPECT_TRUE(is_member(member));

  world_.run_for(std::chrono::seconds(sa::Settings{}.keep_silent));
  EXPECT_FALSE(is_member(member));
}

TEST_F(SaClients, TheFirstQuestionAfterAJoinSeesItsTree) {
  begin(&store_);
  ASSERT_EQ(join("h00003").status, 0);
  ASSERT_EQ(join("h00007").status, 0);
  world_.run_for(1s);

  const auto tables =
      send("h00003", Question{.attribute = wire::MftRecordId::kRecord}.with(wire::MftRecordId{}));

  std::size_t members = 0;
  for (std::size_t i = 0; i < tables.records.size(); ++i) {
    const auto block = tables.get<wire::MulticastForwardingTable>(i, wire::MftRecordId::kAttributeAt);
    for (const auto mask : block.masks) members += static_cast<std::size_t>(std::popcount(mask));
  }
  EXPECT_GE(members, 4U) << "two hosts and the ways between their leaves";
}

TEST_F(SaClients, ANodesOwnDescriptionIsShownWhateverTheMapOfNamesSays) {
  begin(&store_);
  Guid node{};
  for (const auto& one : served_->last().subnet->nodes) {
    if (one->description == "h00003") node = one->guid();
  }
  end();
  config::SubnetConfig config;
  config.names.nodes.emplace(node, "rack 7");
  begin(&store_, config);
  ASSERT_NE(port_of("rack 7"), Guid{});

  const auto lid = served_->last().subnet->find(node)->ports[1].info.lid;
  using Id = wire::NodeRecordId;
  const auto reply = send("h00004", Question{.attribute = Id::kRecord, .mask = 1}.with(Id{.lid = lid}));

  ASSERT_EQ(reply.records.size(), 1U);
  EXPECT_EQ(reply.get<wire::NodeDescription>(0, Id::kDescriptionAt).text, "h00003");
}

class SaAliases : public SaClients {
 protected:
  using Id = wire::GuidInfoRecordId;
  test::Reply change(const std::string& host, Method method, std::uint64_t places,
                     const wire::GuidInfo& guids = {}, std::uint8_t block = 0) {
    const auto* node = find(host);
    const Id id{.lid = node->ports[1].info.lid, .block = block};
    return send(host, Question{.method = method, .attribute = Id::kRecord, .mask = 3U | places << 4U}.with(
                          id, guids));
  }
  const sm::Node* find(const std::string& name) {
    for (const auto& node : served_->last().subnet->nodes) {
      if (node->description == name) return node.get();
    }
    return nullptr;
  }
  static wire::GuidInfo guids_of(const test::Reply& reply) {
    return reply.get<wire::GuidInfo>(0, Id::kAttributeAt);
  }
};

TEST_F(SaAliases, AreRegisteredWrittenToThePortAndKept) {
  begin(&store_);
  world_.fabric().counts().clear();
  wire::GuidInfo wanted;
  wanted.guids[1] = Guid{0x1234};

  const auto reply = change("h00003", Method::set, 0b110, wanted);  // the second is left to us

  ASSERT_EQ(reply.status, 0);
  const auto has = guids_of(reply);
  EXPECT_EQ(has.guids[0], port_of("h00003"));
  EXPECT_EQ(has.guids[1], Guid{0x1234});
  EXPECT_EQ(has.guids[2].value() >> 40U, 0x001405U);
  EXPECT_EQ(sets_of(wire::GuidInfo::kAttribute), 16U);  // 128 GUIDs
  EXPECT_TRUE(*store_.registry() == registry());

  // Asked for anew without a GUID it stays; by another port it is refused.
  EXPECT_EQ(guids_of(change("h00003", Method::set, 0b100)).guids[2], has.guids[2]);
  wire::GuidInfo some = wanted;
  some.guids[2] = Guid{0x5678};
  const auto other = guids_of(change("h00004", Method::set, 0b110, some));
  EXPECT_EQ(other.guids[1], Guid{}) << "somebody has it";
  EXPECT_EQ(other.guids[2], Guid{0x5678});
  change("h00004", Method::remove, 0b110);
  EXPECT_NE(change("h00003", Method::set, 0b001, wanted).status, 0);

  end();
  world_.fabric().counts().clear();
  begin(&store_);
  EXPECT_EQ(sets_of(wire::GuidInfo::kAttribute), 16U);  // a new process cannot know what the port kept
  EXPECT_EQ(guids_of(change("h00003", Method::remove, 0b010)).guids[1], Guid{});
  EXPECT_EQ(registry().aliases().size(), 1U);
}

TEST_F(SaAliases, AGuidOfAllOnesIsNone) {
  begin(&store_);
  wire::GuidInfo wanted;
  wanted.guids[1] = Guid{~std::uint64_t{0}};

  auto reply = change("h00003", Method::set, 0b010, wanted);
  EXPECT_EQ(reply.status, 0);
  EXPECT_EQ(guids_of(reply).guids[1], Guid{});
  EXPECT_EQ(registry().aliases().size(), 0U);

  wire::GuidInfo some;
  some.guids[1] = Guid{0x1234};
  change("h00003", Method::set, 0b010, some);
  reply = change("h00003", Method::set, 0b010, wanted);
  EXPECT_EQ(guids_of(reply).guids[1], Guid{0x1234}) << "what it had";
}

/// A virtual machine is started anew on another host when its own is gone.
TEST_F(SaAliases, OfAPortThatHasLeftAreForWhoAsks) {
  begin(&store_);
  wire::GuidInfo wanted;
  wanted.guids[1] = Guid{0x1234};
  ASSERT_EQ(guids_of(change("h00003", Method::set, 0b010, wanted)).guids[1], Guid{0x1234});
  const auto before = port_of("h00003");

  world_.fabric().faults().silent("h00003");
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(20s);
  EXPECT_EQ(guids_of(change("h00004", Method::set, 0b010, wanted)).guids[1], Guid{}) << "it may be there";

  world_.fabric().faults().link_down({"h00003", PortNum{1}});
  served_->manager().requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(20s);
  EXPECT_EQ(guids_of(change("h00004", Method::set, 0b010, wanted)).guids[1], Guid{0x1234});
  EXPECT_EQ(registry().port_of(Guid{0x1234}), port_of("h00004"));
  EXPECT_EQ(registry().aliases().size(), 1U);
  EXPECT_NE(registry().port_of(Guid{0x1234}), before);
}

TEST_F(SaAliases, ThePortIsFoundByThemAndJoinsByThem) {
  begin(&store_);
  const Guid alias = guids_of(change("h00003", Method::set, 0b010)).guids[1];
  const auto gid = Gid::of(kDefaultSubnetPrefix, alias);
  using Path = wire::PathRecord;
  const auto path =
      send("h00004", Question{.method = Method::get,
                              .attribute = Path::kRecord,
                              .mask = 1U << Path::kSgid | 1U << Path::kDgid}
                         .with(Path{.dgid = gid, .sgid = Gid::of(kDefaultSubnetPrefix, port_of("h00004"))}));
  ASSERT_EQ(path.status, 0);
  EXPECT_EQ(path.get<Path>(0).dgid, gid);
  EXPECT_EQ(path.get<Path>(0).dlid, find("h00003")->ports[1].info.lid);

  ASSERT_EQ(join("h00003", alias).status, 0);
  EXPECT_TRUE(is_member(alias));
  const auto groups = sa::group_members(registry());
  EXPECT_EQ(groups->at(0).members.at(0).port, port_of("h00003"));
  world_.run_for(1s);
  EXPECT_TRUE(is_member(alias));

  change("h00003", Method::remove, 0b010);
  EXPECT_FALSE(is_member(alias));
}

}  // namespace
}  // namespace smd
