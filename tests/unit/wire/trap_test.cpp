// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/trap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Trap, DetailsAreReadByTheTrapsNumber) {
  const LocalChangeDetails sent{.lid = Lid{7}, .other_local_changes = true, .node_description_change = true};
  const auto notice =
      generic_notice(NoticeType::informational, kProducerCa, trap::kLocalChange, Lid{7}, sent);

  EXPECT_EQ(details<LocalChangeDetails>(notice), sent);
  EXPECT_EQ(details<LinkStateDetails>(notice), std::nullopt);
  EXPECT_EQ(details<BadKeyDetails>(notice), std::nullopt);
}

TEST(Trap, AVendorsNoticeHasNoDetailsOfOurs) {
  Notice notice = generic_notice(NoticeType::urgent, kProducerSwitch, trap::kLinkStateChange, Lid{3},
                                 LinkStateDetails{.lid = Lid{3}});
  notice.is_generic = false;
  EXPECT_EQ(details<LinkStateDetails>(notice), std::nullopt);
  EXPECT_THAT(describe(notice), StartsWith("IsGeneric=0 "));
  EXPECT_THAT(describe(notice), HasSubstr("details=0003"));
}

TEST(Trap, EveryTrapHasOneLineOfText) {
  const auto text = [](std::uint16_t number, const auto& details) {
    return describe(generic_notice(NoticeType::urgent, kProducerSwitch, number, Lid{5}, details));
  };
  EXPECT_EQ(text(trap::kLinkStateChange, LinkStateDetails{.lid = Lid{9}}),
            "trap=128 \"link state change\" IssuerLID=5 LIDADDR=9");
  EXPECT_EQ(text(trap::kBufferOverrun, PortErrorDetails{.lid = Lid{9}, .port = PortNum{4}}),
            "trap=130 \"excessive buffer overrun\" IssuerLID=5 LIDADDR=9 PORTNO=4");
  EXPECT_EQ(text(trap::kGroupCreated, GidDetails{}),
            "trap=66 \"multicast group created\" IssuerLID=5 GIDADDR=::");
  EXPECT_THAT(text(trap::kSystemImageGuidChange, SystemImageDetails{.system_image = Guid{1}}),
              HasSubstr("SYSTEMIMAGEGUID=0x0000000000000001"));
  EXPECT_THAT(text(trap::kBadMKey, BadMKeyDetails{.hop_count = 3}), HasSubstr("DRHopCount=3"));
  EXPECT_THAT(text(trap::kBadQKey, BadKeyDetails{.qp2 = 77}), HasSubstr("QP2=77"));
  EXPECT_THAT(text(trap::kBadPKeyAtSwitch, BadPKeyAtSwitchDetails{.switch_lid = Lid{8}}),
              HasSubstr("SWLIDADDR=8"));
  EXPECT_THAT(text(999, LinkStateDetails{}), HasSubstr("TrapNumberOrDeviceID=999"));
  EXPECT_EQ(trap_name(144), "local change");
  EXPECT_EQ(trap_name(999), "trap 999");
}

}  // namespace
}  // namespace smd::wire
