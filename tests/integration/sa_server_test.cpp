// SPDX-License-Identifier: Apache-2.0
// A manager and subnet administration together: clients of the fabric register, switches are told,
// subscribers hear of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include "mad/wire/notice.h"
#include "mad/wire/sa/records.h"
#include "smd/sa/registry/subscriptions.h"
#include "tests/support/fake_gsi.h"
#include "tests/support/sa_session.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Question;
using wire::Method;
using Record = wire::McMemberRecord;

const Mgid kBroadcastGroup = test::mgid("ff12:401b:ffff::ffff:ffff");

/// A client on a port: what it sends, what comes.
struct Client {
  std::unique_ptr<sim::Transport> transport;
  std::vector<std::vector<std::uint8_t>> came;
  bool answers_reports = true;
};

class SaServer : public testing::Test {
 protected:
  const sm::Snapshot& snapshot() { return served_.last(); }
  Client& client(const std::string& name) {
    auto& client = clients_.emplace_back(std::make_unique<Client>());
    client->transport = world_.transport(sim::Place{name, PortNum{1}}, sim::Interface::gsi);
    auto* one = client.get();
    client->transport->on_receive([this, one](std::span<mad::Received> batch) {
      for (auto& mad : batch) {
        if (mad.error != 0) continue;
        const auto header = *wire::decode<wire::MadHeader>(mad.bytes);
        if (header.method == Method::report && one->answers_reports) {
          auto reply = mad.bytes;
          auto answer = header;
          answer.method = Method::report_resp;
          wire::encode(answer, reply);
          (void)one->transport->send(reply, served_.address(), 0ms);
        }
        one->came.push_back(mad.bytes);
      }
    });
    return *client;
  }
  void send(Client& client, const std::vector<std::uint8_t>& mad) {
    ASSERT_TRUE(client.transport->send(mad, served_.address(), 1000ms));
    world_.run_for(500ms);
  }
  void member(Client& client, Method method) {
    const auto gid = Gid::of(kDefaultSubnetPrefix, client.transport->local()->guid);
    send(client, test::membership(method, kBroadcastGroup, gid));
  }
  /// Switches that forward the broadcast group's multicast LID.
  std::size_t forwarding() {
    std::size_t n = 0;
    served_.manager().requests().resweep(sm::Resweep::light, "test");
    world_.run_for(1s);
    const auto& last = snapshot();
    for (const auto& row :
         last.decided.multicast ? last.decided.multicast->rows : std::vector<sm::McPart::Row>{}) {
      if (!(routing::entry(row.row.get(), 0) == routing::PortMask{})) ++n;
    }
    return n;
  }

