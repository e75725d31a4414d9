// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "smd/cli/times.h"
#include "smd/cli/token_commands.h"
#include "smd/daemon/certificates.h"
#include "smd/tls/certificate.h"
#include "tests/support/certificates.h"

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

/// `days` after the start of a certificate of a year.
std::string complaint(int days) {
  const std::chrono::sys_seconds begins{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
  return tls::Validity{begins, begins + std::chrono::days(365)}.complaint(begins + std::chrono::days(days));
}

TEST(CheckHost, ACertificateIsGoodUntilThirtyDaysBeforeItsEnd) {
  EXPECT_EQ(complaint(0), "");
  EXPECT_EQ(complaint(335), "");
  EXPECT_EQ(complaint(336), "it expires on 2027-01-01T00:00:00Z (in 29 days)");
  EXPECT_EQ(complaint(364), "it expires on 2027-01-01T00:00:00Z (in 1 day)");
  EXPECT_EQ(complaint(365), "it has expired on 2027-01-01T00:00:00Z");
  EXPECT_EQ(complaint(-1), "it is not valid before 2026-01-01T00:00:00Z");
}

class CheckCertificates : public testing::Test {
 protected:
  std::vector<std::string> faults(const tls::Files& api, const tls::Files& ha) const {
    config::Config config;
    config.api.listen = "[::]:8443";
    config.api.cert = api.cert, config.api.key = api.key, config.api.client_ca = api.ca;
    config.subnets[0].ha.peers = {"sm2:7650"};
    config.subnets[0].ha.cert = ha.cert, config.subnets[0].ha.key = ha.key, config.subnets[0].ha.ca = ha.ca;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return daemon::certificate_faults(config, now);
  }

  test::Certificates made_;
};

TEST_F(CheckCertificates, EachThatEndsSoonOrHasEndedIsNamed) {
  const auto good = made_.files("ca", "good", 366L * 86'400);
  const auto soon = made_.files("ca", "soon", 5L * 86'400), over = made_.files("ca", "over", -60);

  EXPECT_THAT(faults(good, good), IsEmpty());
  EXPECT_THAT(faults(soon, over),
              ElementsAre(HasSubstr("soon.pem: it expires on "), HasSubstr("over.pem: it has expired on ")));
}

TEST_F(CheckCertificates, AFileThatIsEmptyOrMissingOrOfAnotherCertificateIsNamed) {
  const auto good = made_.files("ca", "good", 366L * 86'400), other = made_.files("ca", "other");
  auto empty = good, missing = good, wrong = good;
  empty.cert += ".empty";
  std::ofstream(empty.cert).flush();
  missing.key += ".missing";
  wrong.key = other.key;

  EXPECT_THAT(faults(empty, missing), ElementsAre(empty.cert.string() + ": it is empty",
                                                  missing.key.string() + ": No such file or directory"));
  EXPECT_THAT(faults(wrong, good), ElementsAre(HasSubstr(other.key.string())));
}

TEST(TokenTime, IsANumberWithAUnit) {
  EXPECT_EQ(seconds_of("90d"), 90 * 86'400);
  EXPECT_EQ(seconds_of("12h"), 43'200);
  EXPECT_EQ(seconds_of("45s"), 45);
  for (const auto* wrong : {"", "d", "0d", "-1d", "90", "90y", "90d1", "99999d"})
    EXPECT_EQ(seconds_of(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace smd::cli
