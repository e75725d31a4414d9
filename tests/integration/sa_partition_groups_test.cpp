// SPDX-License-Identifier: Apache-2.0
// Multicast groups of partitions that are configured, and of those that are no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "mad/wire/drop_vl.h"
#include "smd/report/qos_explanation.h"
#include "smd/sa/registry/group_terms.h"
#include "tests/support/partition_config.h"
#include "tests/support/sa_session.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using test::mgid;
using wire::Method;

const Mgid kDefaultsBroadcast = mgid("ff12:401b:ffff::ffff:ffff");

TEST(SaPartitionGroups, EachPartitionHasTheGroupsThatItSays) {
  auto blue = test::partition("blue", 0x12, {"h00001", "h00002"});
  blue.ipoib = true;
  blue.mtu = Mtu::m1024;
  blue.rate = 3;
  blue.scopes = {2, 5};
  blue.groups = {{.mgid = mgid("ff12:401b::16"), .qkey = 0x77}};
  test::SaLab lab("ft2:4", test::with_partitions({blue, test::partition("red", 0x13, {"h00001"})}));
  test::SaSession session(lab);
  const auto& groups = session.registry().groups();

  const auto* group = groups.find(mgid("ff12:401b:8012::ffff:ffff"));
  ASSERT_NE(group, nullptr);
  EXPECT_TRUE(group->well_known);
  EXPECT_EQ(group->terms.pkey, PKey{0x8012});
  EXPECT_EQ(group->terms.mtu, Mtu::m1024);
  EXPECT_EQ(group->terms.rate, 3);
  EXPECT_EQ(group->terms.qkey, 0x0b1bU);
  EXPECT_EQ(group->terms.hop_limit, 0);
  const auto* wide = groups.find(mgid("ff15:401b:8012::ffff:ffff"));
  ASSERT_NE(wide, nullptr);
  EXPECT_EQ(wide->terms.hop_limit, 255);
  EXPECT_EQ(groups.find(kDefaultsBroadcast), nullptr)
      << "the default partition has none unless a definition says ipoib";
  // An extra group in each scope of its partition.
  const auto* extra = groups.find(mgid("ff12:401b:8012::16"));
  ASSERT_NE(extra, nullptr);
  EXPECT_EQ(extra->terms.qkey, 0x77U);
}

TEST(SaPartitionGroups, AMemberOfAnotherPartitionCannotJoin) {
  auto blue = test::partition("blue", 0x12, {"h00001"});
  blue.ipoib = true;
  test::SaLab lab("ft2:4", test::with_partitions({blue}));
  test::SaSession session(lab);
  const auto group = mgid("ff12:401b:8012::ffff:ffff");
  unsigned tried = 0;
  for (const auto& port : lab.directory().end_ports()) {
    if (port.node->description != "h00001" && port.node->description != "h00002") continue;
    const auto gid = lab.directory().gid_of(port);
    const auto reply = session.write(port, test::membership(Method::set, group, gid));
    EXPECT_EQ(reply.status == 0, port.node->description == "h00001");
    ++tried;
  }
  EXPECT_EQ(tried, 2U);
}

TEST(SaPartitionGroups, AGroupGoesWithItsPartitionOrItsLastMember) {
  auto blue = test::partition("blue", 0x12, {"h00001"});
  blue.ipoib = true;
  test::SaLab with("ft2:4", test::with_partitions({blue})),
      without("ft2:4", test::with_partitions({test::partition("red", 0x13, {"h00001"})}));
  test::SaSession session(with);
  const auto group = mgid("ff12:401b:8012::ffff:ffff");
  ASSERT_NE(session.registry().groups().find(group), nullptr);
  session.refresh(without.directory());
  EXPECT_EQ(session.registry().groups().find(group), nullptr);
}

/// The next tenant with the P_Key finds nothing of the one before.
TEST(SaPartitionGroups, WhoLeavesThePartitionIsNoMemberAnyMore) {
  auto blue = test::partition("blue", 0x12, {"h00001", "h00002"}),
       next = test::partition("green", 0x12, {"h00002", "h00003"});
  blue.ipoib = next.ipoib = true;
  blue.mtu = Mtu::m1024;
  next.mtu = Mtu::m2048;
  test::SaLab before("ft2:4", test::with_partitions({blue})), after("ft2:4", test::with_partitions({next}));
  test::SaSession session(before);
  const auto group = mgid("ff12:401b:8012::ffff:ffff");
  for (const auto& port : before.directory().end_ports()) {
    if (port.node->description != "h00001" && port.node->description != "h00002") continue;
    const auto gid = before.directory().gid_of(port);
    ASSERT_EQ(session.write(port, test::membership(Method::set, group, gid)).status, 0);
  }
  session.refresh(after.directory());
  EXPECT_EQ(session.registry().groups().find(group)->members, 1U) << "h00002 is in both";

  test::SaLab none("ft2:4", test::with_partitions({test::partition("red", 0x13, {"h00001"})}));
  session.refresh(none.directory());
  EXPECT_EQ(session.registry().groups().find(group), nullptr);
  session.refresh(after.directory());
  EXPECT_EQ(session.registry().groups().find(group)->terms.mtu, Mtu::m2048);
}

