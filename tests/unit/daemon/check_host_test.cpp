// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/cli/token_commands.h"

namespace smd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// As systemd 252 prints the base unit, and the same with systemd/network.conf.
constexpr std::string_view kClosed =
    "LoadState=loaded\nIPAddressAllow=\nIPAddressDeny=::/0 0.0.0.0/0\nRestrictAddressFamilies=AF_UNIX\n";
constexpr std::string_view kOpen =
    "LoadState=loaded\nIPAddressAllow=::/0 0.0.0.0/0\nIPAddressDeny=::/0 0.0.0.0/0\n"
    "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX\n";

std::vector<std::string> said(const config::Config& config, std::string_view unit, bool good) {
  bool is_good = !good;
  auto lines = disagreements(config, parse_unit(unit), "smd.service", &is_good);
  EXPECT_EQ(is_good, good);
  return lines;
}

TEST(CheckHost, AUnitThatIsClosedKeepsTheApiFromTheNetwork) {
  config::Config config;
  EXPECT_THAT(said(config, kClosed, true), IsEmpty());
  EXPECT_THAT(said(config, kOpen, true), ElementsAre(HasSubstr("nothing that is configured needs it")));
  config.api.listen = "[::]:8443";
  EXPECT_THAT(said(config, kClosed, false), ElementsAre(HasSubstr("examples/network.conf")));
  EXPECT_THAT(said(config, kOpen, true), IsEmpty());
}

TEST(CheckHost, ReplicationNeedsTheNetworkToo) {
  config::Config config;
  config.subnets[0].ha.peers = {"sm2:7650"};
  EXPECT_THAT(said(config, kClosed, false), ElementsAre(HasSubstr("[ha]")));
  EXPECT_THAT(said(config, kOpen, true), IsEmpty());
}

TEST(CheckHost, AUnitThatIsNotThereDisagreesWithNothing) {
  config::Config config;
  config.api.listen = "[::]:8443";
  EXPECT_THAT(said(config, "LoadState=not-found\n", true), IsEmpty());
  EXPECT_THAT(said(config, "", true), IsEmpty());
}

TEST(CheckHost, OneOfTwoLocksIsEnoughToBeClosed) {
  EXPECT_EQ(parse_unit("LoadState=loaded\nRestrictAddressFamilies=AF_UNIX\n"),
            (UnitNetwork{.known = true, .families = false, .addresses = true}));
  EXPECT_EQ(parse_unit("LoadState=loaded\nRestrictAddressFamilies=~AF_INET AF_INET6\n"),
            (UnitNetwork{.known = true, .families = false, .addresses = true}));
  EXPECT_EQ(parse_unit("LoadState=loaded\nIPAddressDeny=::/0 0.0.0.0/0\n"),
            (UnitNetwork{.known = true, .families = true, .addresses = false}));
}

TEST(TokenTime, IsANumberWithAUnit) {
  EXPECT_EQ(seconds_of("90d"), 90 * 86'400);
  EXPECT_EQ(seconds_of("12h"), 43'200);
  EXPECT_EQ(seconds_of("45s"), 45);
  for (const auto* wrong : {"", "d", "0d", "-1d", "90", "90y", "90d ", "99999d"})
    EXPECT_EQ(seconds_of(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace smd::cli
