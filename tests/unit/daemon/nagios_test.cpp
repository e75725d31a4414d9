// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>
#include <tuple>

#include "smd/cli/status_check.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

TEST(Nagios, TheWorstSubnetIsTheStatus) {
  const auto subnet = [](const std::string& state) {
    return json::value(json::object{{"subnet", "f"}, {"state", state}, {"why", state == "up" ? "" : "x"}});
  };
  for (const auto& [state, status, line] :
       {std::tuple("up", 0, "SMD OK - subnet f: up\n"),
        std::tuple("standby", 0, "SMD OK - subnet f: standby: x\n"),
        std::tuple("reduced", 1, "SMD WARNING - subnet f: reduced: x\n"),
        std::tuple("degraded", 2, "SMD CRITICAL - subnet f: degraded: x\n"),
        std::tuple("waiting", 2, "SMD CRITICAL - subnet f: waiting: x\n")}) {
    std::ostringstream out;
    print_nagios(out, subnet(state));
    EXPECT_EQ(nagios_status(subnet(state)), status);
    EXPECT_EQ(out.str(), line);
    EXPECT_EQ(nagios_status(json::object{{"subnets", json::array{subnet("up"), subnet(state)}}}), status);
  }
  EXPECT_EQ(nagios_status(json::object{{"subnets", json::array{}}}), 2);
}

/// Nagios reads what follows a bar as performance data.
TEST(Nagios, ABarInANameIsWrittenOut) {
  std::ostringstream out;
  print_nagios(out, json::object{{"subnet", "f"}, {"state", "standby"}, {"why", "h|1|x is master"}});
  EXPECT_EQ(out.str(), "SMD OK - subnet f: standby: h\\x7c1\\x7cx is master\n");
}

TEST(Nagios, ASubnetThatIsNotSweptIsAWarning) {
  const auto subnet = [](const std::string& state) {
    return json::value(json::object{{"subnet", "f"},
                                    {"state", state},
                                    {"why", state == "up" ? "" : "x"},
                                    {"sweeps_off_until", "2026-11-30T00:00:00Z"}});
  };
  for (const auto& [state, status, line] :
       {std::tuple("up", 1, "SMD WARNING - subnet f: up: sweeps off until 2026-11-30T00:00:00Z\n"),
        std::tuple("reduced", 1,
                   "SMD WARNING - subnet f: reduced: x; sweeps off until 2026-11-30T00:00:00Z\n"),
        std::tuple("degraded", 2,
                   "SMD CRITICAL - subnet f: degraded: x; sweeps off until 2026-11-30T00:00:00Z\n")}) {
    std::ostringstream out;
    print_nagios(out, subnet(state));
    EXPECT_EQ(nagios_status(subnet(state)), status);
    EXPECT_EQ(out.str(), line);
    EXPECT_FALSE(is_in_service(subnet(state)));
  }
}

}  // namespace
}  // namespace smd::cli
