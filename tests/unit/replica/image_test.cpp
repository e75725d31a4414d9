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
