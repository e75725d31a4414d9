// SPDX-License-Identifier: Apache-2.0
// `smd check --running`: what a reload would change, as text.
#include "smd/cli/check_running.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto* kReloadOfQos =
    R"({{"dry_run":true,"warnings":[],"subnets":[{{"subnet":"f","leaves":false,"changed":["qos.class[\"t\"] added"],
"fabric":{{"refused":null,"disturbs":false,"lids_changed":0,"entries_in_use":9,"entries_changed":0,"links_taken_down":[],
"engine_now":"minhop","engine":"minhop","engine_waits":null,"max_vls_waits":{1},"pkeys":[],"sets":[],"qos":{0}}}}}]}})";

std::string shown_of(const std::string& qos, const std::string& max_vls_waits = "null") {
  test::FakeDaemon daemon;
  daemon.answers["/v1/reload"] = fmt::format(fmt::runtime(kReloadOfQos), qos, max_vls_waits);
  std::ostringstream out, err;
  EXPECT_EQ(check_running(daemon.path(), std::chrono::seconds(20), false, out, err), 0) << err.str();
  return out.str();
}

std::string shown_on_standby(const std::string& changed) {
  constexpr auto* kReload =
      R"({{"dry_run":true,"warnings":[],"subnets":[{{"subnet":"f","leaves":false,"takeover":true,"changed":[{}],
"fabric":{{"refused":null,"disturbs":true,"lids_changed":32,"entries_in_use":9,"entries_changed":0,"links_taken_down":[],
"engine_now":"minhop","engine":"minhop","engine_waits":null,"pkeys":[],"sets":[],"qos":null}}}}]}})";
  test::FakeDaemon daemon;
  daemon.answers["/v1/reload"] = fmt::format(fmt::runtime(kReload), changed);
  std::ostringstream out, err;
  EXPECT_EQ(check_running(daemon.path(), std::chrono::seconds(20), false, out, err), 3) << err.str();
  return out.str();
}

TEST(CheckRunning, OfAStandbySaysThatATakeoverChangesTheFabric) {
  constexpr auto* kTakeover =
      "  this SM writes nothing while it is standby; a takeover with this configuration:\n  LIDs: 32 "
      "change\n";
  EXPECT_THAT(shown_on_standby(""),
              AllOf(HasSubstr(kTakeover), HasSubstr("  the configuration is the one of this standby\n"),
                    Not(HasSubstr("in force"))));
  EXPECT_THAT(shown_on_standby(R"("lids.first 1 -> 9")"),
              AllOf(HasSubstr("  lids.first 1 -> 9\n"), HasSubstr(kTakeover)));
}

TEST(CheckRunning, NamesClassesThatAreNewGoneOrMoved) {
  const auto text = shown_of(
      R"({"classes":[
{"class":null,"before":{"sls":[5],"vls":[5],"dropped":false,"share_least":0.1,"share_most":0.1,"by":["partition a"]},
 "after":{"sls":[5],"vls":[],"dropped":true,"share_least":0,"share_most":0,"by":["partition a","level b"]}},
{"class":"n","before":{"sls":[2],"vls":[2],"dropped":false,"share_least":0.2,"share_most":0.2,"by":[]},
 "after":{"sls":[2],"vls":[1,3],"dropped":false,"share_least":0.1,"share_most":0.2,"by":[]}},
{"class":"s","before":{"sls":[1],"vls":[1],"dropped":false,"share_least":0.3,"share_most":0.3,"by":[]},"after":null},
{"class":"t","before":null,"after":{"sls":[4],"vls":[1],"dropped":false,"share_least":0.3,"share_most":0.3,"by":[]}}],
"pending":["no port set x"],"warnings":["adapters (first 0x1 \"h\" port 1): SL 0, 5 share VL 0 and delay each other"]})");

  EXPECT_THAT(text,
              AllOf(HasSubstr("  QoS: SL 5: VL 5 -> 15 (dropped), share 10.0 % -> 0.0 %, of partition a -> "
                              "partition a, level b\n"),
                    HasSubstr("  QoS: class n: VL 2 -> 1, 3, share 20.0 % -> 10.0 to 20.0 %\n"),
                    HasSubstr("  QoS: class s: gone: SL 1, VL 1, 30.0 % of a link\n"),
                    HasSubstr("  QoS: class t: new: SL 4, VL 1, 30.0 % of a link\n"),
                    HasSubstr("  QoS pending: no port set x\n"),
                    HasSubstr("  QoS warning: adapters (first 0x1 \"h\""),
                    HasSubstr("share VL 0 and delay each other\n  Sets: none\n")));
}

TEST(CheckRunning, SaysNothingOfQosThatStaysAsItIs) {
  EXPECT_THAT(shown_of(R"({"classes":[],"pending":[],"warnings":[]})"), Not(HasSubstr("QoS")));
}

TEST(CheckRunning, SaysThatFewerVlsWait) {
  constexpr auto* kNothing = R"({"classes":[],"pending":[],"warnings":[]})";
  EXPECT_THAT(
      shown_of(kNothing, R"({"max_vls":2,"layers":3})"),
      HasSubstr("max_vls of [qos] leaves 2 VLs for the 3 layers of the routes, and paths would get other "
                "SLs: it waits for smd resweep converge\n"));
  EXPECT_THAT(shown_of(kNothing), Not(HasSubstr("max_vls")));
}

}  // namespace
}  // namespace smd::cli
