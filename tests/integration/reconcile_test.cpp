// SPDX-License-Identifier: Apache-2.0
// The reconcile loop alone, over a simulated fabric: a run touches its parts and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "mad/wire/attributes.h"
#include "smd/reconcile/finish.h"
#include "smd/reconcile/reconciler.h"
#include "smd/sweep/heavy_sweep.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using sm::Part;
using testing::ElementsAre;
using testing::IsEmpty;

asio::awaitable<void> look(mad::Transactions* tx, mad::Clock* clock, sm::Reconciler* loop) {
  auto found = co_await sm::heavy_sweep(tx, clock, loop->subnet().get(), {});
  const auto stored = loop->stored();
  const sm::FinishInput how{.before = loop->subnet().get(),
                            .stored = *stored,
                            .names = {},
                            .multicast_entries = 0,
                            .adopting = true,
                            .adaptive_anew = false};
  auto finished = co_await sm::finish(tx, loop->baseline(), std::move(*found), how);
  loop->take(std::move(finished));
}

class Reconcile : public testing::Test {
 protected:
  Reconcile() { world_.run(look(&tx_, &world_.clock(), &loop_)); }

  sm::Ran run(sm::Run how) {
    const auto before = tx_.counters();
    auto ran = world_.run(loop_.run(how));
    const auto sent = tx_.counters() - before;
    sets_ = sent.total(&mad::AttributeCounters::sent, wire::Method::set);
    gets_ = sent.total(&mad::AttributeCounters::sent, wire::Method::get);
    return ran;
  }
  std::vector<Guid> hosts() const {
    std::vector<Guid> ports;
    for (const auto& node : loop_.subnet()->nodes) {
      if (!node->is_switch()) ports.push_back(node->ports[1].guid);
    }
    return ports;
  }
  void join(const std::vector<Guid>& ports) {
    sm::GroupMembers group{.mlid = Lid{0xC003}, .members = {}};
    for (const auto port : ports) group.members.push_back({port, true});
    auto groups = std::make_shared<const sm::GroupList>(sm::GroupList{std::move(group)});
    loop_.set_groups([groups] { return groups; });
  }

  sim::World world_{test::spec("ft2:4")};
  std::unique_ptr<sim::Transport> transport_ = world_.transport();
  mad::Transactions tx_{world_.io().get_executor(), world_.clock(), *transport_, {}, 3};
  sm::InlineCompute compute_;
  sm::Agenda agenda_;
  bool newer_waits_ = false;
  store::MemoryStore store_;
  sm::Reconciler loop_{{.tx = tx_,
                        .clock = world_.clock(),
                        .compute = compute_,
                        .agenda = agenda_,
                        .log = {},
                        .store = &store_,
                        .newer_waits = [this] { return newer_waits_; },
                        .look_again = []() -> asio::awaitable<void> { co_return; },
                        .may_write = {}},
                       std::make_shared<const config::SubnetConfig>(),
                       std::make_shared<const sm::Stored>(),
                       policy::merged_policy({}, {})};
  std::uint64_t sets_ = 0, gets_ = 0;
};

TEST_F(Reconcile, ADryRunDecidesAndPlansAndWritesNothing) {
  const auto ran = run({.parts = {Part::fabric}, .dry_run = true});

  EXPECT_FALSE(ran.plan.empty());
  EXPECT_EQ(sets_ + gets_, 0U);
  EXPECT_TRUE(loop_.decided().routes);
}

TEST_F(Reconcile, AfterTheFabricNothingIsLeftAndItsDecisionIsCommitted) {
  const auto ran = run({.parts = {Part::fabric}});

  EXPECT_EQ(loop_.failures().left, 0U);
  EXPECT_EQ(ran.lft_blocks, 6U);
  EXPECT_THAT(loop_.came_up(), testing::SizeIs(hosts().size()));
  EXPECT_EQ(store_.loaded()->lids.size(), hosts().size() + 6);

  EXPECT_EQ(run({.parts = {Part::fabric}}).lft_blocks, 0U);
  EXPECT_EQ(sets_ + gets_, 0U) << "nothing is read or written again";
}

/// What is due is looked at first: it may change the way to the fresh tables.
TEST_F(Reconcile, ConvergenceWaitsForWhatIsDueAndForNothingElse) {
  run({.parts = {Part::fabric}});
  agenda_.look_at(loop_.subnet()->nodes.front()->guid(), "trap 128");
  loop_.converge();

  newer_waits_ = true;
  run({.parts = {Part::fabric}});
  EXPECT_TRUE(loop_.converging());

  newer_waits_ = false;
  run({.parts = {Part::fabric}});
  EXPECT_FALSE(loop_.converging()) << "the node that was looked at too often waits, and may always wait";
}

TEST_F(Reconcile, AJoinRunsMulticastAlone) {
  run({.parts = {Part::fabric}});
  const auto before = loop_.decided();
  join({hosts()[0], hosts()[3]});

  const auto ran = run({.parts = {Part::multicast}});

  EXPECT_TRUE(ran.changed);
  EXPECT_GT(ran.mft_blocks, 0U);
  EXPECT_EQ(ran.lft_blocks, 0U);
  EXPECT_EQ(loop_.decided().routes, before.routes);
  EXPECT_EQ(loop_.decided().lids, before.lids);
  EXPECT_EQ(loop_.decided().links, before.links);
  EXPECT_NE(loop_.decided().multicast, before.multicast);

  EXPECT_FALSE(run({.parts = {Part::multicast}}).changed);
  EXPECT_EQ(sets_, 0U);
}

TEST_F(Reconcile, ASetOfPartsIsOneRun) {
  run({.parts = {Part::fabric}});
  join({hosts()[0], hosts()[3]});
  loop_.reregister({hosts()[2]});

  const auto ran = run({.parts = sm::kServiceParts});

  EXPECT_GT(ran.mft_blocks, 0U);
  EXPECT_THAT(ran.reregistered, ElementsAre(hosts()[2]));
  EXPECT_EQ(ran.not_reregistered, 0U);
  EXPECT_TRUE(loop_.unfinished().empty());
  EXPECT_THAT(run({.parts = sm::kServiceParts}).reregistered, IsEmpty()) << "it was asked for once";
}

TEST_F(Reconcile, APartThatFailsIsUnfinishedUntilItIsMadeGood) {
  run({.parts = {Part::fabric}});
  world_.fabric().faults().silent("leaf001");
  join({hosts()[0], hosts()[3]});

  run({.parts = {Part::multicast}});
  EXPECT_EQ(loop_.unfinished(), sm::PartSet{Part::multicast});

  world_.fabric().faults().silent("leaf001", false);
  tx_.begin_round();
  run({.parts = loop_.unfinished()});
  EXPECT_TRUE(loop_.unfinished().empty());
}

}  // namespace
}  // namespace smd
