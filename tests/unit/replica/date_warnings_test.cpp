// SPDX-License-Identifier: Apache-2.0
#include "smd/tls/date_warnings.h"

#include <gtest/gtest.h>

#include "tests/support/certificates.h"

namespace smd::tls {
namespace {

using namespace std::chrono_literals;

std::vector<Dated> kinds(const std::vector<DateWarning>& warnings) {
  std::vector<Dated> found;
  for (const auto& warning : warnings) found.push_back(warning.of);
  return found;
}

TEST(DateWarnings, AreGivenOnceADayAndWhereTheyAreAskedForAgain) {
  test::Certificates made;
  const auto files = made.files("ca", "soon", 5L * 86'400 + 43'200);
  made.revoke("ca", {}, -7200, 900);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::vector both{Dated::certificate, Dated::crl};

  DateWarnings dates;
  EXPECT_EQ(kinds(dates.look(files, now, false)), both);
  EXPECT_EQ(kinds(dates.look(files, now, false)), std::vector<Dated>{});
  EXPECT_EQ(kinds(dates.look(files, now, true)), both);
  EXPECT_EQ(kinds(dates.look(files, now + 1h, false)), std::vector{Dated::crl}) << "it has ended";
  EXPECT_EQ(kinds(dates.look(files, now + 25h, false)), std::vector{Dated::certificate});
}

TEST(DateWarnings, AreOfTheCertificateAloneWithoutACa) {
  test::Certificates made;
  auto files = made.files("ca", "soon", 5L * 86'400);
  made.revoke("ca", {}, -7200, -10);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  files.ca.clear();
  EXPECT_EQ(kinds(DateWarnings().look(files, now, true)), std::vector{Dated::certificate});
}

}  // namespace
}  // namespace smd::tls