/// Members keep the values that they joined with, the log says so once, and the last one that leaves lets the
/// configured ones in.
TEST(SaPartitionGroups, ChangedTermsWaitForTheLastMember) {
  auto blue = test::partition("blue", 0x12, {"h00001", "h00002"});
  blue.ipoib = true;
  blue.mtu = Mtu::m1024;
  blue.rate = 3;
  auto next = blue;
  next.mtu = Mtu::m2048;
  next.rate = 16;
  test::SaLab before("ft2:4", test::with_partitions({blue})), after("ft2:4", test::with_partitions({next}));
  test::SaSession session(before);
  const auto group = mgid("ff12:401b:8012::ffff:ffff");
  const auto members = [&](Method method) {
    for (const auto& port : before.directory().end_ports()) {
      if (port.node->description != "h00001" && port.node->description != "h00002") continue;
      const auto gid = before.directory().gid_of(port);
      EXPECT_EQ(session.write(port, test::membership(method, group, gid)).status, 0);
    }
  };
  members(Method::set);
  EXPECT_TRUE(session.effects().terms_kept.empty());

  sa::WaitingTerms waiting;
  session.refresh(after.directory());
  auto kept = session.effects().terms_kept;
  EXPECT_TRUE(waiting.refreshed(kept, session.registry()).empty());
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].mgid, group);
  EXPECT_EQ(kept[0].members, 2U);
  EXPECT_EQ(sa::term_changes(kept[0].terms, kept[0].configured),
            "MTU 1024 -> 2048, rate 10 Gb/s -> 100 Gb/s");
  auto again = session.effects().terms_kept;
  waiting.refreshed(again, session.registry());
  EXPECT_TRUE(again.empty()) << "it was told of";
  EXPECT_EQ(session.registry().groups().find(group)->terms.mtu, Mtu::m1024);

  auto registry = session.registry();
  EXPECT_TRUE(waiting.apply(registry).empty());
  members(Method::remove);
  registry = session.registry();
  EXPECT_EQ(waiting.apply(registry).size(), 1U);
  EXPECT_EQ(registry.groups().find(group)->terms.mtu, Mtu::m2048);
  EXPECT_EQ(registry.groups().find(group)->terms.rate, 16);
  EXPECT_TRUE(waiting.apply(registry).empty());
}

/// The rate of a group that no definition gives one follows the ports: that is no change of the
/// configuration.
TEST(SaPartitionGroups, TermsThatAreLeftOpenAreNotWaitedFor) {
  auto blue = test::partition("blue", 0x12, {"h00001", "h00002"});
  blue.ipoib = true;
  test::SaLab lab("ft2:4", test::with_partitions({blue}));
  test::SaSession session(lab);
  const auto group = mgid("ff12:401b:8012::ffff:ffff");
  for (const auto& port : lab.directory().end_ports()) {
    if (port.node->description != "h00001") continue;
    ASSERT_EQ(session.write(port, test::membership(Method::set, group, lab.directory().gid_of(port))).status,
              0);
  }
  auto registry = session.registry();
  auto terms = registry.groups().find(group)->terms;
  terms.rate = 3;
  terms.mtu = Mtu::m256;
  sa::Effects effects;
  registry.put_group(group, registry.groups().find(group)->mlid, terms, true);
  sa::Writing writing{lab.directory(), session.settings(), registry, effects, session.now()};
  sa::refresh(writing);
  EXPECT_TRUE(effects.terms_kept.empty());
}

