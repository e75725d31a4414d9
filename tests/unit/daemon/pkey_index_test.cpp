// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "smd/sa/policy.h"

namespace smd::sa {
namespace {

HeldPKeys keys(std::initializer_list<std::pair<std::size_t, std::uint16_t>> at) {
  HeldPKeys held;
  held.row.resize(2);
  for (const auto& [index, key] : at) held.row[index / 32].keys[index % 32] = PKey{key};
  return held;
}

TEST(PKeyIndex, IsThatOfTheFirstKeyThatBothHaveOneOfThemAsFullMember) {
  const auto ours = keys({{0, 0x8001}, {3, 0x0002}, {33, 0xFFFF}});
  const auto port_with = [](const HeldPKeys* held) {
    EndPort port;
    port.pkeys = held;
    return port;
  };
  const auto sm = port_with(&ours);
  const auto index_to = [&](const HeldPKeys* theirs) { return Policy{}.pkey_index(sm, port_with(theirs)); };

  const auto first = keys({{5, 0x0001}}), limited = keys({{0, 0x0002}, {1, 0x7FFF}}),
             full = keys({{0, 0x8002}}), none = keys({{0, 0x8009}});
  EXPECT_EQ(index_to(&first), 0U);
  EXPECT_EQ(index_to(&limited), 33U) << "two limited members may not talk";
  EXPECT_EQ(index_to(&full), 3U);
  EXPECT_EQ(index_to(&none), 0U);
  EXPECT_EQ(index_to(nullptr), 33U) << "as after a reset: the default partition";
}

}  // namespace
}  // namespace smd::sa
