// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Ask, ADaemonThatDoesNotAnswerIsCritical) {
  test::FakeDaemon daemon;
  daemon.answer = [](const std::string&) { return std::string(); };
  const auto begun = std::chrono::steady_clock::now();

  const auto nagios = test::ask_daemon(daemon.path(), {"status", "--nagios", "--timeout", "1"});
  const auto check = test::ask_daemon(daemon.path(), {"status", "--check", "--timeout", "1"});

  EXPECT_EQ(nagios.status, 2);
  EXPECT_THAT(nagios.out, StartsWith("SMD CRITICAL - "));
  EXPECT_THAT(nagios.out, HasSubstr("the daemon has not answered within 1 s\n"));
  EXPECT_EQ(check.status, 1);
  EXPECT_THAT(check.err, HasSubstr("the daemon has not answered within 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST(Ask, WrongUseEndsWithTwoAndAsksNothing) {
  test::FakeDaemon daemon;
  const std::vector<std::vector<std::string>> wrong{{"token", "add"},
                                                    {"token", "add", "x"},
                                                    {"token", "revoke"},
                                                    {"sweep", "off"},
                                                    {"sweep", "on", "--for", "1h"},
                                                    {"status", "--nagios", "--json"},
                                                    {"port", "enable", "leaf:1", "--confirm", "x"},
                                                    {"partitions", "create"},
                                                    {"partitions", "show"},
                                                    {"partitions", "add", "blue"},
                                                    {"partitions", "create", "x", "--mtu", "4096"},
                                                    {"partitions", "create", "x", "--scope", "5"}};

  for (const auto& words : wrong) {
    const auto said = test::ask_daemon(daemon.path(), words);
    EXPECT_EQ(said.status, 2) << words.back();
    EXPECT_THAT(said.err, StartsWith("smd " + words.front() + ": "));
  }
  EXPECT_TRUE(daemon.asked().empty());
}

TEST(Ask, AValueOfAPartitionThatTheDaemonTakesForNoneIsWrongUse) {
  test::FakeDaemon daemon;
  std::string code = "bad_body";
  const auto answer = [](std::string_view status, const std::string& body) {
    return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                       body.size(), body);
  };
  daemon.answer = [&](const std::string& request) {
    if (request.starts_with("GET")) return answer("200 OK", R"({"subnets":[{"subnet":"f","state":"up"}]})");
    return answer("400 Bad Request",
                  fmt::format(R"({{"code":"{0}","error":{{"code":"{0}","message":"pkey: found"}}}})", code));
  };
  const auto ask = [&] {
    return test::ask_daemon(daemon.path(), {"partitions", "create", "x", "--pkey", "zz"});
  };

  EXPECT_EQ(ask().status, 2);
  code = "bad_name";
  EXPECT_EQ(ask().status, 2);
  code = "no_such_group";
  const auto said = ask();
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.err, HasSubstr("found"));
}

TEST(Ask, ADryRunSaysWhatWouldBeDone) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/subnets/f/resweep"] = R"({"sweep":"heavy","dry_run":true})";
  daemon.answers["/v1/subnets/f/sweeps"] = R"({"sweeps_off_until":"2026-11-30T00:00:00Z","dry_run":true})";
  daemon.answers["/v1/subnets/f/handover"] = R"({"to":"0x0000000000000009","node":"sm2","dry_run":true})";
  daemon.answers["/v1/subnets/f/priority"] = R"({"was":3,"priority":5,"dry_run":true})";

  const auto said = [&](std::vector<std::string> words) {
    words.emplace_back("--dry-run");
    return test::ask_daemon(daemon.path(), std::move(words)).out;
  };

  EXPECT_EQ(said({"resweep", "heavy"}), "f: heavy sweep would be asked for (dry run)\n");
  EXPECT_EQ(said({"sweep", "off", "--for", "1h"}),
            "f: sweeps would be off until 2026-11-30T00:00:00Z (dry run)\n");
  EXPECT_EQ(said({"handover"}), "f: HANDOVER to 0x0000000000000009 \"sm2\" would be asked for (dry run)\n");
  EXPECT_EQ(said({"priority", "5"}), "f: priority 5, is 3; until the next start (dry run)\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"priority", "5"}).out,
            "f: priority 5, was 3; until the next start\n");
}

