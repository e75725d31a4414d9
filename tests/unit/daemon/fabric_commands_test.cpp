// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/fabric_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kWay =
    R"({"complete":true,"reason":null,"pkey":"0x8012","sl":2,"refused":null,"layer":0,
"vl":1,"hops":[{"guid":"0x0000000000000100","name":"leaf000","in":1,"out":3,"sl":2,"vl":null}]})";
constexpr const char* kEnds = R"({"subnet":"f","from":{"guid":"0x1","name":"a","port":1,"lid":5},
"to":{"guid":"0x2","name":"b","port":1,"lid":6},)";

TEST(FabricCommands, APathShowsSlAndVlOfEachHop) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/subnets/f/path?src=a&dst=b&sl=2&pkey=0x8012"] =
      std::string(kEnds) + R"("forward":)" + kWay + R"(,"back":)" + kWay + "}";

  const auto said = test::ask_daemon(daemon.path(), {"path", "a", "b", "--sl", "2", "--pkey", "0x8012"});

  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("(LID 6, layer 0, P_Key 0x8012, SL 2, VL 1)\n"),
                              HasSubstr("0x0000000000000100 \"leaf000\" in 1 out 3 SL 2 VL ?\n"),
                              Not(HasSubstr("GRANTS"))));
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"path", "a", "b", "--sl", "16"}).status, 2);
}

TEST(FabricCommands, APathThatTheSaDoesNotGrantIsShownWithTheReason) {
  test::FakeDaemon daemon;
  const std::string way =
      R"({"complete":true,"reason":null,"pkey":null,"sl":null,"refused":"they share nothing",
"layer":0,"vl":null,"hops":[{"guid":"0x0000000000000100","name":"leaf000","in":1,"out":3,"sl":null,"vl":null}]})";
  daemon.answers["/v1/subnets/f/path?src=a&dst=b"] =
      std::string(kEnds) + R"("forward":)" + way + R"(,"back":)" + way + "}";

  EXPECT_THAT(test::ask_daemon(daemon.path(), {"path", "a", "b"}).out,
              AllOf(HasSubstr("(LID 6, layer 0)\n"), HasSubstr("in 1 out 3\n"),
                    HasSubstr("THE SA GRANTS NO PATH: they share nothing\n")));
}

TEST(FabricCommands, ServicesAndSwitchesAreTables) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/subnets/f/services?node=h&pkey=0x12"] =
      R"({"services":[{"id":"0x11","name":"store\u001b",
"gid":"fe80::1","port_guid":"0x1","at":null,"pkey":"0x8012","lease_s":null,"ends":null}]})";
  daemon.answers["/v1/subnets/f/switches?match=leaf%2A"] = R"({"switches":[{"guid":"0x100","name":"leaf000",
"lid":3,"level":0,"ports":36,"ports_free":4,"hosts":18,"lft_entries":99,"lft_capacity":49152,"mft_capacity":4096}]})";

  EXPECT_THAT(test::ask_daemon(daemon.path(), {"services", "h", "--pkey", "0x12"}).out,
              AllOf(HasSubstr("0x11"), HasSubstr("store\\x1b"), HasSubstr("never")));
  EXPECT_THAT(test::ask_daemon(daemon.path(), {"switches", "--match", "leaf*"}).out,
              AllOf(HasSubstr("LEVEL"), HasSubstr("49152"), HasSubstr("leaf000")));
}

}  // namespace
}  // namespace smd::cli
