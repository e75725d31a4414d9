// SPDX-License-Identifier: Apache-2.0
// What a standby makes of changed rows is what it would make of all rows.
#include "smd/replica/image.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "smd/replica/receiver.h"
#include "tests/support/replica_data.h"

namespace smd::replica {
namespace {

/// A few groups, ports and services, so that most steps meet what others have left.
void step(sa::Registry& registry) {
  const auto few = [](std::uint32_t below) { return *rc::gen::inRange<std::uint32_t>(0, below); };
  const auto group = test::replica_group(static_cast<std::uint8_t>(few(3)));
  const Guid port{0x100 + few(4)};
  const sa::GroupParameters terms{.qkey = few(2), .pkey = kDefaultPKey, .mtu = Mtu::m2048, .rate = 3};
  const auto gid = Gid::of(0xfe80000000000000, port);
  switch (few(11)) {
    case 0:
      return registry.put_group(group, Lid{static_cast<std::uint16_t>(0xC000 + few(2))}, terms, few(2) != 0);
    case 1:
      return registry.drop_group(group);
    case 2:
    case 3:
      if (registry.groups().contains(group))
        registry.put_member({group, port}, {.join_state = static_cast<std::uint8_t>(1 + few(3)),
                                            .joined_by = few(2) != 0 ? Guid{} : port});
      return;
    case 4:
      return registry.drop_member({group, port});
    case 5:
      return registry.put_service({.id = few(2), .gid = gid, .pkey = kDefaultPKey},
                                  {.record = {.id = 1, .gid = gid}, .owner = port, .ends = few(3)});
    case 6:
      return registry.drop_service({.id = few(2), .gid = gid, .pkey = kDefaultPKey});
    case 7:
      return registry.put_subscription({.port = port, .is_generic = 1, .type = 0xFFFF, .trap = 64, .qp = 1},
                                       {.number = static_cast<std::uint16_t>(few(3))});
    case 8:
      return registry.put_client(port);
    case 9:
      return registry.drop_client(port);
    default:
      if (const Guid alias{0x900 + few(2)}; registry.by_alias(alias) == nullptr)
        registry.put_alias({.port = port, .index = 1}, alias);
  }
}

Kept with(const std::shared_ptr<sa::Registry>& registry, Kept before) {
  std::get<sa::RegistryPtr>(before) = registry;
  return before;
}

RC_GTEST_PROP(ReplicaImage, ChangedRowsMakeTheStateOfAllRows, ()) {
  auto master = store::nothing_kept();
  Receiver receiver(master);
  auto standby = master;
  Position at{.epoch = 1, .number = 0};
  RC_ASSERT(receiver.take({.of = at, .source = Guid{1}, .index = 0, .count = 1, .rows = {}}));
  for (int round = 0; round < 12; ++round) {
    const auto transactions = *rc::gen::inRange(1, 4);
    for (int i = 0; i < transactions; ++i) {
      auto registry = std::make_shared<sa::Registry>(*std::get<sa::RegistryPtr>(master));
      for (int steps = *rc::gen::inRange(1, 6); steps > 0; --steps) step(*registry);
      auto next = with(registry, master);
      ++at.number;
      RC_ASSERT(receiver.take({.at = at, .source = Guid{1}, .changes = difference(master, next)}));
      master = std::move(next);
    }
    const auto now = state_of(receiver.image(), receiver.take_changed(), standby);
    RC_ASSERT(now.has_value());
    standby = *now;
    const auto &ours = *std::get<sa::RegistryPtr>(standby), &theirs = *std::get<sa::RegistryPtr>(master);
    RC_ASSERT(ours == theirs);
    RC_ASSERT(ours.mlids() == theirs.mlids());
    RC_ASSERT(digests(standby) == digests(master));
  }
}

/// Few nodes and ports: cables come and go, and lead elsewhere.
void step(sm::Stored& stored) {
  const auto few = [](std::uint32_t below) { return *rc::gen::inRange<std::uint32_t>(0, below); };
  auto inventory = stored.inventory ? *stored.inventory : sm::Inventory{};
  const auto end = [&] {
    return sm::LinkEnd{Guid{0x100 + few(4)}, PortNum{static_cast<std::uint8_t>(1 + few(2))}};
  };
  const auto a = end(), b = end();
  switch (few(8)) {
    case 0:
      inventory.forget(a.node);
      break;
    case 1:
      inventory.forget(a);
      break;
    case 2:
      inventory.set_complete(few(3));
      break;
    case 3:
      stored.lids[a.node] = {.base = Lid{static_cast<std::uint16_t>(1 + few(3))}, .lmc = 0};
      break;
    case 4:
    case 5:
      inventory.put(a.node, {.type = NodeType::ca,
                             .name = few(2) != 0 ? "h" : "host",
                             .lost_at = few(2),
                             .image = Guid{few(3)}});
      break;
    default:
      if (a != b) inventory.put(a, {.peer = b, .rate = {}, .up_since = few(3), .lost_at = few(2)});
  }
  stored.inventory = std::make_shared<const sm::Inventory>(std::move(inventory));
}

RC_GTEST_PROP(ReplicaImage, ChangedRowsOfTheInventoryMakeThatOfAllRows, ()) {
  auto master = store::nothing_kept();
  auto image = image_of(master);
  auto standby = master;
  Changes any_row_of_lids;
  any_row_of_lids.push_back({.kind = "lids", .changes = {}});
  for (int round = 0; round < 12; ++round) {
    auto stored = std::make_shared<sm::Stored>(*std::get<sm::StoredPtr>(master));
    for (int steps = *rc::gen::inRange(1, 6); steps > 0; --steps) step(*stored);
    auto next = master;
    std::get<sm::StoredPtr>(next) = stored;
    const auto changed = difference(master, next);
    apply_changes(changed, image);
    const auto now = state_of(image, changed, standby);
    RC_ASSERT(now.has_value());
    standby = *now;
    master = std::move(next);
    RC_ASSERT(digests(standby) == digests(master));
    const auto &ours = *std::get<sm::StoredPtr>(standby), &theirs = *std::get<sm::StoredPtr>(master);
    const auto all = *state_of(image, any_row_of_lids, store::nothing_kept());
    RC_ASSERT(ours == *std::get<sm::StoredPtr>(all));
    if (!theirs.inventory || !ours.inventory) continue;
    RC_ASSERT(ours.inventory->lost() == theirs.inventory->lost());
    RC_ASSERT(ours.inventory->hosts() == theirs.inventory->hosts());
  }
}

TEST(ReplicaImage, AChangeOfOneCableSharesTheRestOfTheInventory) {
  sm::Inventory inventory;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    inventory.put(Guid{0x1000 + i}, {.type = NodeType::ca, .name = "h", .lost_at = 0, .image = {}});
    inventory.put(sm::LinkEnd{Guid{0x1000 + i}, PortNum{1}},
                  {.peer = {Guid{0x9000 + i}, PortNum{1}}, .rate = {}, .up_since = 1, .lost_at = 0});
  }
  auto stored = std::make_shared<sm::Stored>();
  stored->inventory = std::make_shared<const sm::Inventory>(inventory);
  auto before = store::nothing_kept();
  std::get<sm::StoredPtr>(before) = stored;
  auto image = image_of(before);
  auto next = std::make_shared<sm::Stored>(*stored);
  inventory.put(sm::LinkEnd{Guid{0x1001}, PortNum{1}},
                {.peer = {Guid{0x9001}, PortNum{1}}, .rate = {}, .up_since = 1, .lost_at = 7});
  next->inventory = std::make_shared<const sm::Inventory>(inventory);
  auto after = before;
  std::get<sm::StoredPtr>(after) = next;
  const auto changed = difference(before, after);
  apply_changes(changed, image);