  base::Fabric fabric_ = test::spec("ft2:4");
  sim::World world_{fabric_};
  store::MemoryStore store_;
  test::Served served_{world_, &store_, sa::Settings{}};
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(SaServer, MembersAreKeptAndGetATree) {
  EXPECT_TRUE(served_.registry().groups().contains(kBroadcastGroup));
  auto& first = client("h00002");
  auto& second = client("h00006");
  member(first, Method::set);
  member(second, Method::set);

  ASSERT_EQ(first.came.size(), 1U);
  EXPECT_EQ(test::reply_of(first.came[0]).status, 0);
  EXPECT_EQ(served_.registry().members().size(), 2U);
  EXPECT_TRUE(*store_.registry() == served_.registry());
  EXPECT_GE(forwarding(), 2U);

  member(second, Method::remove);
  EXPECT_EQ(served_.registry().members().size(), 1U);
  EXPECT_TRUE(*store_.registry() == served_.registry());
}

TEST_F(SaServer, ASubscriberIsToldAndADeadOneForgotten) {
  auto& listener = client("h00003");
  auto& deaf = client("h00004");
  deaf.answers_reports = false;
  const wire::InformInfo inform{.gid = {},
                                .lid_begin = Lid{0xFFFF},
                                .lid_end = {},
                                .is_generic = 1,
                                .subscribe = 1,
                                .type = 0xFFFF,
                                .trap = 0xFFFF,
                                .qp = 1,
                                .producer = 0xFFFFFF};
  const auto subscribe =
      Question{.method = Method::set, .attribute = wire::InformInfo::kAttribute}.with(inform);
  send(listener, subscribe);
  send(deaf, subscribe);
  ASSERT_EQ(served_.registry().subscriptions().size(), 2U);

  world_.fabric().faults().link_down({"h00005", PortNum{1}});
  world_.run_for(20s);

  std::set<std::uint16_t> heard;
  for (const auto& mad : listener.came) {
    if (wire::decode<wire::MadHeader>(mad)->method != Method::report) continue;
    heard.insert(wire::decode<wire::Notice>(std::span(mad).subspan(wire::kSaDataOffset))->trap);
  }
  EXPECT_THAT(heard, testing::IsSupersetOf({std::uint16_t{128}, std::uint16_t{sa::kPortOut}}));
  EXPECT_EQ(served_.registry().subscriptions().size(), 1U);  // the deaf one's has ended
}

/// Two programs of one port: what one of them leaves unanswered is not the other's loss.
TEST_F(SaServer, ADeadQueuePairTakesNoOtherOfItsPortWithIt) {
  auto registry = served_.registry();
  const sa::SubscriptionKey one{.port = Guid{5}, .qp = 1}, other{.port = Guid{5}, .qp = 7};
  registry.put_subscription(one, {});
  registry.put_subscription(other, {.number = 1});

  sa::drop_subscriptions(registry, {.port = Guid{5}, .qp = 7});

  EXPECT_TRUE(registry.subscriptions().contains(one));
  EXPECT_FALSE(registry.subscriptions().contains(other));
}

/// A disk that takes a second.
class SlowStore final : public store::Store {
 public:
  explicit SlowStore(mad::Clock& clock) : clock_(clock) {}
  sm::StoredPtr loaded() const override { return std::make_shared<const sm::Stored>(); }
  asio::awaitable<bool> commit(sm::StoredPtr /*now*/) override { co_return true; }
  asio::awaitable<bool> commit_registry(sa::RegistryPtr /*now*/) override {
    co_return co_await clock_.sleep(1s);
  }

