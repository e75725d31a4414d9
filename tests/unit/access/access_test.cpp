// SPDX-License-Identifier: Apache-2.0
#include "smd/access/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/access/guard.h"
#include "smd/access/told_uses.h"

namespace smd::access {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Secret, HasItsPrefixAnd128Bits) {
  const auto one = new_secret(), other = new_secret();
  EXPECT_EQ(one.size(), 36U);
  EXPECT_EQ(one.substr(0, 4), "smd_");
  EXPECT_NE(one, other);
  EXPECT_TRUE(is_hash(hash_of(one)));
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(is_hash("ba78"));
}

TEST(Secret, ComesByBearerAndByBothFormsOfBasic) {
  EXPECT_EQ(secret_of("Bearer smd_12"), "smd_12");
  EXPECT_EQ(secret_of("bearer   smd_12 "), "smd_12");
  EXPECT_EQ(secret_of("Basic dXNlcjpzbWRfMTI="), "smd_12");  // user:smd_12
  EXPECT_EQ(secret_of("Basic c21kXzEy"), "smd_12") << "without a name";
  EXPECT_EQ(secret_of("Basic smd_12"), "smd_12") << "as UFM's clients send a token";
  for (const auto* none : {"", "Bearer", "Bearer ", "Basic", "Basic ====", "Basic a",
                           "Basic dXNl====", "Digest smd_12", "smd_12"})
    EXPECT_EQ(secret_of(none), std::nullopt) << none;
  EXPECT_EQ(secret_of("Bearer " + std::string(1000, 'x')), std::nullopt);
}

TEST(ToldUses, AreToldOnceInTenMinutesForEachToken) {
  ToldUses told;
  EXPECT_TRUE(told.is_due("a", 1000));
  EXPECT_TRUE(told.is_due("a", 1000)) << "nothing was told";
  told.add("a", 1000);
  EXPECT_FALSE(told.is_due("a", 1000));
  EXPECT_FALSE(told.is_due("a", 1599));
  EXPECT_TRUE(told.is_due("b", 1001));
  told.add("b", 1001);
  EXPECT_TRUE(told.is_due("a", 1600));
  EXPECT_FALSE(told.is_due("b", 1600));
  told.add("a", 1600);
  EXPECT_FALSE(told.is_due("a", 1601));
  EXPECT_TRUE(told.is_due("b", 1601));
  EXPECT_TRUE(told.is_due("a", 1500)) << "the clock was set back";
}

Token used_at(std::int64_t last_use) {
  Token token;
  token.last_use = last_use;
  return token;
}

TEST(UnkeptUses, AreShownUntilTheyAreKept) {
  UnkeptUses unkept;
  EXPECT_TRUE(unkept.add("a", 1000));
  EXPECT_FALSE(unkept.add("a", 1599)) << "hardly later";
  EXPECT_TRUE(unkept.add("a", 1600));
  EXPECT_TRUE(unkept.add("b", 700));
  EXPECT_TRUE(unkept.add("gone", 700));
  Tokens tokens{{"a", used_at(900)}, {"b", used_at(800)}, {"c", Token()}};

  unkept.show_in(tokens);

  EXPECT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens["a"].last_use, 1600);
  EXPECT_EQ(tokens["b"].last_use, 800) << "a later one is kept";
  EXPECT_EQ(tokens["c"].last_use, 0);

  unkept.forget_kept({{"a", used_at(900)}, {"b", used_at(800)}});

  EXPECT_EQ(unkept.all(), (std::map<std::string, std::int64_t>{{"a", 1600}}));
  unkept.forget_kept({{"a", used_at(1610)}});
  EXPECT_TRUE(unkept.all().empty());
}

class TokensOfTwoSubnets : public testing::Test {
 protected:
  static Token token(Role role, std::string_view secret) { return {.role = role, .hash = hash_of(secret)}; }
  Access find(std::string_view secret, std::int64_t now = 1000) {
    uses_.clear();
    return access_of(secret, {{"a", &a_}, {"b", &b_}}, now, uses_);
  }
  Tokens a_{{"mon", token(Role::viewer, "one")}, {"op", token(Role::operator_, "two")}};
  Tokens b_{{"op", token(Role::admin, "two")}};
  std::vector<Use> uses_;
};

TEST_F(TokensOfTwoSubnets, AreGoodWhereTheyAre) {
  const auto mon = find("one"), op = find("two");
  EXPECT_EQ(mon.in("a")->role, Role::viewer);
  EXPECT_FALSE(mon.in("b"));
  EXPECT_EQ(op.in("a")->role, Role::operator_);
  EXPECT_EQ(op.in("b")->role, Role::admin);
  EXPECT_EQ(op.name(), "op");
  EXPECT_FALSE(find("three").is_known());
  EXPECT_FALSE(find("").is_known());
}

TEST_F(TokensOfTwoSubnets, HaveTheLeastRoleForTheWholeProcess) {
  EXPECT_EQ(find("two").in_all({"a", "b"}), Role::operator_);
  EXPECT_EQ(find("two").in_all({"a", "b", "c"}), Role::viewer) << "c is not theirs";
  EXPECT_EQ(Access::local("root").in_all({"a"}), Role::admin);
}

TEST_F(TokensOfTwoSubnets, EndWhenTheyExpireAndTheirUseIsKeptNowAndThen) {
  a_["mon"].expires = 1000;
  EXPECT_TRUE(find("one", 999).is_known());
  EXPECT_EQ(uses_.size(), 1U);
  EXPECT_FALSE(find("one", 1000).is_known());
  a_["op"].last_use = 900, b_["op"].last_use = 100;
  find("two", 1000);
  ASSERT_EQ(uses_.size(), 1U) << "that of subnet a is kept already";
  EXPECT_EQ(uses_[0].subnet, "b");
}

TEST_F(TokensOfTwoSubnets, OfATenantShowItsPartitionsOnly) {
  a_["t"] = token(Role::tenant, "four");
  a_["t"].partitions = {"blue"};
  EXPECT_THAT(*find("four").only_partitions("a"), ElementsAre("blue"));
  EXPECT_THAT(*find("four").only_partitions("b"), IsEmpty());
  EXPECT_EQ(find("one").only_partitions("a"), std::nullopt);
}

TEST(Guard, AnAddressWaitsAfterTenFailuresAMinute) {
  Guard guard;
  EXPECT_TRUE(guard.failed("10.0.0.1", 100));
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(guard.waits("10.0.0.1", 101), 0);
    EXPECT_FALSE(guard.failed("10.0.0.1", 101));
  }
  EXPECT_EQ(guard.waits("10.0.0.1", 101), 59);
  EXPECT_EQ(guard.waits("10.0.0.2", 101), 0);
  EXPECT_EQ(guard.waits("10.0.0.1", 160), 0);
  EXPECT_TRUE(guard.failed("10.0.0.1", 160)) << "a new minute";
}

TEST(Guard, RemembersNoMoreAddressesThanItMay) {
  Guard guard;
  for (unsigned i = 0; i < 2 * Guard::kAddresses; ++i) {
    for (unsigned j = 0; j < Guard::kMost; ++j) guard.failed("a" + std::to_string(i), i);
  }
  EXPECT_EQ(guard.waits("a1", 2 * Guard::kAddresses), 0);
  EXPECT_GT(guard.waits("a8191", 2 * Guard::kAddresses), 0);
}

TEST(Client, IsAnAddressOrTheNetworkOfOneOfIPv6) {
  EXPECT_EQ(client_of("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(client_of("::ffff:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(client_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(client_of("fe80::1%eth0"), "fe80::");
}

}  // namespace
}  // namespace smd::access