  const auto now = state_of(image, changed, before);

  ASSERT_TRUE(now);
  const auto& made = *std::get<sm::StoredPtr>(*now)->inventory;
  EXPECT_EQ(made, inventory);
  EXPECT_EQ(made.lost().links, 1U);
  EXPECT_EQ(made.find(Guid{0x1300}), stored->inventory->find(Guid{0x1300})) << "the same object";
}

TEST(ReplicaImage, WhatHasNotChangedIsShared) {
  auto registry = std::make_shared<sa::Registry>();
  for (std::uint64_t i = 0; i < 100; ++i) test::register_all(*registry, Guid{0x100 + i});
  const auto before = with(registry, store::nothing_kept());
  auto image = image_of(before);
  auto next = std::make_shared<sa::Registry>(*registry);
  next->drop_member({test::replica_group(7), Guid{0x110}});
  const auto changed = difference(before, with(next, before));
  apply_changes(changed, image);

  const auto now = state_of(image, changed, before);

  ASSERT_TRUE(now);
  const auto& made = *std::get<sa::RegistryPtr>(*now);
  EXPECT_EQ(made, *next);
  EXPECT_EQ(made.members().find({test::replica_group(7), Guid{0x150}}),
            registry->members().find({test::replica_group(7), Guid{0x150}}))
      << "the same object";
}

}  // namespace
}  // namespace smd::replica
