// SPDX-License-Identifier: Apache-2.0
// Who is asked to register again, who is taken for gone, and what ports are called beside their own GUIDs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "mad/wire/sa/records.h"
#include "smd/sa/registry/wish.h"
#include "smd/sa/server.h"
#include "tests/support/sa_session.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Question;
using wire::Method;
using Record = wire::McMemberRecord;

const Mgid kBroadcast = test::mgid("ff12:401b:ffff::ffff:ffff");

/// A manager and its server, which can end and begin again.
class SaClients : public testing::Test {
 protected:
  void begin(store::Store* store) {
    sm::ManagerOptions options;
    options.on_sweep = [this](const sm::Snapshot& snapshot) {
      if (server_) server_->refresh(snapshot.came_up);
    };
    options.on_reregistered = [this](const std::vector<Guid>& ports) {
      asked_.insert(asked_.end(), ports.begin(), ports.end());
      server_->asked(ports);
    };
    registry_.emplace();
    manager_ = std::make_unique<test::Managed>(world_, config::SubnetConfig{}, options, store);
    gsi_ = world_.transport(sim::Interface::gsi);
    server_ = std::make_unique<sa::Server>(
        sa::ServerParts{
            .executor = world_.io().get_executor(),
            .gsi = *gsi_,
            .compute = compute_,
            .source = [this] { return (*manager_)->published(); },
            .registry = *registry_,
            .store = store,
            .log = {},
            .clock = world_.clock(),
            .wall = [this] { return world_.now().time_since_epoch() / 1s; },
            .on_multicast =
                [this] { (*manager_)->set_groups([this] { return sa::wish_of(*registry_->get()); }); },
            .on_reregister = [this](std::vector<Guid> ports) { (*manager_)->reregister(std::move(ports)); },
            .on_guids =
                [this](std::vector<sm::GuidBlock> blocks) { (*manager_)->set_guids(std::move(blocks)); }},
        settings_);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*manager_)->run());
    world_.run_for(2s);
  }
  void end() {
    world_.run(group_->stop());
    world_.run(server_->stop());
    server_.reset();
    manager_.reset();
    gsi_.reset();
  }
  ~SaClients() override {
    if (server_) end();
  }

  const sa::Registry& registry() { return *registry_->get(); }
  std::size_t sets_of(std::uint16_t attribute) { return world_.fabric().counts().sets(attribute); }
  std::vector<Guid> asked() { return std::exchange(asked_, {}); }
  Guid port_of(const std::string& name) {
    for (const auto& node : manager_->last().subnet->nodes) {
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
    const mad::LidRoute to{.lid = manager_->last().decided.lids->sm_lid, .qp = 1, .qkey = 0x80010000};
    EXPECT_TRUE(transport->send(mad, to, 1000ms));
    world_.run_for(100ms);
    transport->on_receive(nullptr);
    return came.empty() ? test::Reply{.status = 0xFFFF, .method = {}, .record_bytes = 0, .records = {}}
                        : test::reply_of(came);
  }
  test::Reply join(const std::string& host, std::optional<Guid> as = {}) {
    Record record;
    record.mgid = kBroadcast;
    record.port_gid = Gid::of(kDefaultSubnetPrefix, as.value_or(port_of(host)));
    record.join_state = wire::kFullMember;
    const auto mask = 1U << Record::kMgid | 1U << Record::kPortGid | 1U << Record::kJoinState;
    return send(host,
                Question{.method = Method::set, .attribute = Record::kRecord, .mask = mask}.with(record));
  }
  bool is_member(Guid port) { return registry().members().contains({kBroadcast, port}); }

  base::Fabric fabric_ = test::spec("ft2:4");
  sim::World world_{fabric_};
  sm::InlineCompute compute_;
  sa::Settings settings_{.sm_key = 1};
  store::MemoryStore store_;
  std::optional<sm::Published<sa::Registry>> registry_;
  std::unique_ptr<test::Managed> manager_;
  std::unique_ptr<sim::Transport> gsi_;
  std::unique_ptr<sa::Server> server_;
  std::vector<Guid> asked_;
  std::optional<mad::TaskGroup> group_;
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
  (*manager_)->resweep(sm::Resweep::heavy, "test");
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
  (*manager_)->resweep(sm::Resweep::heavy, "test");
  world_.run_for(20s);
  EXPECT_TRUE(is_member(silent));
  EXPECT_FALSE(is_member(cut));

  world_.fabric().faults().silent("h00003", false);
  (*manager_)->resweep(sm::Resweep::heavy, "test");
  world_.run_for(20s);
  EXPECT_TRUE(is_member(silent));
  EXPECT_EQ(asked().size(), 0U) << "it has lost nothing";

  world_.fabric().faults().silent("h00003");
  (*manager_)->resweep(sm::Resweep::heavy, "test");
  world_.run_for(std::chrono::seconds(settings_.silent_grace + 60));
  EXPECT_FALSE(is_member(silent));
  EXPECT_FALSE(registry().clients().contains(silent));
}

TEST_F(SaClients, HostsOfASilentSwitchStayToo) {
  begin(&store_);
  ASSERT_EQ(join("h00007").status, 0);
  const auto member = port_of("h00007");
  std::string leaf;
  for (const auto& node : manager_->last().subnet->nodes) {
    if (node->description != "h00007") continue;
    leaf = manager_->last().subnet->find(node->ports[1].peer->node)->description;
  }
  world_.fabric().faults().silent(leaf);
  (*manager_)->resweep(sm::Resweep::heavy, "test");
  world_.run_for(20s);

  EXPECT_EQ(port_of("h00007"), Guid{}) << "nobody can see it";
  EXPECT_TRUE(is_member(member));
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
    for (const auto& node : manager_->last().subnet->nodes) {
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
  EXPECT_NE(change("h00004", Method::set, 0b010, wanted).status, 0);
  EXPECT_NE(change("h00003", Method::set, 0b001, wanted).status, 0);

  end();
  world_.fabric().counts().clear();
  begin(&store_);
  EXPECT_EQ(sets_of(wire::GuidInfo::kAttribute), 16U);  // a new process cannot know what the port kept
  EXPECT_EQ(guids_of(change("h00003", Method::remove, 0b010)).guids[1], Guid{});
  EXPECT_EQ(registry().aliases().size(), 1U);
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
  const auto wish = sa::wish_of(registry());
  EXPECT_EQ(wish->at(0).members.at(0).port, port_of("h00003"));
  world_.run_for(1s);
  EXPECT_TRUE(is_member(alias));

  change("h00003", Method::remove, 0b010);
  EXPECT_FALSE(is_member(alias));
}

}  // namespace
}  // namespace smd