TEST(Ask, ALightSweepWhileSweepsAreOffIsSaidToBeNoMoreThanALook) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/subnets/f/resweep"] = R"({"sweeps_off_until":"2026-11-30T00:00:00Z"})";

  EXPECT_EQ(test::ask_daemon(daemon.path(), {"resweep"}).out,
            "f: light sweep asked for; sweeps are off until 2026-11-30T00:00:00Z: what it finds is not "
            "followed before (that of heavy is)\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"resweep", "heavy"}).out, "f: heavy sweep asked for\n");
}

/// Each column has something in each row, also for scripts that split at blanks.
TEST(Ask, WhatIsNotKnownOfAnSmIsADash) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/subnets/f/sms"] = R"({"subnet":"f","sms":[
{"guid":"0x1","node":"","port":0,"lid":0,"priority":3,"state":"discovering","act_count":0,"last_seen":null,"self":true,"outlook":""},
{"guid":"0x2","node":"","port":2,"lid":7,"priority":0,"state":"standby","act_count":5,"last_seen":null,"self":false,"outlook":""}]})";

  EXPECT_EQ(test::ask_daemon(daemon.path(), {"sms"}).out,
            "GUID  NODE  PORT  LID  PRIO  STATE        ACTCOUNT  LAST SEEN  NEXT\n"
            "0x1   -     -     -    3     discovering  0         this SM    -\n"
            "0x2   -     2     7    0     standby      5         never      -\n");
}

/// Each is named as the command line has it, and no daemon is asked.
TEST(Ask, OptionsOfOtherOrdersAndTooLongATimeAreMisuse) {
  const test::FakeDaemon daemon;
  const auto refused = [&](std::vector<std::string> words) {
    const auto said = test::ask_daemon(daemon.path(), std::move(words));
    EXPECT_EQ(said.status, 2) << said.err;
    return said.err;
  };

  EXPECT_EQ(refused({"sweep", "off", "--for", "8d"}), "smd sweep: --for: found 8d, allowed 7d at most\n");
  EXPECT_EQ(refused({"resweep", "--engine"}), "smd resweep: --engine is an option of converge\n");
  EXPECT_EQ(refused({"resweep", "heavy", "--engine"}), "smd resweep: --engine is an option of converge\n");
}

TEST(Ask, WhatIsDoneIsNotAskedToBeConfirmed) {
  test::FakeDaemon daemon;
  const auto answer = [](int port, const char* dry_run) {
    return fmt::format(
        R"({{"action":"disable","port":{{"name":"leaf","port":{0}}},"at":{{"name":"leaf","port":{0}}},"dry_run":{1},)"
        R"("changed":true,"cut_off_count":1,"cut_off":[{{"guid":"0x9","name":"h1"}}],"confirm":"abc"}})",
        port, dry_run);
  };
  daemon.answers["/v1/subnets/f/ports/leaf/1/disable"] = answer(1, "true");
  daemon.answers["/v1/subnets/f/ports/leaf/2/disable"] = answer(2, "false");

  const std::string cut_off = "  cuts off 1 node:\n    0x9 h1\n";
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"port", "disable", "leaf:1"}).out,
            "\"leaf\" port 1: disable (dry run)\n" + cut_off + "  to do it: --confirm abc\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"port", "disable", "leaf:2"}).out,
            "\"leaf\" port 2: disable\n" + cut_off);
}

/// Names of partitions may come from a file, or from who could write to the socket.
TEST(Ask, PartitionsOfATokenAreShownWithoutControls) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/subnets/f/tokens"] =
      R"({"tokens":[{"name":"t","role":"tenant","partitions":["a\u001b[31m"],"expired":false}]})";

  EXPECT_EQ(test::ask_daemon(daemon.path(), {"token"}).out,
            "t: tenant of a\\x1b[31m, made ?, expires never, last used never\n");
}

