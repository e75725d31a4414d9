// SPDX-License-Identifier: Apache-2.0
// By how many VLs links between switches can keep layers apart, and the port that has no more.
#include <gtest/gtest.h>

#include <string>

#include "mad/wire/capability.h"
#include "smd/decide/links.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/stored.h"
#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

/// Three switches in a row, with 15 VLs and 16 arbitration entries everywhere.
class LayerLimits : public ::testing::Test {
 protected:
  LayerLimits() {
    fabric_.add_switch(0x10).add_switch(0x20).add_switch(0x30);
    fabric_.link(0x10, 1, 0x20, 1, PortState::init).link(0x20, 2, 0x30, 1, PortState::init);
    fabric_.host(0x100, 0x10, 5, PortState::init).sm(0x100, 1);
    for (const std::uint64_t guid : {0x10U, 0x20U, 0x30U}) {
      fabric_.node(guid).description = "spine";
      for (auto& port : fabric_.node(guid).ports) {
        port.info.vl_cap = port.info.operational_vls = 5;
        port.info.vl_arb_low_cap = port.info.vl_arb_high_cap = 16;
        port.info.capability_mask |= wire::kCapSlMapping;
      }
    }
  }
  wire::PortInfo& port(std::uint64_t guid, unsigned number) { return fabric_.port(guid, number).info; }
  LayerLimit find(bool both_lists = false) const {
    const auto subnet = fabric_.build();
    return layer_limit(subnet, decide_links(subnet, config_, {}), both_lists);
  }

  test::SubnetBuilder fabric_;
  config::LinksConfig config_;
};

TEST_F(LayerLimits, AreNoneWhereAllHaveFifteenVls) {
  EXPECT_EQ(find().vls, 15U);
  EXPECT_EQ(find().by, "");
}

TEST_F(LayerLimits, NameTheEndThatHasNoMoreVls) {
  port(0x20, 2).vl_cap = 2;
  EXPECT_EQ(find().vls, 2U);
  EXPECT_EQ(find().by, "0x0000000000000020 spine port 2 has 2 data VLs");

  port(0x30, 1).vl_cap = 1;
  EXPECT_EQ(find().vls, 1U);
  EXPECT_EQ(find().by, "0x0000000000000030 spine port 1 has 1 data VL");
}

TEST_F(LayerLimits, CountEntriesOfArbitrationWhereThereAreMoreVls) {
  port(0x30, 1).vl_arb_low_cap = 8;
  EXPECT_EQ(find().vls, 8U);
  EXPECT_EQ(find().by, "0x0000000000000030 spine port 1 has VL arbitration tables for 8 VLs");
}

TEST_F(LayerLimits, CountTheHighListWhereClassesHaveTheirTurnsInIt) {
  port(0x30, 1).vl_arb_high_cap = 4;
  EXPECT_EQ(find(false).vls, 15U);
  EXPECT_EQ(find(true).vls, 4U);

  port(0x30, 1).vl_arb_high_cap = 0;
  EXPECT_EQ(find(true).vls, 15U) << "all have them in the low one then";
}

TEST_F(LayerLimits, SayWhatLinksInOperationUse) {
  for (const std::uint64_t guid : {0x10U, 0x20U}) {
    port(guid, 1).port_state = PortState::active;
    port(guid, 1).operational_vls = 3;
  }
  EXPECT_EQ(find().vls, 4U);
  EXPECT_EQ(find().by, "0x0000000000000010 spine port 1 uses 4 data VLs of those that it has");
}

TEST_F(LayerLimits, AreOneWhereASwitchMapsNoSls) {
  port(0x20, 0).capability_mask &= ~wire::kCapSlMapping;
  EXPECT_EQ(find().vls, 1U);
  EXPECT_EQ(find().by, "0x0000000000000020 spine port 1 has no SL to VL table");
}

}  // namespace
}  // namespace smd::sm
