// SPDX-License-Identifier: Apache-2.0
// What clients have registered, written and read back.
#include "smd/registry/registry.h"

#include <gtest/gtest.h>

#include "smd/store/database.h"
#include "smd/store/subnet_states.h"
#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

using test::TemporaryFolder;

Mgid mgid_of(std::uint64_t number) {
  Mgid mgid;
  mgid.bytes = {0xff, 0x12, 0x40, 0x1b};
  mgid.bytes[15] = static_cast<std::uint8_t>(number);
  return mgid;
}

/// A few groups and members other than before.
sa::Registry altered(sa::Registry registry, std::mt19937_64& random) {
  const auto pick = [&](std::uint64_t n) { return random() % n; };
  for (std::uint64_t i = 0, n = 1 + pick(8); i < n; ++i) {
    const auto mgid = mgid_of(pick(12));
    if (!registry.groups().contains(mgid) || pick(6) == 0) {
      registry.put_group(mgid, Lid{static_cast<std::uint16_t>(0xC000 + pick(9))},
                         {.qkey = static_cast<std::uint32_t>(random()),
                          .pkey = PKey{0xFFFF},
                          .mtu = Mtu::m2048,
                          .rate = 3,
                          .life = 18,
                          .sl = Sl{static_cast<std::uint8_t>(pick(16))},
                          .flow_label = static_cast<std::uint32_t>(pick(1U << 20U))},
                         pick(2) == 0);
    }
    if (pick(9) == 0) {
      registry.drop_group(mgid);
    } else if (pick(3) == 0) {
      registry.drop_member({mgid, test::some_guid(pick(20) + 1)});
    } else {
      registry.put_member({mgid, test::some_guid(pick(20) + 1)},
                          {.join_state = static_cast<std::uint8_t>(1 + pick(15)),
                           .proxy = pick(2) == 0,
                           .joined_by = Guid{pick(3)}});
    }
  }
  return registry;
}

TEST(StoredRegistry, ComesBackAsItWasWritten) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    TemporaryFolder folder;
    const Place place{folder.path()};
    std::mt19937_64 random(seed);
    const sm::Stored nothing;
    sa::Registry before;
    for (int i = 0; i < 10; ++i) {
      const auto now = altered(before, random);
      auto database = Database::open(place);
      ASSERT_TRUE(database);
      const std::vector<Batch> batches{{.subnet = "a",
                                        .before = &nothing,
                                        .now = &nothing,
                                        .registry_before = i == 5 ? nullptr : &before,
                                        .registry_now = &now}};
      ASSERT_TRUE(database->write(batches));
      before = now;
      EXPECT_TRUE(*Database::open(place)->load_registry("a") == before) << "seed " << seed;
      EXPECT_TRUE(*Database::open(place)->load_registry("b") == sa::Registry{});
    }
  }
}

TEST(StoredRegistry, KeepsEveryByteOfAServicesName) {
  TemporaryFolder folder;
  const Place place{folder.path()};
  sa::Registry registry;
  const sa::ServiceKey key{.id = 7, .gid = Gid::of(kDefaultSubnetPrefix, Guid{5}), .pkey = PKey{0xFFFF}};
  sa::Service service{.record = {.id = 7, .gid = key.gid, .pkey = key.pkey}, .owner = Guid{5}};
  service.record.name = {'a', 0, 'b', 0xFF};
  service.record.name.back() = 'z';
  registry.put_service(key, service);

  ASSERT_TRUE(Database::open(place)->write(std::vector<Batch>{{"a", nullptr, nullptr, nullptr, &registry}}));

  EXPECT_EQ(Database::open(place)->load_registry("a")->services().find(key)->record.name,
            service.record.name);
}

TEST(StoredRegistry, IsThereWhenTheSubnetIsOpenedAgain) {
  TemporaryFolder folder;
  std::mt19937_64 random(3);
  const auto kept = std::make_shared<const sa::Registry>(altered(altered({}, random), random));
  {
    SubnetStates shelves({folder.path()}, {});
    ASSERT_TRUE(shelves.open("a"));
    shelves.put("a", kept);
    EXPECT_TRUE(shelves.behind());
    EXPECT_TRUE(shelves.write());
    EXPECT_FALSE(shelves.behind());
  }
  SubnetStates shelves({folder.path()}, {});
  ASSERT_TRUE(shelves.open("a"));
  EXPECT_TRUE(*std::get<sa::RegistryPtr>(shelves.kept("a")) == *kept);
  EXPECT_FALSE(shelves.behind());
}

}  // namespace
}  // namespace smd::store
