// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/capability.h"

#include <gtest/gtest.h>

#include "mad/wire/modifier.h"

namespace smd::wire {
namespace {

TEST(LinkSpeed, IsTheFastestThatAnyFieldSays) {
  EXPECT_EQ(link_speed({.link_speed_active = 1}), LinkSpeed::sdr);
  EXPECT_EQ(link_speed({.link_speed_active = 2}), LinkSpeed::ddr);
  EXPECT_EQ(link_speed({.link_speed_active = 4}), LinkSpeed::qdr);
  EXPECT_EQ(link_speed({.link_speed_active = 4, .link_speed_ext_active = 1}), LinkSpeed::fdr);
  EXPECT_EQ(link_speed({.link_speed_active = 4, .link_speed_ext_active = 2}), LinkSpeed::edr);
  EXPECT_EQ(link_speed({.link_speed_ext_active = 4}), LinkSpeed::hdr);
  EXPECT_EQ(link_speed({.link_speed_ext_active = 8}), LinkSpeed::ndr);
  EXPECT_EQ(link_speed({.link_speed_ext2_active = 1}), LinkSpeed::xdr);
  EXPECT_EQ(link_speed({}), LinkSpeed::unknown);
  EXPECT_EQ(link_speed({.link_speed_active = 8}), LinkSpeed::unknown);
}

TEST(LinkSpeed, Fdr10IsQdrThatTheVendorsAttributeKnowsBetter) {
  const PortInfo qdr{.link_speed_active = 4}, edr{.link_speed_active = 4, .link_speed_ext_active = 2};
  EXPECT_EQ(link_speed(qdr, MlnxExtPortInfo{.link_speed_active = 1}), LinkSpeed::fdr10);
  EXPECT_EQ(link_speed(qdr, MlnxExtPortInfo{}), LinkSpeed::qdr);
  EXPECT_EQ(link_speed(edr, MlnxExtPortInfo{.link_speed_active = 1}), LinkSpeed::edr);
}

TEST(LinkWidth, KnowsEveryWidthAndNoOther) {
  for (const auto width : {LinkWidth::x1, LinkWidth::x2, LinkWidth::x4, LinkWidth::x8, LinkWidth::x12}) {
    EXPECT_EQ(link_width({.link_width_active = static_cast<std::uint8_t>(width)}), width);
  }
  EXPECT_EQ(link_width({}), LinkWidth::unknown);
  EXPECT_EQ(link_width({.link_width_active = 3}), LinkWidth::unknown);
}

TEST(Capability, TheSecondMaskCountsOnlyWhereTheFirstSaysSo) {
  PortInfo info{.capability_mask = kCapIsSm, .capability_mask2 = kCap2LinkSpeedNdr};
  EXPECT_TRUE(has(info, kCapIsSm));
  EXPECT_FALSE(has(info, kCapTrap));
  EXPECT_FALSE(has2(info, kCap2LinkSpeedNdr));
  info.capability_mask |= kCapCapabilityMask2;
  EXPECT_TRUE(has2(info, kCap2LinkSpeedNdr));
  EXPECT_FALSE(has2(info, kCap2LinkWidth2x));
}

TEST(Modifier, IsWhatTheToolsSend) {
  EXPECT_EQ(port_info_modifier(PortNum{7}, false), 7U);
  EXPECT_EQ(port_info_modifier(PortNum{7}, true), 0x80000007U);
  EXPECT_EQ(port_of_port_info(0x80000007U), PortNum{7});
  EXPECT_EQ(lft_modifier(lft_block(Lid{64})), 1U);
  EXPECT_EQ(mft_modifier(mft_block(Lid{0xC020}), 2), 0x20000001U);
  EXPECT_EQ(block_of_mft(0x20000001U), 1U);
  EXPECT_EQ(position_of_mft(0x20000001U), 2U);
  EXPECT_EQ(p_key_modifier(3, PortNum{5}), 0x00050003U);
  EXPECT_EQ(block_of_p_key(0x00050003U), 3U);
  EXPECT_EQ(port_of_p_key(0x00050003U), PortNum{5});
  EXPECT_EQ(guid_info_modifier(4), 4U);
  EXPECT_EQ(sl_to_vl_modifier(PortNum{2}, PortNum{3}), 0x203U);
  EXPECT_EQ(in_port_of_sl_to_vl(0x203U), PortNum{2});
  EXPECT_EQ(out_port_of_sl_to_vl(0x203U), PortNum{3});
  EXPECT_EQ(kSlToVlAllModifier, 0x30000U);
  EXPECT_EQ(sl_to_vl_all_in_modifier(PortNum{3}), 0x20003U);
  EXPECT_EQ(vl_arb_modifier(VlArbPart::high_first, PortNum{9}), 0x00030009U);
  EXPECT_EQ(part_of_vl_arb(0x00030009U), 3U);
  EXPECT_EQ(port_of_vl_arb(0x00030009U), PortNum{9});
}

}  // namespace
}  // namespace smd::wire
