// SPDX-License-Identifier: Apache-2.0
// max_vls of [qos] beside layers that connections use.
#include "smd/decide/vl_limit.h"

#include <gtest/gtest.h>

namespace smd::sm {
namespace {

config::QosConfig qos_with(std::uint8_t most) {
  config::QosConfig qos;
  qos.enabled = true;
  qos.all.max_vls = most;
  return qos;
}

TEST(VlLimits, IsTheConfiguredOneWhereLayersFit) {
  EXPECT_EQ(vl_limit(qos_with(4), nullptr, 0, 1), (VlLimit{.vls = 4}));
  EXPECT_EQ(vl_limit(qos_with(4), nullptr, 4, 3), (VlLimit{.vls = 4})) << "classes share";
  EXPECT_EQ(vl_limit({}, nullptr, 15, 1), VlLimit{});
}

TEST(VlLimits, StaysAsItWasWhereALowerOneWaits) {
  SlPart before;
  before.limit = {.vls = 8};
  EXPECT_EQ(vl_limit(qos_with(2), &before, 3, 1), (VlLimit{.vls = 8, .waits = 2}));
  before.limit.waits = 2;
  EXPECT_EQ(vl_limit(qos_with(1), &before, 3, 1), (VlLimit{.vls = 8, .waits = 1}));
  EXPECT_EQ(vl_limit(qos_with(4), &before, 3, 1), (VlLimit{.vls = 4})) << "enough again";
}

TEST(VlLimits, GivesClassesVlsOfTheirOwnWhereTheOneBeforeIsNotKnown) {
  EXPECT_EQ(vl_limit(qos_with(2), nullptr, 3, 1), (VlLimit{.vls = 4, .waits = 2}));
  EXPECT_EQ(vl_limit(qos_with(2), nullptr, 3, 2), (VlLimit{.vls = 8, .waits = 2}));
  EXPECT_EQ(vl_limit(qos_with(2), nullptr, 4, 5), (VlLimit{.vls = 15, .waits = 2})) << "as many as there are";
}

}  // namespace
}  // namespace smd::sm
