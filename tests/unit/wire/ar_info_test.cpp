// SPDX-License-Identifier: Apache-2.0
// ARInfo byte by byte: libibmad does not know it, so that nothing else checks where its fields are.
#include "mad/wire/ar_info.h"

#include <gtest/gtest.h>

#include "mad/wire/vendor.h"

namespace smd::wire {
namespace {

/// Bytes as ib_ar_info_t of NVIDIA's OpenSM has them: one member after the other, big-endian.
std::array<std::uint8_t, ArInfo::kBytes> sample() {
  std::array<std::uint8_t, ArInfo::kBytes> bytes{};
  bytes[0] = 0x19;   // enabled_and_cap_fields: no_fallback, by SL cap, by SL enabled
  bytes[1] = 0x20;   // dir_num_supp
  bytes[2] = 0x83;   // grp_tbl_cpy_sub_grp_active: 8 copies, 3 active
  bytes[3] = 0x11;   // enable_features: AR enabled, FR enabled
  bytes[4] = 0x5A;   // group_info: string width cap 5, group table cap 10,
  bytes[5] = 0x12;   // group top 0x123,
  bytes[6] = 0x38;   // group cap 0x800
  bytes[8] = 0xF0;   // enable_by_sl_mask
  bytes[9] = 0x0F;   //
  bytes[10] = 2;     // sub_grps_sup
  bytes[11] = 0x21;  // ar_nv_version_cap: routing notification 2, adaptive routing 1
  bytes[15] = 0x09;  // by_trns_disable: UD, DC
  bytes[17] = 1;     // ageing_time_value
  bytes[20] = 0x80;  // cap_fields1
  bytes[22] = 0x40;  // enable_features1
  bytes[27] = 0x33;  // enable_by_sl_mask_hbf
  return bytes;
}

TEST(ArInfo, HasItsFieldsWhereTheVendorsHeaderHasThem) {
  const auto info = *decode<ArInfo>(sample());

  EXPECT_TRUE(info.enabled);
  EXPECT_TRUE(info.fr_enabled);
  EXPECT_FALSE(info.arn_supported || info.frn_supported || info.fr_supported || info.rn_enabled);
  EXPECT_TRUE(info.no_fallback && info.by_sl_cap && info.by_sl_enabled);
  EXPECT_FALSE(info.is4_mode || info.global_groups || info.by_transport_cap || info.dynamic_caps);
  EXPECT_EQ(info.directions, 0x20);
  EXPECT_EQ(info.group_copies, 8);
  EXPECT_EQ(info.sub_groups_active, 3);
  EXPECT_EQ(info.string_width_cap, 5);
  EXPECT_EQ(info.group_table_cap, 10);
  EXPECT_EQ(info.group_top, 0x123);
  EXPECT_EQ(info.group_cap, 0x800);
  EXPECT_EQ(info.by_sl_mask, 0xF00F);
  EXPECT_EQ(info.sub_groups_supported, 2);
  EXPECT_EQ(info.rn_version, 2);
  EXPECT_EQ(info.ar_version, 1);
  EXPECT_EQ(info.transports_off, 9);
  EXPECT_EQ(info.ageing_us, 0x10000U);
  EXPECT_EQ(info.caps1, 0x80);
  EXPECT_EQ(info.features1, 0x40);
  EXPECT_EQ(info.hbf_by_sl_mask, 0x33);
}

TEST(ArInfo, IsWrittenBackAsItWasReadButForTheBitThatChanges) {
  std::array<std::uint8_t, ArInfo::kBytes> bytes{};
  bytes.fill(0xFF);
  auto info = *decode<ArInfo>(bytes);
  info.enabled = false;

  auto expected = bytes;
  expected[3] = 0xFE;
  EXPECT_EQ(encoded(info), expected);
}

TEST(Vendor, NvidiaHasSeveralNumbers) {
  EXPECT_TRUE(is_nvidia(0x0002C9));
  EXPECT_TRUE(is_nvidia(0x248A07));
  EXPECT_FALSE(is_nvidia(0));
  EXPECT_FALSE(is_nvidia(0x00066A));
}

}  // namespace
}  // namespace smd::wire