TEST(Ask, AWaitForADaemonThatDoesNotAnswerEndsInTime) {
  test::FakeDaemon mute, stuck;  // the one says nothing, the other nothing of its subnet's SMs
  mute.answer = [](const std::string&) { return std::string(); };
  stuck.answer = [](const std::string& request) {
    const std::string body = R"({"subnets":[{"subnet":"f","state":"up"},{"subnet":"g","state":"up"}]})";
    if (request.find("/sms ") != std::string::npos) return std::string();
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  };
  const auto expect_in_time = [](const test::FakeDaemon& daemon, const std::string& what) {
    const auto begun = std::chrono::steady_clock::now();
    const auto said = test::ask_daemon(daemon.path(), {"wait", what, "--timeout", "1"});
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5)) << what;
    EXPECT_EQ(said.status, 3) << what << said.err;
    EXPECT_THAT(said.out, HasSubstr("the daemon has not answered within 1 s\n")) << what;
  };

  for (const auto* what : {"up", "replica", "restart"}) {
    expect_in_time(mute, what);
    EXPECT_EQ(test::ask_daemon(mute.path() + ".none", {"wait", what, "--timeout", "0"}).status, 1) << what;
  }
  for (const auto* what : {"replica", "restart"}) expect_in_time(stuck, what);
}

TEST(Ask, WhereSweepsAreOffTheFabricMayBeOtherThanItIsShown) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/status"] =
      R"({"subnets":[{"subnet":"f","state":"up","why":"","sweeps_off_until":"2026-11-30T00:00:00Z"}]})";

  const auto check = test::ask_daemon(daemon.path(), {"status", "--check"});
  EXPECT_EQ(check.status, 3);
  EXPECT_EQ(check.out, "subnet f: up: sweeps off until 2026-11-30T00:00:00Z\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"wait", "up", "--timeout", "0"}).status, 3);
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"status", "--nagios"}).status, 1);
}

/// A standby whose files are wrong would be master by those that were accepted last.
TEST(Ask, FilesThatAreRefusedAreNoGoodStandby) {
  test::FakeDaemon daemon;
  const auto status_with = [](const std::string& files) {
    return R"({"subnet":"f","state":"standby","why":"a is master","files_refused":)" + files + "}";
  };
  daemon.answers["/v1/subnets/f/status"] = status_with(R"(["q.conf:3: wrong","q.conf:4: too"])");
  daemon.answers["/v1/status"] = R"({"subnets":[)" + daemon.answers["/v1/subnets/f/status"] + "]}";

  for (const auto& words : {std::vector<std::string>{"status", "--check"},
                            std::vector<std::string>{"status", "--check", "--subnet", "f"}}) {
    const auto check = test::ask_daemon(daemon.path(), words);
    EXPECT_EQ(check.status, 3);
    EXPECT_EQ(
        check.out,
        "subnet f: standby: a is master; the files are wrong, those before are in force: q.conf:3: wrong "
        "(and 1 more: smd check)\n");
  }
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"status", "--nagios"}).status, 1);
  EXPECT_THAT(test::ask_daemon(daemon.path(), {"status"}).out,
              HasSubstr("wrong, those before are in force: q.conf:3: wrong (and 1 more: smd check)\n"));
  daemon.answers["/v1/status"] = R"({"subnets":[)" + status_with("[]") + "]}";
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"status", "--check"}).status, 0);
}

