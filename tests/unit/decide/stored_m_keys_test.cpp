// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/stored_m_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>

#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Guid kPort{0x0002c90300001234};
constexpr std::uint64_t kSecret = 0x5EC2E7000000CAFE;

StoredPtr stored(Stored::MKey row) {
  auto now = std::make_shared<Stored>();
  now->m_keys[kPort] = row;
  return now;
}

TEST(DerivedMKey, IsHmacSha256OfThePortGuid) {
  // python3: hmac.new(secret, guid, hashlib.sha256).digest()[:8], both as 8 bytes, big endian
  EXPECT_EQ(derived_m_key(kSecret, kPort), 0x3fe46330e63e21f7U);
  EXPECT_NE(derived_m_key(kSecret, kPort), derived_m_key(kSecret + 1, kPort));
}

TEST(MKeySettings, SayWhichKeyAPortHas) {
  EXPECT_EQ(MKeySettings{}.key_of(kPort), std::nullopt);
  EXPECT_EQ((MKeySettings{.secret = 5}.key_of(kPort)), 5U);
  EXPECT_EQ((MKeySettings{.secret = kSecret, .per_port = true}.key_of(kPort)), 0x3fe46330e63e21f7U);
  EXPECT_EQ((MKeySettings{.secret = 0, .per_port = true}.key_of(kPort)), 0U) << "0 takes all keys away";
}

TEST(MKeyHintsOf, TryWhatIsStoredFirst) {
  const MKeySettings common{.secret = 5}, each{.secret = kSecret, .per_port = true};
  const auto rows = stored({.key = 7, .before = 6, .node = Guid{9}, .port = PortNum{1}});
  EXPECT_THAT(m_key_hints(common, rows, {}).of(kPort), ElementsAre(7, 6, 5));
  EXPECT_THAT(m_key_hints(common, rows, {}).of(Guid{1}), ElementsAre(5));
  EXPECT_THAT(m_key_hints(common, rows, {}).of(Guid{}), ElementsAre(5)) << "whoever it is";
  EXPECT_THAT(m_key_hints(each, rows, {}).of(Guid{}), IsEmpty()) << "its key rests on who it is";
  EXPECT_THAT(m_key_hints(common, stored({.key = 5, .before = 5, .node = {}, .port = {}}), {}).of(kPort),
              ElementsAre(5));
}

TEST(MKeyHintsOf, AreNoneWhereNothingIsKnown) {
  const auto hints = m_key_hints({}, std::make_shared<const Stored>(), kPort);
  EXPECT_THAT(hints.of(kPort), IsEmpty());
  EXPECT_THAT(hints.at(nullptr, std::nullopt), ElementsAre(0));
  EXPECT_THAT(hints.at(nullptr, PeerPort{Guid{1}, PortNum{2}}), ElementsAre(0));
}

TEST(MKeyHintsOf, TryWhatWasBeforeLast) {
  auto now = *stored({.key = 7, .before = 6, .node = Guid{9}, .port = PortNum{1}});
  now.former_m_keys[kPort] = {.key = 4, .before = 3, .node = Guid{9}, .port = PortNum{1}};
  const auto rows = std::make_shared<const Stored>(now);
  const MKeySettings settings{.secret = 5, .former_secret = 2};
  EXPECT_THAT(m_key_hints(settings, rows, {}).of(kPort), ElementsAre(7, 6, 5, 4, 3, 2));
  EXPECT_THAT(m_key_hints({.former_secret = 2}, std::make_shared<const Stored>(), {}).of(kPort),
              ElementsAre(2));
  const MKeySettings each{.former_secret = kSecret, .former_per_port = true};
  EXPECT_THAT(m_key_hints(each, std::make_shared<const Stored>(), {}).of(kPort),
              ElementsAre(0x3fe46330e63e21f7U));
  EXPECT_THAT(m_key_hints(each, std::make_shared<const Stored>(), {}).of(Guid{}), IsEmpty());
}

Stored::MKey m_key_row(std::uint64_t key, std::uint64_t before = 0) {
  return {.key = key, .before = before, .node = {}, .port = {}};
}

