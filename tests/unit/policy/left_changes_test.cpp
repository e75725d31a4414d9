// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/left_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace smd::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kNow = 1'000;

ApiPartitionPtr partition(std::uint16_t pkey) {
  return std::make_shared<const ApiPartition>(ApiPartition{.name = "p", .pkey = pkey});
}

TEST(LeftChanges, PartitionsThatTheMasterHasOtherwiseOrNotAtAll) {
  Policies ours, masters;
  ours.api = {{"gone", partition(1)}, {"other", partition(2)}, {"same", partition(3)}};
  masters.api = {{"new", partition(5)}, {"other", partition(4)}, {"same", partition(3)}};

  const auto left = left_changes(ours, masters, kNow);
  EXPECT_THAT(left.partitions, ElementsAre("gone", "other"));
  EXPECT_THAT(left.ports, IsEmpty());
  EXPECT_THAT(left.tokens, IsEmpty());
}

TEST(LeftChanges, PortsByTheOrderOfOneOfBoth) {
  Policies ours, masters;
  const PortAt a{Guid{0xA}, PortNum{1}}, b{Guid{0xB}, PortNum{2}}, c{Guid{0xC}, PortNum{3}};
  ours.disabled_ports[a].by = "operator";
  ours.disabled_ports[b].peer = c;
  masters.disabled_ports[c].peer = b;
  masters.disabled_ports[{Guid{0xD}, PortNum{4}}].by = "operator";

  EXPECT_THAT(left_changes(ours, masters, kNow).ports,
              ElementsAre("0x000000000000000a/1", "0x000000000000000d/4"))
      << "the two ends of one cable are the same order";
}

TEST(LeftChanges, TokensThatAreValidAtOneOfBoth) {
  Policies ours, masters;
  ours.tokens["expired"].expires = kNow;
  ours.tokens["left"].hash = "1";
  ours.tokens["same"].last_use = 5;
  ours.tokens["rotated"].hash = "1";
  masters.tokens["revoked"].hash = "1";
  masters.tokens["same"].last_use = 9;
  masters.tokens["rotated"].hash = "2";

  EXPECT_THAT(left_changes(ours, masters, kNow).tokens, ElementsAre("left", "revoked", "rotated"));
}

}  // namespace
}  // namespace smd::policy