/// A group keeps the SL that its members joined with, and a client makes one with an SL of its own: packets
/// go on them whatever partitions say.
TEST(SaPartitionGroups, SlsOfGroupsWithMembersAreInUse) {
  auto blue = test::partition("blue", 0x12, {"h00001", "h00002"});
  blue.ipoib = true;
  blue.sl = 3;
  auto config = test::with_partitions({blue});
  config.qos.enabled = true;
  test::SaLab before("ft2:4", config);
  config.partition[0].sl = 0;
  config.qos.all.sl2vl = config::SlMap{};
  (*config.qos.all.sl2vl)[3] = wire::kDropVl;
  test::SaLab after("ft2:4", config);
  test::SaSession session(before);
  const auto group = mgid("ff12:401b:8012::ffff:ffff");
  for (const auto& port : before.directory().end_ports()) {
    if (port.node->description != "h00001") continue;
    ASSERT_EQ(
        session.write(port, test::membership(Method::set, group, before.directory().gid_of(port))).status, 0);
    auto own = session.joining(port, mgid("ff12:a012::5"));
    own.record.pkey = PKey{0x8012};
    own.record.sl = Sl{5};
    ASSERT_EQ(session.join(port, own).status, 0) << session.last_refusal().component;
  }
  const auto found = [&](const test::SaLab& lab) {
    const auto& decided = lab.snapshot().decided;
    return sa::groups_on_other_sls(session.registry(), decided.partitions->policy.get(),
                                   decided.service_levels.get());
  };
  EXPECT_EQ(found(before), (sm::GroupSls{{Sl{5}, {1, "ff12:a012::5"}}}));
  EXPECT_EQ(found(after),
            (sm::GroupSls{{Sl{3}, {1, "ff12:401b:8012::ffff:ffff"}}, {Sl{5}, {1, "ff12:a012::5"}}}));

  session.refresh();
  EXPECT_TRUE(session.effects().dropped_groups.empty());
  session.refresh(after.directory());
  auto dropped = session.effects().dropped_groups;
  EXPECT_EQ(dropped, (sm::GroupSls{{Sl{3}, {1, "ff12:401b:8012::ffff:ffff"}}}));
  sa::WaitingTerms told;
  told.keep_new(dropped);
  EXPECT_EQ(dropped.size(), 1U);
  told.keep_new(dropped);
  EXPECT_TRUE(dropped.empty()) << "it was told of";

  const auto& now = after.snapshot();
  const auto qos = sm::explain_qos({.subnet = *now.subnet,
                                    .decided = now.decided,
                                    .partitions = now.decided.partitions->policy.get(),
                                    .groups = found(after)});
  ASSERT_FALSE(qos.kinds.empty());
  EXPECT_THAT(qos.kinds[0].warnings,
              testing::IsSupersetOf({"SL 3 is in use and mapped to VL 15: its packets are dropped",
                                     "SL 0, 5 share VL 0 and delay each other"}));
  EXPECT_THAT(qos.uses.at(Sl{5}).by, testing::ElementsAre("multicast group ff12:a012::5"));
  EXPECT_EQ(*sm::qos_explanation_of(sm::qos_json(qos)), qos);
  std::ostringstream text;
  sm::print_qos(text, qos);
  EXPECT_THAT(text.str(), testing::HasSubstr("SL 5  multicast group ff12:a012::5: for no program\n"));
}

/// One line would say of one of them that it is there, and nothing of the others.
TEST(SaPartitionGroups, EachGroupThatAReloadMakesOrEndsIsInTheLog) {
  using namespace std::chrono_literals;
  auto config = test::with_partitions({test::partition("blue", 0x12, {"ALL_CAS"})});
  sim::World world(test::spec("ft2:4"));
  test::Served served(world, nullptr, sa::Settings{}, config);
  const auto made = served.sa_lines().count("sa.group_created");
  for (const auto* group : {"ff12:401b::16", "ff12:401b::17", "ff12:401b::18"})
    config.partition[0].groups.push_back({.mgid = mgid(group)});
  served.manager().requests().reload(config);
  world.run_for(5s);
  EXPECT_EQ(served.sa_lines().count("sa.group_created"), made + 3)
      << testing::PrintToString(served.sa_lines().all);
  EXPECT_EQ(served.sa_lines().count("ff12:401b:8012::17"), 1U);

  const auto gone = served.sa_lines().count("sa.group_deleted");
  config.partition[0].groups.clear();
  served.manager().requests().reload(config);
  world.run_for(5s);
  EXPECT_EQ(served.sa_lines().count("sa.group_deleted"), gone + 3)
      << testing::PrintToString(served.sa_lines().all);
}

/// A reload that drops the SL of a group with members; once, though sweeps follow.
TEST(SaPartitionGroups, ADroppedSlOfAGroupWithMembersIsInTheLog) {
  using namespace std::chrono_literals;
  auto blue = test::partition("blue", 0x12, {"ALL_CAS"});
  blue.ipoib = true;
  blue.sl = 3;
  auto config = test::with_partitions({blue});
  config.qos.enabled = true;
  sim::World world(test::spec("ft2:4"));
  test::Served served(world, nullptr, sa::Settings{}, config);
  const auto client = world.transport(sim::Place{"h00003", PortNum{1}}, sim::Interface::gsi);
  const auto gid = Gid::of(kDefaultSubnetPrefix, client->local()->guid);
  ASSERT_TRUE(client->send(test::membership(Method::set, mgid("ff12:401b:8012::ffff:ffff"), gid),
                           served.address(), 1000ms));
  world.run_for(1s);
  ASSERT_EQ(served.sa_lines().count("qos.sl_dropped"), 0U);
  config.partition[0].sl = 0;
  config.qos.all.sl2vl = config::SlMap{};
  (*config.qos.all.sl2vl)[3] = wire::kDropVl;
  served.manager().requests().reload(config);
  world.run_for(30s);
  served.manager().requests().resweep(sm::Resweep::heavy, "test");
  world.run_for(30s);
  EXPECT_EQ(served.sa_lines().count("qos.sl_dropped"), 1U);
  EXPECT_EQ(served.lines().count("qos.sl_dropped"), 0U) << "no partition has it any more";
}

}  // namespace
}  // namespace smd
