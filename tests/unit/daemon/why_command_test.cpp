// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/why_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDisabledPort = R"({"guid":"0x0000000000000100","name":"leaf000","port":5,"peer":null,
"by":"root","since":"2026-11-27T03:00:00Z"})";
constexpr const char* kGone = R"({"id":"1-3","time":"2026-11-27T03:00:01.500Z","event":"node.gone",
"fields":{"guid":"0x0000000000000009","name":"h00009","lid":17,"port_guid":"0x000000000000000a",
"cause":"trap 128","behind_name":"leaf000","behind_port":5}})";
constexpr const char* kLink =
    R"({"guid":"0x0000000000000100","name":"leaf000","port":5,"width":"4x","speed":"HDR",
"since":"2026-11-27T03:00:01Z","peer":{"guid":"0x0000000000000009","name":"h00009","port":1}})";
constexpr const char* kEvents = R"("events":[{"time":"2026-11-27T03:00:00.100Z","event":"port.disabled",
"fields":{"guid":"0x0000000000000100","name":"leaf000","port":5,"by":"root"}},)";

class WhyLost : public testing::Test {
 protected:
  /// What the daemon says of the host, by each word that a test asks with.
  void serve(bool disabled = false, bool accepted = false) {
    const std::string node = std::string(R"({"guid":"0x0000000000000009","name":"h00009","type":"CA")") +
                             (accepted ? "}" : R"(,"since":"2026-11-27T03:00:01Z","links":1,"behind":null})");
    const auto answer = std::string(R"({"subnet":"f","ports":[],"lost":{"node":)") + node + R"(,"links":[)" +
                        (accepted ? "" : kLink) + R"(],"ports_disabled":[)" +
                        (disabled ? kDisabledPort : "") + R"(],"accepted":)" + (accepted ? "true" : "false") +
                        R"(,"gone":)" + kGone + "}," + kEvents + kGone + "]}";
    for (const auto* words : {"port=h00009", "port=h00009%3A1", "node=h00009"})
      daemon_.answers[std::string("/v1/subnets/f/why?") + words] = answer;
  }
  test::Asked ask(std::vector<std::string> words) {
    return test::ask_daemon(daemon_.path(), std::move(words));
  }

  test::FakeDaemon daemon_;
};

