// SPDX-License-Identifier: Apache-2.0
// What RMPP makes of a long MAD.
#include "mad/sim/packets/segments.h"

#include <gtest/gtest.h>

#include <numeric>

#include "mad/wire/mad.h"

namespace smd::test {
namespace {

constexpr std::size_t kSaHeaders = 56, kRoom = 200;

std::vector<std::uint8_t> answer_of(std::size_t data) {
  std::vector<std::uint8_t> mad(kSaHeaders + data);
  wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa, .class_version = 2}, mad);
  mad[24] = mad[25] = mad[26] = 1;
  std::iota(mad.begin() + kSaHeaders, mad.end(), std::uint8_t{7});
  return mad;
}

unsigned word(const std::vector<std::uint8_t>& mad, std::size_t at) {
  return static_cast<unsigned>(mad[at] << 24U | mad[at + 1] << 16U | mad[at + 2] << 8U | mad[at + 3]);
}

TEST(Segments, AnAnswerOfThreeIsCutWithItsHeadersBeforeEach) {
  const auto mad = answer_of(2 * kRoom + 50);
  ASSERT_EQ(sim::segments_of(mad), 3U);
  const auto first = sim::segment_of(mad, 1), second = sim::segment_of(mad, 2),
             last = sim::segment_of(mad, 3);

  for (const auto& segment : {first, second, last}) {
    ASSERT_EQ(segment.size(), wire::kMadBytes);
    EXPECT_EQ(segment[1], 3);
    EXPECT_EQ(segment[25], 1);  // DATA
  }
  EXPECT_EQ(first[26] & 7, 1 | 2);
  EXPECT_EQ(second[26] & 7, 1);
  EXPECT_EQ(last[26] & 7, 1 | 4);
  EXPECT_EQ(word(first, 28), 1U);
  EXPECT_EQ(word(last, 28), 3U);
  EXPECT_EQ(word(first, 32), 3 * 220U - 150U);  // 20 bytes of SA's header count in each
  EXPECT_EQ(word(second, 32), 0U);
  EXPECT_EQ(word(last, 32), 20U + 50U);
  EXPECT_EQ(second[kSaHeaders], mad[kSaHeaders + kRoom]);
  EXPECT_EQ(last[kSaHeaders + 49], mad.back());
  EXPECT_EQ(last[kSaHeaders + 50], 0);
}

TEST(Segments, WhatFitsOrHasNoRmppIsOne) {
  EXPECT_EQ(sim::segments_of(answer_of(kRoom)), 1U);
  auto plain = answer_of(3 * kRoom);
  plain[26] = 0;
  EXPECT_EQ(sim::segments_of(plain), 1U);
  EXPECT_EQ(sim::segment_of(plain, 1), plain);
}

}  // namespace
}  // namespace smd::test