 private:
  mad::Clock& clock_;
};

/// A server over a fabric that does not change, whose clients ask through a FakeGsi.
struct ServerLab {
  sa::Server serve(sm::Compute& indexing, store::Store* store, sa::Settings settings = {}) {
    return sa::Server(sa::ServerParts{.executor = lab.world().io().get_executor(),
                                      .gsi = gsi,
                                      .compute = compute,
                                      .indexing = indexing,
                                      .source = [this] { return snapshot; },
                                      .registry = registry,
                                      .store = store,
                                      .log = {},
                                      .clock = lab.world().clock(),
                                      .wall = [] { return std::int64_t{1}; },
                                      .counts = counts},
                      std::move(settings));
  }
  test::SaLab lab{"ft2:4"};
  sm::InlineCompute compute;
  sm::Published<sa::Registry> registry;
  test::FakeGsi gsi;
  std::shared_ptr<sa::SaCounts> counts = std::make_shared<sa::SaCounts>();
  std::shared_ptr<const sm::Snapshot> snapshot = std::make_shared<const sm::Snapshot>(lab.snapshot());
};

TEST(SaQueue, QuestionsAreAnsweredWhileALaterSnapshotIsLookedAt) {
  ServerLab at;
  auto& lab = at.lab;
  test::SlowCompute indexing(lab.world().clock(), 1s);
  auto& gsi = at.gsi;
  auto server = at.serve(indexing, nullptr);
  const auto& asker = lab.directory().end_ports().back();
  const auto ask_for_it = [&] {
    gsi.give({mad::Received{
        .bytes = Question{.method = Method::get, .attribute = wire::NodeRecordId::kRecord, .mask = 1}.with(
            wire::NodeRecordId{.lid = asker.lid}),
        .from = {.lid = asker.lid},
        .error = 0}});
    lab.world().run_for(10ms);
    return std::exchange(gsi.answers, {})[asker.lid];
  };
  using Answers = std::map<std::uint16_t, unsigned>;

  EXPECT_EQ(ask_for_it(), Answers{}) << "in a second it is known";
  lab.world().run_for(3s);
  EXPECT_EQ(std::exchange(gsi.answers, {})[asker.lid], (Answers{{0, 1}}))
      << "no client is told to come again";
  EXPECT_EQ(ask_for_it(), (Answers{{0, 1}}));

  auto without = std::make_shared<sm::Subnet>(*at.snapshot->subnet);
  std::erase_if(without->nodes, [&](const auto& node) { return node->guid() == asker.node->guid(); });
  without->index();
  auto later = std::make_shared<sm::Snapshot>(*at.snapshot);
  later->subnet = without;
  at.snapshot = later;
  server.refresh();
  lab.world().run_for(500ms);
  EXPECT_EQ(ask_for_it(), (Answers{{0, 1}})) << "as it was";
  lab.world().run_for(3s);
  EXPECT_EQ(ask_for_it(), (Answers{{wire::kSaNoRecords, 1}}));
  lab.world().run(server.stop());
}

/// The copy of a master comes while a standby's disk is written.
TEST(SaQueue, WhatIsReplacedWhileAWriteIsKeptStays) {
  ServerLab at;
  auto& lab = at.lab;
  const auto& directory = lab.directory();
  const auto& port = directory.end_ports().back();
  SlowStore store(lab.world().clock());
  auto& gsi = at.gsi;
  auto server = at.serve(at.compute, &store);
  server.refresh();
  lab.world().run_for(2s);
  gsi.give({mad::Received{.bytes = test::membership(Method::set, kBroadcastGroup, directory.gid_of(port)),
                          .from = {.lid = port.lid},
                          .error = 0}});
  lab.world().run_for(500ms);
  const auto copy = std::make_shared<const sa::Registry>();
  at.registry.set(copy);
  lab.world().run_for(3s);

  EXPECT_EQ(at.registry.get(), copy);
  EXPECT_EQ(gsi.answers[port.lid], (std::map<std::uint16_t, unsigned>{{wire::kStatusBusy, 1}}))
      << "the master does not have it";
  lab.world().run(server.stop());
}

/// As [ha] mode = "sync-strict": a standby has what is committed while `copied`.
class StrictStore final : public store::Store {
 public:
  sm::StoredPtr loaded() const override { return std::make_shared<const sm::Stored>(); }
  asio::awaitable<bool> commit(sm::StoredPtr /*now*/) override { co_return true; }
  asio::awaitable<bool> commit_registry(sa::RegistryPtr /*now*/) override {
    told_ = copied;
    co_return true;
  }
  bool may_answer() const override { return told_; }
  bool copied = false;

