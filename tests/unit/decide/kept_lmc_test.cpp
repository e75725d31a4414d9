// SPDX-License-Identifier: Apache-2.0
// The LMC that a fabric goes on with where the configuration gives none.
#include <gtest/gtest.h>

#include <string_view>

#include "smd/decide/lids.h"
#include "tests/unit/decide/support.h"

namespace smd::sm {
namespace {

struct KeptLmcCase {
  std::string_view name;
  std::uint8_t first, second;  // LMC that the hosts hold
  PortState state;
  unsigned lid;
  std::uint8_t stored;
  unsigned last;
  std::uint8_t expected;
};

// Two hosts and a switch with an enhanced port 0 that holds LMC 3.
TEST(KeptLmc, IsTheHighestOfTheHostsInServiceThatFits) {
  const KeptLmcCase cases[]{
      {"the highest", 1, 2, kActive, 4, 0, 0xBFFF, 2},
      {"the highest, the other way round", 2, 1, kActive, 4, 0, 0xBFFF, 2},
      {"Armed is in service", 2, 2, PortState::armed, 4, 0, 0xBFFF, 2},
      {"not that of ports in Init", 2, 2, kInit, 4, 0, 0xBFFF, 0},
      {"of ports in Init the stored one", 2, 2, kInit, 4, 1, 0xBFFF, 1},
      {"held goes before stored", 1, 1, kActive, 4, 3, 0xBFFF, 1},
      {"held 0 goes before stored", 0, 0, kActive, 4, 3, 0xBFFF, 0},
      {"a port without a LID has no LMC", 2, 2, kActive, 0, 1, 0xBFFF, 1},
      {"2 hosts of 4 LIDs and a switch fit in 9", 2, 2, kActive, 4, 0, 9, 2},
      {"but not in 8", 2, 2, kActive, 4, 0, 8, 1},
      {"nor does LMC 1 in 4", 2, 2, kActive, 4, 0, 4, 0},
  };
  for (const auto& at : cases) {
    auto fabric = one_host(at.state, at.lid, at.first);
    fabric.host(kOther, kSwitch, 2, at.state).lid(kOther, 1, at.lid == 0 ? 0 : 8, at.second);
    fabric.lid(kSwitch, 0, 1, 3);

    const auto lmc = kept_lmc(fabric.build(), {.last = to_lid(at.last)},
                              stored_lid(kOther, at.stored == 0 ? 0 : 8, at.stored));

    EXPECT_EQ(lmc, at.expected) << at.name;
  }
}

TEST(KeptLmc, IsBoundedByTheForwardingTables) {
  auto fabric = one_host(kActive, 8, 3);
  fabric.host(kOther, kSwitch, 2).lid(kOther, 1, 16, 3);
  fabric.node(kSwitch).switch_info->linear_fdb_cap = 10;  // LIDs 1 to 9

  EXPECT_EQ(kept_lmc(fabric.build(), {}, {}), 2);
}

TEST(KeptLmc, CountsFromTheFirstLidThatIsGiven) {
  auto fabric = one_host(kActive, 8, 2);
  fabric.host(kOther, kSwitch, 2).lid(kOther, 1, 16, 2);

  EXPECT_EQ(kept_lmc(fabric.build(), {.first = Lid{100}, .last = Lid{108}}, {}), 2);
  EXPECT_EQ(kept_lmc(fabric.build(), {.first = Lid{101}, .last = Lid{108}}, {}), 1);
}

}  // namespace
}  // namespace smd::sm
