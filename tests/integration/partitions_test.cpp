// SPDX-License-Identifier: Apache-2.0
// P_Key tables that an earlier SM has left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/managed_world.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using test::Managed;

/// two_leaves() as an SM on h0 has left it that is gone now; smd on h1.
class LeftPartitions : public testing::Test {
 protected:
  LeftPartitions() : world_(test::two_leaves()) {
    test::Asker asker(world_);
    test::bring_up_two_leaves(asker);
  }
  void key(const sim::Place& place, unsigned index, unsigned value) {
    ASSERT_TRUE(world_.fabric().faults().set_p_key(place, index, PKey{static_cast<std::uint16_t>(value)}));
  }
  void run() {
    world_.record_trace(true);
    smd_.emplace(world_, "h1");
    test::run_for(world_, {&**smd_}, std::chrono::seconds(5));
  }
  std::array<PKey, 32> keys_of_sm() {
    test::Asker asker(world_, {"h1", PortNum{1}});
    return asker.get<wire::PKeyTable>(test::path({})).value.keys;
  }
  /// Attribute of the first Set that any client sent.
  std::uint16_t first_set() const {
    for (const auto& entry : world_.trace()) {
      const auto smp = wire::Smp::from_bytes(entry.bytes);
      if (entry.sent && smp && smp->method() == wire::Method::set) return smp->attribute();
    }
    return 0;
  }

  sim::World world_;
  std::optional<Managed> smd_;
};

TEST_F(LeftPartitions, ALimitedSmPortBecomesAFullMemberWithTheFirstSet) {
  key({"h1", PortNum{1}}, 0, 0x7FFF);
  run();

  EXPECT_EQ(keys_of_sm()[0], kDefaultPKey);
  EXPECT_EQ(first_set(), wire::PKeyTable::kAttribute);
  EXPECT_EQ(smd_->lines().count("partition.sm_port"), 1U);
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up);
}

TEST_F(LeftPartitions, OtherKeysOfTheSmPortKeepTheirIndexes) {
  key({"h1", PortNum{1}}, 0, 0x8001);
  key({"h1", PortNum{1}}, 1, 0x8002);
  key({"h1", PortNum{1}}, 3, 0x7FFF);
  run();

  const auto keys = keys_of_sm();
  EXPECT_THAT(std::vector(keys.begin(), keys.begin() + 5),
              testing::ElementsAre(PKey{0x8001}, PKey{0x8002}, PKey{}, kDefaultPKey, PKey{}));
}

TEST_F(LeftPartitions, WithoutADefaultKeyAFreeIndexIsTaken) {
  key({"h1", PortNum{1}}, 0, 0x8001);
  run();

  const auto keys = keys_of_sm();
  EXPECT_EQ(keys[0], PKey{0x8001});
  EXPECT_EQ(keys[1], kDefaultPKey);
}

TEST_F(LeftPartitions, TheSwitchPortBeforeItBecomesOneToo) {
  key({"leaf1", PortNum{1}}, 0, 0x7FFF);
  run();

  test::Asker asker(world_, {"h1", PortNum{1}});
  EXPECT_EQ(asker.get<wire::PKeyTable>(test::path({1}), 1U << 16U).value.keys[0], kDefaultPKey);
}

TEST_F(LeftPartitions, AFullMemberIsLeftAlone) {
  run();
  EXPECT_NE(first_set(), wire::PKeyTable::kAttribute);
  EXPECT_EQ(smd_->lines().count("partition.sm_port"), 0U);
}

TEST_F(LeftPartitions, AFullTableIsNamed) {
  for (unsigned index = 0; index < 128; ++index) key({"h1", PortNum{1}}, index, 0x8001 + index);
  run();

  EXPECT_EQ(smd_->lines().count("partition.no_room"), 1U) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(keys_of_sm()[0], PKey{0x8001});
}

}  // namespace
}  // namespace smd