 private:
  bool told_ = true;
};

/// The port is a member since the first time, so that the second one changes nothing.
TEST(SaQueue, AJoinThatNoStandbyHadIsAnsweredWhenOneHasIt) {
  ServerLab at;
  auto& lab = at.lab;
  const auto& directory = lab.directory();
  const auto& port = directory.end_ports().back();
  StrictStore store;
  auto& gsi = at.gsi;
  auto server = at.serve(at.compute, &store);
  server.refresh();
  lab.world().run_for(2s);
  const auto join = [&] {
    gsi.give({mad::Received{.bytes = test::membership(Method::set, kBroadcastGroup, directory.gid_of(port)),
                            .from = {.lid = port.lid},
                            .error = 0}});
    lab.world().run_for(500ms);
    return std::exchange(gsi.answers, {})[port.lid];
  };
  using Answers = std::map<std::uint16_t, unsigned>;

  EXPECT_EQ(join(), (Answers{{wire::kStatusBusy, 1}}));
  EXPECT_EQ(join(), (Answers{{wire::kStatusBusy, 1}}));
  store.copied = true;
  EXPECT_EQ(join(), (Answers{{0, 1}}));
  EXPECT_EQ(join(), (Answers{{0, 1}}));
  lab.world().run(server.stop());
}

TEST(SaQueue, AClientThatAsksForMuchKeepsNoOtherWaiting) {
  ServerLab at;
  auto& lab = at.lab;
  const auto& directory = lab.directory();
  const auto& ports = directory.end_ports();
  const auto greedy = ports.back().lid, modest = ports[ports.size() - 2].lid;
  SlowStore store(lab.world().clock());
  auto& gsi = at.gsi;
  auto server = at.serve(at.compute, &store, {.queue = 64, .per_source = 8});
  server.refresh();
  lab.world().run_for(2s);
  const auto from = [](Lid lid, std::vector<std::uint8_t> bytes) {
    return mad::Received{.bytes = std::move(bytes), .from = {.lid = lid}, .error = 0};
  };
  const auto join = [&](const sa::EndPort& port) {
    return from(port.lid, test::membership(Method::set, kBroadcastGroup, directory.gid_of(port)));
  };

  // Questions: all at once.
  std::vector<mad::Received> batch;
  const auto question = Question{.method = Method::get, .attribute = Record::kRecord}.with();
  for (int i = 0; i < 20; ++i) batch.push_back(from(greedy, question));
  batch.push_back(from(modest, question));
  gsi.give(std::move(batch));
  lab.world().run_for(10ms);
  EXPECT_EQ(gsi.answers[greedy], (std::map<std::uint16_t, unsigned>{{0, 8}, {wire::kStatusBusy, 12}}));
  EXPECT_EQ(gsi.answers[modest], (std::map<std::uint16_t, unsigned>{{0, 1}}));
  const auto place =
      std::ranges::find(std::views::drop(gsi.order, 12), modest);  // behind those that are busy
  EXPECT_EQ(std::ranges::count(std::ranges::subrange(gsi.order.begin() + 12, place), greedy), 1);

  // Joins: while the first is on its way to the disk.
  gsi.answers.clear();
  for (int i = 0; i < 20; ++i) {
    gsi.give({join(ports.back())});
    lab.world().run_for(1ms);
  }
  gsi.give({join(ports[ports.size() - 2])});
  lab.world().run_for(5s);
  EXPECT_EQ(gsi.answers[greedy], (std::map<std::uint16_t, unsigned>{{0, 9}, {wire::kStatusBusy, 11}}));
  EXPECT_EQ(gsi.answers[modest], (std::map<std::uint16_t, unsigned>{{0, 1}}));
  lab.world().run(server.stop());

  // What was sent is what is counted, with the time that the disk takes.
  std::map<std::string, std::uint64_t> counted;
  for (const auto& row : at.counts->rows())
    counted[fmt::format("{} {} {}", row.attribute, row.method, row.status)] += row.count;
  using Counted = std::map<std::string, std::uint64_t>;
  EXPECT_EQ(counted, (Counted{{"MCMemberRecord Get ok", 9},
                              {"MCMemberRecord Get busy", 12},
                              {"MCMemberRecord Set ok", 10},
                              {"MCMemberRecord Set busy", 11}}));
  const auto times = at.counts->times();
  EXPECT_EQ(std::accumulate(times.took.begin(), times.took.end(), std::uint64_t{0}), 42U);
  EXPECT_GE(times.seconds, 10.0) << "each join waits a second at least";
}

TEST(SaQueue, ARequestWithAWrongKeyIsCountedAsUnanswered) {
  ServerLab at;
  auto& lab = at.lab;
  auto server = at.serve(at.compute, nullptr);
  server.refresh();
  lab.world().run_for(2s);
  const auto asker = lab.directory().end_ports().back().lid;
  at.gsi.give({mad::Received{
      .bytes = Question{.method = Method::get, .attribute = wire::NodeRecordId::kRecord, .sm_key = 99}.with(),
      .from = {.lid = asker},
      .error = 0}});
  lab.world().run_for(10ms);
  EXPECT_TRUE(at.gsi.answers.empty());
  const auto rows = at.counts->rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].attribute, "NodeRecord");
  EXPECT_EQ(rows[0].status, "unanswered");
  lab.world().run(server.stop());
}

}  // namespace
}  // namespace smd
