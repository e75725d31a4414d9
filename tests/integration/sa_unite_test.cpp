// SPDX-License-Identifier: Apache-2.0
// What clients have registered with the masters of two parts of a fabric becomes one registry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "smd/sa/registry/unite.h"
#include "tests/support/sa_session.h"

namespace smd {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const Mgid kShared = test::mgid("ff12:401b:ffff::1");
const Mgid kOurs = test::mgid("ff12:401b:ffff::2");
const Mgid kTheirs = test::mgid("ff12:401b:ffff::3");
const Mgid kTheirOther = test::mgid("ff12:401b:ffff::4");

/// The registries of both masters when their parts have met; `registry` is that of the one that stays.
class Uniting : public testing::Test {
 protected:
  Guid port(std::size_t index) const { return lab.directory().end_ports()[index].guid; }
  static void group(sa::Registry& at, const Mgid& mgid, unsigned mlid, std::vector<Guid> members,
                    std::uint32_t qkey = 7) {
    at.put_group(mgid, Lid{static_cast<std::uint16_t>(mlid)},
                 {.qkey = qkey, .pkey = kDefaultPKey, .mtu = Mtu::m2048, .rate = 3}, false);
    for (const auto member : members)
      at.put_member({mgid, member}, {.join_state = wire::kFullMember, .joined_by = member});
  }
  void unite() {
    sa::Writing writing{lab.directory(), settings, registry, effects, 1};
    sa::unite(writing, other, common);
  }
  Lid mlid(const Mgid& mgid) const {
    const auto* found = registry.groups().find(mgid);
    return found != nullptr ? found->mlid : Lid{};
  }

