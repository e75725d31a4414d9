// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/stored_m_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(MKeyHintsOf, KnowOurOwnPort) {
  const auto hints = m_key_hints({}, stored({.key = 7, .before = 0, .node = {}, .port = {}}), kPort);
  EXPECT_THAT(hints.at(nullptr, std::nullopt), ElementsAre(7));
}

}  // namespace
}  // namespace smd::sm