TEST(Ask, ADryRunOfConvergeSaysWhichTablesItWouldComeTo) {
  test::FakeDaemon daemon;
  const auto said = [&](const std::string& converge) {
    daemon.answers["/v1/subnets/f/resweep"] =
        R"({"sweep":"converge","dry_run":true,"converge":)" + converge + "}";
    return test::ask_daemon(daemon.path(), {"resweep", "converge", "--engine", "--dry-run"}).out;
  };

  EXPECT_EQ(said(R"({"refused":null,"engine_now":"nue","engine":"dfsssp","max_link_time_now":37.0,)"
                 R"("max_link_time":18.5,"entries_changed":812,"pairs_with_other_sl":1,"interrupts":false})"),
            "f: converge sweep would be asked for (dry run); tables of dfsssp instead of nue: most loaded "
            "link 18.5 "
            "instead of 37, 812 entries changed, another SL for 1 pair of switches\n");
  EXPECT_THAT(
      said(R"({"refused":null,"engine_now":"updn","engine":"updn","max_link_time_now":8.0,)"
           R"("max_link_time":8.0,"entries_changed":1,"pairs_with_other_sl":0,"interrupts":true})"),
      testing::HasSubstr("; tables of updn: most loaded link 8 instead of 8, 1 entry changed, another SL "
                         "for 0 pairs of switches; no order of writes keeps all working routes"));
  EXPECT_THAT(said(R"({"refused":"no engine routes the fabric","engine_now":"updn","engine":null})"),
              testing::HasSubstr("(dry run); the tables would stay: no engine routes the fabric"));
  EXPECT_EQ(said("null"), "f: converge sweep would be asked for (dry run)\n");
}

/// Also where an option is of no use for the engine that has taken their place.
TEST(Ask, EnginesThatWerePassedOverAreNamedWithTheReason) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/status"] =
      R"({"subnets":[{"subnet":"f","state":"up","why":"","last_sweep":{"switches":4},)"
      R"("routing":{"engine":"updn","why":null,"unused_options":"updn has no use for torus_file",)"
      R"("fell_back_from":[{"engine":"torus-2QoS","reason":"a ring is in pieces"}]}}]})";

  const auto said = test::ask_daemon(daemon.path(), {"status"}).out;

  EXPECT_THAT(said, HasSubstr(" updn has no use for torus_file\n"));
  EXPECT_THAT(said, HasSubstr(" torus-2QoS was passed over: a ring is in pieces\n"));
}

TEST(Ask, StaleSlsOfHostsAreToldApart) {
  test::FakeDaemon daemon;
  const auto said = [&](const std::string& pairs) {
    daemon.answers["/v1/status"] =
        R"({"subnets":[{"subnet":"f","state":"up","why":"","last_sweep":{"switches":4},)"
        R"("routing":{"engine":"dfsssp",)" +
        pairs + "}}]}";
    return test::ask_daemon(daemon.path(), {"status"}).out;
  };

  EXPECT_THAT(said(R"("pairs_with_stale_sl":3,"host_pairs_with_stale_sl":3)"),
              HasSubstr("have another SL than at first: connections made before are not proven\n"));
  EXPECT_THAT(said(R"("pairs_with_stale_sl":3,"host_pairs_with_stale_sl":1)"),
              HasSubstr("made before are not proven (1 of them with hosts at both)\n"));
  EXPECT_THAT(said(R"("pairs_with_stale_sl":3,"host_pairs_with_stale_sl":0)"),
              HasSubstr("LIDs of switches without hosts, not connections of hosts\n"));
}

TEST(Ask, PortsOfNodesWithAPattern) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/subnets/f/ports?match=leaf%2A"] = R"({"subnet":"f","ports":[]})";

  EXPECT_EQ(test::ask_daemon(daemon.path(), {"ports", "--match", "leaf*"}).status, 0);
}

TEST(Ask, ColoursAreForTerminalsOrWhereTheyAreAskedFor) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/status"] = R"({"subnets":[{"subnet":"f","state":"reduced","why":"a switch is lost"}]})";
  daemon.answers["/v1/subnets/f/ports"] =
      R"({"subnet":"f","ports":[{"guid":"0x1","name":"h","port":1,"state":"Active"}]})";

  for (const std::vector<std::string>& plain :
       {std::vector<std::string>{}, {"--color", "auto"}, {"--color", "never"}}) {
    auto words = plain;
    words.insert(words.begin(), {"status", "--check"});
    EXPECT_EQ(test::ask_daemon(daemon.path(), words).out, "subnet f: reduced: a switch is lost\n");
  }
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"status", "--check", "--color", "always"}).out,
            "subnet f: \x1b[33mreduced\x1b[0m: a switch is lost\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"ports", "--color", "always"}).out,
            "0x1 \"h\" port 1: \x1b[32mActive\x1b[0m\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"ports", "--color", "sometimes"}).status, 2);
}

}  // namespace
}  // namespace smd::cli
