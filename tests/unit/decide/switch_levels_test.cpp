// SPDX-License-Identifier: Apache-2.0
#include "smd/inventory/switch_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

using testing::ElementsAre;
using testing::Optional;

constexpr std::uint64_t kLeaf = 0x10, kOtherLeaf = 0x11, kSpine = 0x20;

/// Leaf 0x10 with host 0x100, leaf 0x11 with host 0x200, spine 0x20 above both.
class SwitchLevels : public testing::Test {
 protected:
  SwitchLevels() {
    fabric_.add_switch(kLeaf).add_switch(kOtherLeaf).add_switch(kSpine);
    fabric_.link(kLeaf, 7, kSpine, 1).link(kOtherLeaf, 7, kSpine, 2).host(0x100, kLeaf, 1);
  }
  std::vector<std::optional<unsigned>> levels(const Inventory* known = nullptr) {
    auto found = switch_levels(fabric_.build(), known);
    found.resize(3);  // then come the adapters
    return found;
  }
  test::SubnetBuilder fabric_;
};

TEST_F(SwitchLevels, AggregationNodesMakeNoLeafOfASpine) {
  fabric_.host(0x200, kOtherLeaf, 1).host(0x300, kSpine, 5);
  EXPECT_THAT(levels(), ElementsAre(Optional(0U), Optional(0U), Optional(0U)));
  fabric_.node(0x300).description = "Mellanox Technologies Aggregation Node";
  EXPECT_THAT(levels(), ElementsAre(Optional(0U), Optional(0U), Optional(1U)));
}

TEST_F(SwitchLevels, ALeafWhoseHostsAreOffStaysOne) {
  Inventory known;
  known.put(Guid{kOtherLeaf}, {.type = NodeType::switch_, .name = ""});
  known.put(Guid{0x200}, {.type = NodeType::ca, .name = "h2", .lost_at = 5});
  known.put({Guid{kOtherLeaf}, PortNum{1}},
            {.peer = {Guid{0x200}, PortNum{1}}, .rate = {}, .up_since = 1, .lost_at = 5});
  EXPECT_THAT(levels(), ElementsAre(Optional(0U), Optional(2U), Optional(1U)));
  EXPECT_THAT(levels(&known), ElementsAre(Optional(0U), Optional(0U), Optional(1U)));
  known.put(Guid{0x200}, {.type = NodeType::ca, .name = "h2"});
  EXPECT_THAT(levels(&known), ElementsAre(Optional(0U), Optional(2U), Optional(1U))) << "it has moved";
}

TEST_F(SwitchLevels, SwitchesThatNoWayConnectsWithHostsHaveNone) {
  fabric_.add_switch(0x05);
  EXPECT_EQ(levels().front(), std::nullopt);
}

}  // namespace
}  // namespace smd::sm
