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
            (UnitNetwork{.known = true, .ipv4 = false, .ipv6 = false}));
  EXPECT_EQ(parse_unit("LoadState=loaded\nRestrictAddressFamilies=~AF_INET AF_INET6\n"),
            (UnitNetwork{.known = true, .ipv4 = false, .ipv6 = false}));
  EXPECT_EQ(parse_unit("LoadState=loaded\nIPAddressDeny=::/0 0.0.0.0/0\n"),
            (UnitNetwork{.known = true, .denies = true}));
  EXPECT_EQ(
      parse_unit("LoadState=loaded\nIPAddressAllow=127.0.0.0/8 ::1/128\nIPAddressDeny=::/0 0.0.0.0/0\n"
                 "RestrictAddressFamilies=AF_INET AF_UNIX\n"),
      (UnitNetwork{.known = true, .ipv6 = false, .denies = true, .allowed = {"127.0.0.0/8", "::1/128"}}));
}

/// A unit with these families beside AF_UNIX, and these addresses.
std::string opened(const std::string& families, const std::string& addresses) {
  return "LoadState=loaded\nIPAddressAllow=" + addresses +
         "\nIPAddressDeny=::/0 0.0.0.0/0\nRestrictAddressFamilies=AF_UNIX " + families + "\n";
}

TEST(CheckHost, WebhooksNeedTheNetwork) {
  config::Config config;
  config.api.webhook.push_back({.url = "https://hooks.example/secret"});

  EXPECT_THAT(said(config, kClosed, false), ElementsAre(HasSubstr("[[api.webhook]] is configured")));
  EXPECT_THAT(said(config, kOpen, true), IsEmpty());
  EXPECT_THAT(
      said(config, opened("AF_INET", "127.0.0.0/8"), false),
      ElementsAre("[[api.webhook]] hooks.example: IPAddressAllow of smd.service has addresses of this "
                  "machine only (127.0.0.0/8)"));
  config.api.webhook[0].url = "http://127.0.0.1:8080/";
  EXPECT_THAT(said(config, opened("AF_INET", "127.0.0.0/8"), true), IsEmpty());
}

TEST(CheckHost, EtcdNeedsTheNetwork) {
  config::Config config;
  config.subnets[0].ha.etcd = {"https://10.1.2.3:2379", "https://10.2.2.3:2379"};

  EXPECT_THAT(said(config, kClosed, false), ElementsAre(HasSubstr("[ha]")));
  EXPECT_THAT(said(config, opened("AF_INET", "10.1.0.0/16"), false),
              ElementsAre("[ha] etcd 10.2.2.3:2379: IPAddressAllow of smd.service (10.1.0.0/16) is without "
                          "10.2.2.3"));
}

TEST(CheckHost, AnIPv6AddressNeedsItsFamily) {
  config::Config config;
  config.api.listen = "[::]:8443";

  EXPECT_THAT(
      said(config, opened("AF_INET", "::/0 0.0.0.0/0"), false),
      ElementsAre("[api] listen [::]:8443: RestrictAddressFamilies of smd.service is without AF_INET6"));
  config.api.listen = "0.0.0.0:8443";
  EXPECT_THAT(said(config, opened("AF_INET", "::/0 0.0.0.0/0"), true), IsEmpty());
  EXPECT_THAT(said(config, opened("AF_INET6", "::/0 0.0.0.0/0"), false),
              ElementsAre(HasSubstr("is without AF_INET")));
}

TEST(CheckHost, WhereTheAllowedAddressesAreOthersClientsMayNotReachIt) {
  config::Config config;
  config.api.listen = "[::]:8443";
  EXPECT_THAT(said(config, opened("AF_INET AF_INET6", "127.0.0.0/8"), false),
              ElementsAre(HasSubstr("has addresses of this machine only")));
  EXPECT_THAT(said(config, opened("AF_INET AF_INET6", "10.0.0.0/8"), true), IsEmpty());
  config.api.listen = "192.0.2.1:8443";
  EXPECT_THAT(said(config, opened("AF_INET AF_INET6", "192.0.2.0/24"), true), IsEmpty());
  EXPECT_THAT(said(config, opened("AF_INET AF_INET6", "10.0.0.0/8"), true),
              ElementsAre(HasSubstr("(10.0.0.0/8) is without 192.0.2.1: clients of other networks only")));
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

TEST_F(CheckCertificates, AKeyWithAPassphraseIsNamedAsOne) {
  const auto locked = made_.with_passphrase("ca", "locked");

  EXPECT_THAT(faults(locked, locked),
              ElementsAre(locked.key.string() + ": it has a passphrase, which smd cannot ask for"));
}

TEST_F(CheckCertificates, TheSecretAndTheCaFileOfAWebhookAreNamed) {
  const auto good = made_.files("ca", "good", 366L * 86'400);
  config::Config config;
  config.api.webhook.push_back({.url = "https://h/", .secret_file = good.cert, .ca_file = good.ca});
  const auto faults = [&] {
    return daemon::certificate_faults(
        config, std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  };
  EXPECT_THAT(faults(), IsEmpty());

  config.api.webhook[0].secret_file += ".missing";
  config.api.webhook[0].ca_file += ".missing";
  EXPECT_THAT(faults(), ElementsAre(HasSubstr(config.api.webhook[0].secret_file),
                                    HasSubstr(config.api.webhook[0].ca_file)));
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
