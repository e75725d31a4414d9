// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/event_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Takes three lines, and then no more.
class ThreeLines : public std::stringbuf {
 protected:
  int sync() override { return std::ranges::count(str(), '\n') < 3 ? 0 : -1; }
};

TEST(Events, FollowingGoesOnAfterTheLastOneWhenTheDaemonHasRestarted) {
  test::FakeDaemon daemon;
  int connections = 0;
  daemon.answer = [&](const std::string& request) -> std::string {
    if (request.find("/events") == std::string::npos)
      return "HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n{\"subnets\":[{\"subnet\":\"f\"}]}";
    const std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    const auto event = [](const std::string& id) {
      return "id: " + id + "\nevent: e\ndata: {\"time\":\"T\",\"level\":\"info\",\"event\":\"e" + id +
             "\"}\n\n";
    };
    ++connections;
    if (connections == 1)
      return head + "retry: 2000\n\n" + event("1-1") + event("1-2") + ": alive\nid: 1-4\n\n";
    if (connections == 2) return "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n";
    return head + event("2-1");
  };
  ThreeLines lines;
  std::ostream out(&lines);
  std::ostringstream err;

  const auto done =
      event_command(Conversation(daemon.path(), "f"), {.match = {}, .follow = true}, false, out, err);

  EXPECT_FALSE(done);
  EXPECT_EQ(lines.str(), "T info  e1-1\nT info  e1-2\nT info  e2-1\n");
  EXPECT_EQ(std::ranges::count(err.str(), '\n'), 1) << err.str();
  std::vector<std::string> asked;
  for (const auto& request : daemon.asked()) {
    if (request.find("/events") != std::string::npos) asked.push_back(request);
  }
  EXPECT_THAT(asked, ElementsAre(Not(HasSubstr("Last-Event-ID")), HasSubstr("Last-Event-ID: 1-4\r\n"),
                                 HasSubstr("Last-Event-ID: 1-4\r\n")));
}

/// A name with a quotation mark cannot look like other fields.
TEST(Events, FieldsAreQuotedAsInTheLog) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/subnets/f/events?limit=5"] =
      R"({"events":[{"time":"T","level":"info","event":"node.gone",
"fields":{"name":"x\" by=root\u001b","a":"x\"y","ports":3}}]})";
  std::ostringstream out, err;

  const auto done =
      event_command(Conversation(daemon.path(), "f"), {.match = {}, .limit = 5}, false, out, err);

  EXPECT_TRUE(done);
  EXPECT_EQ(out.str(), R"(T info  node.gone name="x\" by=root\x1b" a="x\"y" ports=3)"
                       "\n");
}

/// As after a takeover: the new master does not have what the old one had not sent yet.
TEST(Events, WhatIsMissingIsSaid) {
  test::FakeDaemon daemon, streaming;
  daemon.answers["/v1/subnets/f/events?limit=5&since=1-1"] =
      R"({"events":[{"time":"T","level":"info","event":"e"}],"gap":true})";
  std::ostringstream paged, err;
  EXPECT_TRUE(event_command(Conversation(daemon.path(), "f"), {.match = {}, .since = "1-1", .limit = 5},
                            false, paged, err));
  EXPECT_EQ(paged.str(), "T info  e\n");
  EXPECT_EQ(err.str(), "smd events: some events that followed are not kept any more\n");

  streaming.answer = [](const std::string& request) -> std::string {
    if (request.find("/events") == std::string::npos)
      return "HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n{\"subnets\":[{\"subnet\":\"f\"}]}";
    std::string frames = "retry: 2000\n\nid: 1-1\nevent: gap\ndata: {\"since\":\"1-1\"}\n\n";
    for (int i = 0; i < 3; ++i)
      frames += "id: 2-1\nevent: e\ndata: {\"time\":\"T\",\"level\":\"info\",\"event\":\"e\"}\n\n";
    return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + frames;
  };
  ThreeLines lines;
  std::ostream out(&lines);
  std::ostringstream said;
  EXPECT_FALSE(
      event_command(Conversation(streaming.path(), "f"), {.match = {}, .follow = true}, false, out, said));
  EXPECT_EQ(lines.str(), "T info  e\nT info  e\nT info  e\n");
  EXPECT_EQ(said.str(), "smd events: some events that followed are not kept any more\n");
}

TEST(Events, FollowingNeedsADaemonToBeginWith) {
  std::ostringstream out, err;
  EXPECT_FALSE(event_command(Conversation("/nonexistent/smd.sock", "f"), {.match = {}, .follow = true}, false,
                             out, err));
}

}  // namespace
}  // namespace smd::cli
