// SPDX-License-Identifier: Apache-2.0
// `smd route` of a fabric in parts that no cable joins.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "smd/cli/route.h"

namespace smd::cli {
namespace {

TEST(RouteParts, AreNamedWithTheirHosts) {
  const auto removed = std::filesystem::temp_directory_path() / fmt::format("smd-parts-{}", ::getpid());
  std::ofstream(removed) << "link leaf000 5\nlink leaf000 6\nlink leaf000 7\nlink leaf000 8\n";
  RouteOptions options;
  options.topology = "ft2:8";
  options.threads = 1;
  std::ostringstream out, err;

  EXPECT_EQ(route(options, out, err), 0);
  EXPECT_EQ(err.str(), "") << "one fabric";
  options.without = removed.string();
  EXPECT_EQ(route(options, out, err), 0);
  std::filesystem::remove(removed);

  EXPECT_THAT(err.str(), ::testing::HasSubstr(
                             "the fabric is in 2 parts that no cable joins, hosts of different parts have no "
                             "routes to each other: 28 hosts at 11 switches (leaf001 is one), 4 hosts at 1 "
                             "switch (leaf000)\n"));
}

}  // namespace
}  // namespace smd::cli