TEST(FormerMKeys, AreThoseThatNoRowHasAnyMore) {
  const Guid one{1}, two{2}, three{3}, four{4};
  Stored before;
  before.m_keys = {{one, m_key_row(5)}, {two, m_key_row(5)}, {three, m_key_row(5, 4)}, {four, m_key_row(5)}};
  before.former_m_keys = {{one, m_key_row(9)}, {three, m_key_row(9)}};
  const Stored::MKeys now{{one, m_key_row(6, 5)}, {two, m_key_row(6)}, {three, m_key_row(4)}};

  EXPECT_EQ(former_m_keys(before, now),
            (Stored::MKeys{
                {one, m_key_row(9)}, {two, m_key_row(5)}, {three, m_key_row(5, 4)}, {four, m_key_row(5)}}));
  EXPECT_EQ(former_m_keys(before, before.m_keys), before.former_m_keys);
}

TEST(LeftMKeys, AreTakenWhereTheySaySomethingNew) {
  const Guid one{1}, two{2};
  Stored now;
  now.m_keys = {{one, m_key_row(6, 5)}};
  EXPECT_FALSE(with_left_m_keys(now, {{one, m_key_row(5)}}));

  const auto with = with_left_m_keys(now, {{one, m_key_row(7, 5)}, {two, m_key_row(7)}});
  ASSERT_TRUE(with);
  EXPECT_EQ(with->former_m_keys, (Stored::MKeys{{one, m_key_row(7, 5)}, {two, m_key_row(7)}}));
  EXPECT_EQ(with->m_keys, now.m_keys);
  EXPECT_FALSE(with_left_m_keys(*with, {{two, m_key_row(7)}}));
}

TEST(MKeyHintsOf, KnowOurOwnPort) {
  const auto hints = m_key_hints({}, stored({.key = 7, .before = 0, .node = {}, .port = {}}), kPort);
  EXPECT_THAT(hints.at(nullptr, std::nullopt), ElementsAre(7));
}

/// A switch and a host, whose ports have shown the key 5.
Subnet with_keys() {
  test::SubnetBuilder builder;
  builder.add_switch(0x10).host(0x100, 0x10, 1).sm(0x100, 1, 3);
  auto subnet = builder.build();
  for (auto& node : subnet.nodes) {
    auto now = std::make_shared<Node>(*node);
    for (auto& port : now->ports) port.info.m_key = 5;
    node = std::move(now);
  }
  return subnet;
}

TEST(ChangedMKeys, AreThoseByWhichPortsAreAsked) {
  const auto subnet = with_keys();
  const auto host = test::port_guid(0x100, 1);
  const std::map<Guid, Stored::MKey> before{{host, {.key = 6, .before = 5, .node = {}, .port = {}}}};
  const std::map<Guid, Stored::MKey> now{{host, {.key = 6, .before = 0, .node = {}, .port = {}}},
                                         {Guid{0x10}, {.key = 7, .before = 0, .node = {}, .port = {}}}};

  const auto changed = with_changed_m_keys(subnet, before, now);

  ASSERT_TRUE(changed);
  EXPECT_EQ(m_key_of(*changed->find(Guid{0x100}), PortNum{1}), 6U);
  EXPECT_EQ(m_key_of(*changed->find(Guid{0x10}), PortNum{0}), 7U);
  EXPECT_EQ(m_key_of(*subnet.find(Guid{0x100}), PortNum{1}), 5U);
}

/// What the port itself has shown since is newer than a row that has not changed.
TEST(ChangedMKeys, AreNoneWhereNoRowHasChangedOrThePortHasNotShownItYet) {
  const auto subnet = with_keys();
  const auto host = test::port_guid(0x100, 1);
  const std::map<Guid, Stored::MKey> shown{{host, {.key = 6, .before = 0, .node = {}, .port = {}}}};
  EXPECT_FALSE(with_changed_m_keys(subnet, shown, shown));
  EXPECT_FALSE(with_changed_m_keys(subnet, {}, {{host, {.key = 6, .before = 5, .node = {}, .port = {}}}}));
  EXPECT_FALSE(with_changed_m_keys(subnet, {}, {{host, {.key = 5, .before = 0, .node = {}, .port = {}}}}));
}

}  // namespace
}  // namespace smd::sm