TEST_F(WhyLost, AHostThatIsLostIsShownWithItsCables) {
  serve();

  for (const auto* words : {"h00009", "h00009:1"}) {
    const auto said = ask({"why", words});
    EXPECT_EQ(said.status, 0) << words << said.err;
    EXPECT_THAT(said.out,
                AllOf(HasSubstr("CA 0x0000000000000009 \"h00009\": LOST since 2026-11-27T03:00:01Z\n"),
                      HasSubstr("port 1 was cabled to \"leaf000\" port 5, 4x HDR"),
                      HasSubstr("smd accept --lost 0x0000000000000009"), HasSubstr("cable")))
        << words;
  }
  const auto unknown = ask({"why", "h00010"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("it is not there"));
}

TEST_F(WhyLost, WhatHappenedIsSaidWithItsCauseAtBothEnds) {
  serve();

  EXPECT_THAT(ask({"why", "h00009"}).out,
              AllOf(HasSubstr("2026-11-27T03:00:00.100Z port.disabled \"leaf000\" port 5: by root\n"),
                    HasSubstr("2026-11-27T03:00:01.500Z node.gone \"h00009\": cause trap 128\n")));
}

TEST_F(WhyLost, APortThatAnOperatorHasDisabledIsToBeEnabled) {
  serve(true);

  EXPECT_THAT(
      ask({"why", "h00009"}).out,
      AllOf(HasSubstr("disabled by root since 2026-11-27T03:00:00Z: smd port enable 0x0000000000000100:5\n"),
            Not(HasSubstr("power"))));
}

TEST_F(WhyLost, OtherCommandsSayThatItIsLost) {
  serve();

  for (const auto* command : {"node", "ports", "links"}) {
    const auto said = ask({command, "h00009"});
    EXPECT_EQ(said.status, 0) << command << said.err;
    EXPECT_THAT(said.out, HasSubstr("\"h00009\": LOST since")) << command;
    EXPECT_THAT(ask({command, "h00009", "--json"}).out, HasSubstr(R"("lost":{"node":{"guid")")) << command;
    EXPECT_EQ(ask({command, "h00010"}).status, 1) << command;
  }
}

TEST_F(WhyLost, WhatWasAcceptedIsKnownByItsEvents) {
  serve(false, true);

  const auto said = ask({"why", "h00009"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("not counted as lost"), HasSubstr("cabled to \"leaf000\" port 5"),
                              Not(HasSubstr("accept --lost"))));
}

TEST_F(WhyLost, APortWhoseLinkIsLostSaysWhatToDo) {
  daemon_.answers["/v1/subnets/f/why?port=leaf000%3A5"] = std::string(R"json({"subnet":"f","lost":null,
"ports":[{"guid":"0x0000000000000100","name":"leaf000","port":5,"state":"Down","peer":null,
"reason":"Down since T (was 4x HDR to h00009)","disabled":null,
"lost":{"since":"T","peer":{"guid":"0x0000000000000009","name":"h00009","port":1}}}],)json") +
                                                          kEvents + kGone + "]}";

  EXPECT_THAT(ask({"why", "leaf000:5"}).out,
              AllOf(HasSubstr("\"leaf000\" port 5: Down\n  Down since T (was"),
                    HasSubstr("look at \"h00009\" port 1"), HasSubstr("smd accept --lost 0x0000000000000100"),
                    HasSubstr("port.disabled \"leaf000\" port 5: by root"), HasSubstr("node.gone")));
}

TEST_F(WhyLost, WithSweepsOffWhatIsShownMayBeOld) {
  daemon_.answers["/v1/subnets/f/why?port=leaf000"] =
      R"({"subnet":"f","sweeps_off_until":"2026-11-30T00:00:00Z","ports":[],"lost":null,"events":[]})";

  EXPECT_EQ(ask({"why", "leaf000"}).out,
            "sweeps are off until 2026-11-30T00:00:00Z: what is shown may be old\n");
}

TEST_F(WhyLost, OfSeveralSubnetsTheOneIsNamed) {
  serve();
  EXPECT_THAT(ask({"why", "h00009"}).out, testing::StartsWith("CA 0x")) << "there is one only";
  test::FakeDaemon several;
  several.answers = daemon_.answers;
  several.answers["/v1/status"] = R"({"subnets":[{"subnet":"e","state":"up"},{"subnet":"f","state":"up"}]})";

  const auto said = test::ask_daemon(several.path(), {"why", "h00009"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, testing::StartsWith("subnet f\nCA 0x0000000000000009"));
}

TEST_F(WhyLost, NumbersOfJsonAreWrittenWithoutAnExponent) {
  serve();
  daemon_.answers["/v1/subnets/f/nodes"] = R"({"nodes":[{"guid":"0x1","name":"h","seconds":12.5}]})";

  EXPECT_THAT(ask({"nodes", "--json"}).out, HasSubstr(R"("seconds":12.5})"));
}

TEST_F(WhyLost, ControlCharactersOfNamesAreShownByTheirNumbers) {
  serve();
  daemon_.answers["/v1/subnets/f/nodes"] =
      R"({"nodes":[{"guid":"0x1","name":"h\u001b[31m\n\t\u007f\u0085\u202e"}]})";

  EXPECT_THAT(ask({"nodes"}).out, HasSubstr(R"(h\x1b[31m\x0a\x09\x7f\u0085\u202e)"));
  EXPECT_THAT(ask({"nodes", "--json"}).out, HasSubstr(R"("h\u001b[31m\n\t)"));
}

/// Once, and for people alone.
void expect_control_characters(test::FakeDaemon& daemon) {
  constexpr std::string_view kName = "h00009\"", kControl = "\\u001b";
  for (auto& [target, answer] : daemon.answers) {
    for (auto at = answer.find(kName); at != std::string::npos;
         at = answer.find(kName, at + kControl.size() + 1))
      answer.insert(at, kControl);
  }
  const auto said = [&](std::vector<std::string> words) {
    return test::ask_daemon(daemon.path(), std::move(words)).out;
  };

  EXPECT_THAT(said({"why", "h00009"}), HasSubstr(R"(CA 0x0000000000000009 "\x1bh00009": )"));
  EXPECT_THAT(said({"node", "h00009"}), HasSubstr(R"("\x1bh00009": )"));
  for (const auto* command : {"why", "node"})
    EXPECT_THAT(said({command, "h00009", "--json"}), HasSubstr(R"("name":"\u001bh00009")")) << command;
}

TEST_F(WhyLost, TheNameOfALostNodeIsShownAsAnyOther) {
  serve();
  expect_control_characters(daemon_);
}

TEST_F(WhyLost, SoIsThatOfAnAcceptedOne) {
  serve(false, true);
  expect_control_characters(daemon_);
}

}  // namespace
}  // namespace smd::cli