  test::SaLab lab{"ft2:4"};
  sa::Settings settings;
  sa::Registry registry, other, common;
  sa::Effects effects;
};

TEST_F(Uniting, AGroupOfBothHasTheMembersOfBothAndOurTerms) {
  group(registry, kShared, 0xC001, {port(0), port(1)});
  group(other, kShared, 0xC009, {port(1), port(2)}, 99);

  unite();

  ASSERT_THAT(registry.groups(), SizeIs(1));
  EXPECT_EQ(mlid(kShared), Lid{0xC001});
  EXPECT_EQ(registry.groups().find(kShared)->terms.qkey, 7U);
  EXPECT_EQ(registry.groups().find(kShared)->members, 3U);
  EXPECT_THAT(registry.members(), SizeIs(3));
  EXPECT_THAT(effects.groups, IsEmpty()) << "no client is told of a new group";
}

TEST_F(Uniting, AGroupOfTheOtherPartKeepsItsMulticastLidWhereThatIsFree) {
  group(registry, kOurs, 0xC001, {port(0)});
  group(other, kTheirs, 0xC005, {port(1)});
  group(other, kTheirOther, 0xC001, {port(2)});

  unite();

  ASSERT_THAT(registry.groups(), SizeIs(3));
  EXPECT_EQ(mlid(kOurs), Lid{0xC001});
  EXPECT_EQ(mlid(kTheirs), Lid{0xC005});
  EXPECT_NE(mlid(kTheirOther), Lid{0xC001}) << "taken here";
  EXPECT_NE(mlid(kTheirOther), Lid{0xC005});
  EXPECT_NE(registry.members().find({kTheirOther, port(2)}), nullptr);
  ASSERT_THAT(effects.groups, SizeIs(2));
  EXPECT_TRUE(std::ranges::all_of(effects.groups, &sa::GroupEvent::created));
}

/// They have the same terms, and switches deliver them together.
TEST_F(Uniting, GroupsThatSharedAMulticastLidShareOne) {
  group(registry, kOurs, 0xC003, {port(0)});
  group(other, kTheirs, 0xC003, {port(1)});
  group(other, kTheirOther, 0xC003, {port(2)});

  unite();

  EXPECT_EQ(mlid(kTheirs), mlid(kTheirOther));
  EXPECT_NE(mlid(kTheirs), mlid(kOurs));
}

/// Its members are asked to register again, which tells them.
TEST_F(Uniting, AGroupForWhichNoMulticastLidIsLeftIsLeftOut) {
  const auto capacity = lab.directory().multicast_lids();
  for (unsigned i = 0; i < capacity; ++i) {
    auto mgid = test::mgid("ff12:401b:ffff::ffff:0");
    mgid.bytes[14] = static_cast<std::uint8_t>(i >> 8U);
    mgid.bytes[15] = static_cast<std::uint8_t>(i);
    group(registry, mgid, 0xC000 + i, {port(0)});
  }
  other.put_group(kTheirs, Lid{0xC000}, {.qkey = 7, .pkey = kDefaultPKey, .mtu = Mtu::m256, .rate = 3},
                  false);
  other.put_member({kTheirs, port(1)}, {.join_state = wire::kFullMember});

  unite();

  EXPECT_FALSE(registry.groups().contains(kTheirs));
  EXPECT_EQ(registry.members().find({kTheirs, port(1)}), nullptr) << "no member without its group";
  EXPECT_THAT(registry.groups(), SizeIs(capacity));
}

TEST_F(Uniting, ServicesSubscriptionsAndAliasesAreThoseOfBothAndOursCount) {
  const auto gid = [&](std::size_t at) { return Gid::of(kDefaultSubnetPrefix, port(at)); };
  const auto service = [&](std::uint64_t id, std::size_t at) {
    return sa::ServiceKey{.id = id, .gid = gid(at), .pkey = kDefaultPKey};
  };
  const auto offer = [&](sa::Registry& by, std::uint64_t id, std::size_t at, std::int64_t ends) {
    by.put_service(service(id, at), {.record = {.id = id, .gid = gid(at)}, .owner = port(at), .ends = ends});
  };
  const sa::SubscriptionKey ours{.port = port(0), .trap = 64, .qp = 1},
      both{.port = port(1), .trap = 65, .qp = 1}, theirs{.port = port(2), .trap = 66, .qp = 1};
  offer(registry, 1, 0, 100);
  offer(other, 1, 0, 200);
  offer(other, 2, 1, 300);
  registry.put_subscription(ours, {.number = 1});
  registry.put_subscription(both, {.number = 2});
  other.put_subscription(both, {.number = 9});
  other.put_subscription(theirs, {.number = 3});
  registry.put_alias({port(0), 1}, Guid{0xA1});
  other.put_alias({port(0), 1}, Guid{0xA2});  // the place is taken here
  other.put_alias({port(1), 1}, Guid{0xA1});  // the GUID is
  other.put_alias({port(1), 2}, Guid{0xA3});

  unite();

  EXPECT_THAT(registry.services(), SizeIs(2));
  EXPECT_EQ(registry.services().find(service(1, 0))->ends, 100);
  EXPECT_THAT(registry.subscriptions(), SizeIs(3));
  EXPECT_EQ(registry.subscriptions().find(both)->number, 2U);
  EXPECT_EQ(*registry.aliases().find({port(0), 1}), Guid{0xA1});
  EXPECT_EQ(registry.aliases().find({port(1), 1}), nullptr);
  EXPECT_EQ(*registry.aliases().find({port(1), 2}), Guid{0xA3});
  EXPECT_EQ(registry.port_of(Guid{0xA1}), port(0));
}

/// Each of them had a copy of the common state, and its own clients since then.
TEST_F(Uniting, WhatClientsHaveEndedInEitherPartIsNotBroughtBack) {
  group(common, kShared, 0xC001, {port(0), port(1), port(2), port(3)});
  group(common, kOurs, 0xC002, {port(0)});
  group(common, kTheirs, 0xC003, {port(1)});
  for (std::size_t at = 0; at < 4; ++at) common.put_client(port(at));
  registry = other = common;
  registry.drop_member({kShared, port(0)});
  registry.drop_group(kOurs);
  other.drop_member({kShared, port(1)});
  other.drop_group(kTheirs);

  unite();

  ASSERT_THAT(registry.groups(), SizeIs(1));
  EXPECT_FALSE(registry.members().contains({kShared, port(0)}));
  EXPECT_FALSE(registry.members().contains({kShared, port(1)}));
  EXPECT_EQ(registry.groups().find(kShared)->members, 2U);
  ASSERT_THAT(effects.groups, SizeIs(1));
  EXPECT_FALSE(effects.groups[0].created);
}

/// They were out of sight for longer than sa.keep_silent.
TEST_F(Uniting, WhatTheMastersThemselvesHaveEndedIsBroughtBack) {
  group(common, kOurs, 0xC002, {port(0)});
  group(common, kTheirs, 0xC003, {port(1)});
  common.put_client(port(0));
  common.put_client(port(1));
  registry = other = common;
  registry.drop_group(kTheirs);
  registry.drop_client(port(1));
  other.drop_group(kOurs);
  other.drop_client(port(0));

  unite();

  EXPECT_EQ(mlid(kOurs), Lid{0xC002});
  EXPECT_EQ(mlid(kTheirs), Lid{0xC003});
  EXPECT_THAT(registry.members(), SizeIs(2));
}

TEST_F(Uniting, ALeaseThatWasRenewedInTheOtherPartIsTheNewOne) {
  const sa::ServiceKey key{.id = 1, .gid = Gid::of(kDefaultSubnetPrefix, port(0)), .pkey = kDefaultPKey},
      ended{.id = 2, .gid = key.gid, .pkey = kDefaultPKey};
  common.put_client(port(0));
  for (const auto& one : {key, ended})
    common.put_service(one, {.record = {.id = one.id, .gid = one.gid}, .owner = port(0), .ends = 100});
  registry = other = common;
  other.put_service(key, {.record = {.id = 1, .gid = key.gid}, .owner = port(0), .ends = 200});
  other.drop_service(ended);

  unite();

  ASSERT_THAT(registry.services(), SizeIs(1));
  EXPECT_EQ(registry.services().find(key)->ends, 200);
}

TEST_F(Uniting, ASecondTimeItChangesNothing) {
  group(registry, kOurs, 0xC001, {port(0)});
  group(other, kTheirs, 0xC001, {port(1)});
  unite();
  const auto once = registry;
  effects = {};

  unite();

  EXPECT_EQ(registry, once);
  EXPECT_THAT(effects.groups, IsEmpty());
}

}  // namespace
}  // namespace smd
