// SPDX-License-Identifier: Apache-2.0
// The registry as a value, against plain maps.
#include "smd/registry/registry.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "mad/wire/sa/member_record.h"
#include "smd/sa/registry/group_members.h"
#include "smd/sa/registry/mlids.h"

namespace smd::sa {
namespace {

using Map = SharedMap<int, int>;

TEST(SharedMap, IsTheMapThatItWouldBe) {
  std::mt19937 random(1);
  Map shared;
  std::map<int, int> plain;
  for (int step = 0; step < 20000; ++step) {
    const int key = static_cast<int>(random() % 2000);
    if (random() % 3 == 0) {
      ASSERT_EQ(shared.erase(key), plain.erase(key) == 1);
    } else {
      shared.put(key, step);
      plain[key] = step;
    }
  }
  EXPECT_EQ(shared.size(), plain.size());
  EXPECT_TRUE(std::ranges::equal(
      shared, plain, {}, [](const auto& row) { return row.second; },
      [](const auto& row) { return row.second; }));
  for (int key = -1; key <= 2000; ++key) {
    const auto row = plain.lower_bound(key);
    const auto found = shared.lower_bound(key);
    ASSERT_EQ(row == plain.end(), found == shared.end());
    if (row != plain.end()) {
      ASSERT_EQ(row->first, found->first);
    }
  }
}

TEST(SharedMap, AnOldVersionStaysAsItWas) {
  Map before;
  for (int i = 0; i < 1000; ++i) before.put(i, i);
  const auto kept = before;
  for (int i = 0; i < 1000; i += 3) before.erase(i);
  before.put(4, -1);
  EXPECT_EQ(kept.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(*kept.find(i), i);
}

TEST(SharedMap, DifferencesLeadFromOneVersionToTheOther) {
  std::mt19937 random(2);
  Map now;
  for (int i = 0; i < 3000; ++i) now.put(i * 2, i);
  for (int round = 0; round < 300; ++round) {
    const auto before = now;
    for (unsigned i = 0, n = random() % 20; i < n; ++i) {
      const int key = static_cast<int>(random() % 6000);
      if (random() % 2 == 0) {
        now.erase(key);
      } else {
        now.put(key, round);
      }
    }
    auto patched = before;
    std::size_t changes = 0;
    Map::difference(before, now, [&](int key, const int* value) {
      ++changes;
      if (value == nullptr) {
        patched.erase(key);
      } else {
        patched.put(key, *value);
      }
    });
    EXPECT_TRUE(patched == now);
    EXPECT_LE(changes, 20U);
  }
}

Mgid some_mgid(std::uint8_t number) {
  Mgid mgid;
  mgid.bytes = {0xff, 0x12};
  mgid.bytes[15] = number;
  return mgid;
}

TEST(Registry, CountsFollowTheMembers) {
  Registry registry;
  registry.put_group(some_mgid(1), Lid{0xC000}, {}, false);
  registry.put_group(some_mgid(2), Lid{0xC000}, {}, false);
  registry.put_member({some_mgid(1), Guid{5}}, {.join_state = 1});
  registry.put_member({some_mgid(1), Guid{6}}, {.join_state = 4});
  registry.put_member({some_mgid(2), Guid{5}}, {.join_state = 2});

  EXPECT_EQ(registry.groups().find(some_mgid(1))->members, 2U);
  EXPECT_EQ(registry.groups().find(some_mgid(1))->keepers, 1U);
  EXPECT_EQ(registry.uses(Guid{5}).groups, 2U);
  EXPECT_EQ(*registry.mlids().find(Lid{0xC000}), 2U);

  registry.put_member({some_mgid(1), Guid{5}}, {.join_state = 8});  // another way to keep it
  EXPECT_EQ(registry.groups().find(some_mgid(1))->keepers, 1U);
  registry.drop_group(some_mgid(1));
  EXPECT_EQ(registry.members().size(), 1U);
  EXPECT_EQ(registry.uses(Guid{6}).groups, 0U);
  EXPECT_EQ(*registry.mlids().find(Lid{0xC000}), 1U);
  registry.drop_group(some_mgid(2));
  EXPECT_TRUE(registry.mlids().empty());
  EXPECT_TRUE(registry == Registry{});
}

TEST(Registry, TellsWhoHasJoinedWhichMulticastLid) {
  Registry registry;
  registry.put_group(some_mgid(1), Lid{0xC001}, {}, false);
  registry.put_group(some_mgid(2), Lid{0xC001}, {}, false);
  registry.put_group(some_mgid(3), Lid{0xC000}, {}, false);
  registry.put_group(some_mgid(4), Lid{0xC002}, {}, true);
  registry.put_member({some_mgid(1), Guid{5}}, {.join_state = wire::kSendOnlyNonMember});
  registry.put_member({some_mgid(2), Guid{5}}, {.join_state = wire::kFullMember});
  registry.put_member({some_mgid(2), Guid{6}}, {.join_state = wire::kSendOnlyFullMember});
  registry.put_member({some_mgid(3), Guid{7}}, {.join_state = wire::kNonMember});

  const sm::GroupList expected{{.mlid = Lid{0xC000}, .members = {{Guid{7}, true}}},
                               {.mlid = Lid{0xC001}, .members = {{Guid{5}, true}, {Guid{6}, false}}}};
  EXPECT_EQ(*group_members(registry), expected);
}

TEST(Registry, MulticastLidsAreSharedWhenTheyRunOut) {
  Registry registry;
  const Settings settings;
  const GroupParameters terms{.pkey = PKey{0xFFFF}, .mtu = Mtu::m2048, .rate = 3};
  auto other = terms;
  other.pkey = PKey{0x8001};
  for (std::uint8_t i = 0; i < 4; ++i) {
    const auto mlid = choose_mlid(registry, settings, 4, {}, some_mgid(i), i == 3 ? other : terms);
    ASSERT_EQ(mlid, Lid{static_cast<std::uint16_t>(0xC000 + i)});
    registry.put_group(some_mgid(i), *mlid, i == 3 ? other : terms, i == 0);
  }
  // Not the well-known group's, not that of another partition; the one that the fewest have.
  for (std::uint8_t i = 4; i < 8; ++i) {
    const auto mlid = choose_mlid(registry, settings, 4, {}, some_mgid(i), terms);
    ASSERT_EQ(mlid, Lid{static_cast<std::uint16_t>(0xC001 + i % 2)});
    registry.put_group(some_mgid(i), *mlid, terms, false);
  }
  auto third = terms;
  third.pkey = PKey{0x8002};
  EXPECT_FALSE(choose_mlid(registry, settings, 4, {}, some_mgid(9), third));
  registry.drop_group(some_mgid(3));
  EXPECT_EQ(choose_mlid(registry, settings, 4, {}, some_mgid(9), third), Lid{0xC003});
}

TEST(Mlids, ThoseOfMembersWhoHaveNotJoinedAgainAreTakenLast) {
  Registry registry;
  const Settings settings;
  const GroupParameters terms{.pkey = PKey{0xFFFF}};
  const std::vector<Lid> taken{Lid{0xC000}, Lid{0xC002}};
  std::vector<Lid> given;
  for (std::uint8_t i = 0; i < 4; ++i) {
    const auto mlid = choose_mlid(registry, settings, 4, taken, some_mgid(i), terms);
    ASSERT_TRUE(mlid);
    registry.put_group(some_mgid(i), *mlid, terms, false);
    given.push_back(*mlid);
  }
  EXPECT_EQ(given, (std::vector{Lid{0xC001}, Lid{0xC003}, Lid{0xC000}, Lid{0xC002}}));
}

TEST(Registry, SolicitedNodeGroupsMayShareOne) {
  const auto solicited = [](std::uint8_t last) {
    Mgid mgid;
    mgid.bytes = {0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 1, 2, last};
    return mgid;
  };
  EXPECT_TRUE(is_solicited_node(solicited(1)));
  EXPECT_FALSE(is_solicited_node(some_mgid(1)));
  Registry registry;
  const Settings settings{.consolidate_ipv6_snm = true};
  const GroupParameters terms{.pkey = PKey{0xFFFF}, .mtu = Mtu::m2048, .rate = 3};
  for (std::uint8_t i = 1; i < 10; ++i) {
    const auto mlid = choose_mlid(registry, settings, 100, {}, solicited(i), terms);
    ASSERT_EQ(mlid, Lid{0xC000});
    registry.put_group(solicited(i), *mlid, terms, false);
  }
  EXPECT_EQ(choose_mlid(registry, settings, 100, {}, some_mgid(1), terms), Lid{0xC001});
}

}  // namespace
}  // namespace smd::sa
