// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/known_sms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

using test::place;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::uint64_t kSmSwitch = 0x10, kOneSm = 0x100, kTwoSm = 0x200;

/// Hosts 0x100 and 0x200 on a switch.
test::SubnetBuilder sm_hosts() {
  test::SubnetBuilder fabric;
  return fabric.add_switch(kSmSwitch).host(kOneSm, kSmSwitch, 1).host(kTwoSm, kSmSwitch, 2);
}

OtherSm an_sm(std::uint64_t host, std::uint64_t key, bool answered = true) {
  return {.at = place(host, 1),
          .node_description = {},
          .lid = {},
          .info = {.guid = test::port_guid(host, 1), .sm_key = key},
          .answered = answered};
}

/// Their hosts, and the SM_Keys that they showed.
std::vector<std::pair<std::uint64_t, std::uint64_t>> sms_known_in(const Subnet& subnet) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  for (const auto& sm : known_sms(subnet)) found.emplace_back(sm.at.node.value(), sm.info.sm_key);
  return found;
}

TEST(KnownSms, AnSmThatEndsOrIsSilentIsKnownAsItAnsweredLast) {
  auto before = sm_hosts().build();
  before.other_sms = {an_sm(kOneSm, 1), an_sm(kTwoSm, 2)};
  auto now = sm_hosts().build();
  now.other_sms = {an_sm(kTwoSm, 0, false)};

  keep_former_sms(now, before);
  EXPECT_THAT(sms_known_in(now), ElementsAre(Pair(kOneSm, 1), Pair(kTwoSm, 2)));

  auto later = sm_hosts().build();
  later.other_sms = {an_sm(kTwoSm, 3)};
  keep_former_sms(later, now);
  EXPECT_THAT(sms_known_in(later), ElementsAre(Pair(kTwoSm, 3), Pair(kOneSm, 1)));
}

TEST(KnownSms, APortThatHasLeftTheFabricIsNoSmsAnyMore) {
  auto before = sm_hosts().build();
  before.other_sms = {an_sm(kOneSm, 1)};
  test::SubnetBuilder fabric;
  fabric.add_switch(kSmSwitch).host(kTwoSm, kSmSwitch, 2);
  auto gone = fabric.build();
  keep_former_sms(gone, before);
  EXPECT_THAT(sms_known_in(gone), IsEmpty());

  auto back = sm_hosts().build();
  keep_former_sms(back, gone);
  EXPECT_THAT(sms_known_in(back), IsEmpty());
}

TEST(KnownSms, OneThatHasNeverAnsweredIsNotKnown) {
  auto now = sm_hosts().build();
  now.other_sms = {an_sm(kOneSm, 0, false)};
  EXPECT_THAT(sms_known_in(now), IsEmpty());
}

TEST(KnownSms, NoKeyIsNoOtherKey) {
  EXPECT_TRUE(is_other_key(1, 2));
  EXPECT_FALSE(is_other_key(1, 1));
  EXPECT_FALSE(is_other_key(1, 0));
  EXPECT_FALSE(is_other_key(0, 2));
}

}  // namespace
}  // namespace smd::sm
