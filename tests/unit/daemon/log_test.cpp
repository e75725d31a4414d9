// SPDX-License-Identifier: Apache-2.0
#include "smd/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "smd/log/modules.h"
#include "tests/support/source_file.h"

namespace smd::log {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

/// A log into a vector, with a clock that the test turns.
struct Book {
  std::shared_ptr<std::vector<std::string>> lines = std::make_shared<std::vector<std::string>>();
  std::shared_ptr<std::chrono::nanoseconds> now = std::make_shared<std::chrono::nanoseconds>(0);

  Log log(config::LogConfig config = {}) const {
    return {
        std::move(config), [to = lines](const Record&, std::string_view line) { to->emplace_back(line); },
        Times{.steady = [at = now] { return *at; },
              .wall = [] { return std::chrono::system_clock::time_point(std::chrono::milliseconds(1234)); }}};
  }
};

TEST(Log, AnEventIsOneLineOfKeysAndValues) {
  const Book book;
  book.log().with_subnet("east").warn("port.not_active").port(Guid{0x10}, "leaf 1", PortNum{3}).kv("lmc", 2);

  EXPECT_THAT(
      *book.lines,
      ElementsAre("port.not_active subnet=east guid=0x0000000000000010 name=\"leaf 1\" port=3 lmc=2"));
}

TEST(Log, ForeignBytesStayInsideOneLine) {
  const Book book;
  book.log()
      .info("node.found")
      .kv("a", "x\ny\"\\")
      .kv("b", "\xff\x01")
      .kv("c", "")
      .kv("d", "k=v")
      .kv("e", "é");

  EXPECT_THAT(*book.lines, ElementsAre(R"(node.found a="x\x0ay\"\\" b="\xff\x01" c="" d="k=v" e="é")"));
}

TEST(Log, UnicodeLineBreaksAreEscaped) {
  const Book book;
  book.log().info("node.found").kv("a", "x\xe2\x80\xa8y").kv("b", "\xc2\x9b");

  EXPECT_THAT(*book.lines, ElementsAre(R"(node.found a="x\xe2\x80\xa8y" b="\xc2\x9b")"));
}

TEST(Log, ControlsOfTheDirectionOfTextAreEscaped) {
  const Book book;
  book.log().info("node.found").kv("a", "x\xe2\x80\xaey").kv("b", "\xe2\x81\xa6");
  EXPECT_THAT(*book.lines, ElementsAre(R"(node.found a="x\xe2\x80\xaey" b="\xe2\x81\xa6")"));

  const Book json;
  json.log({.format = config::LogFormat::json}).info("node.found").kv("a", "x\xe2\x80\xaey");
  EXPECT_THAT(json.lines->at(0), testing::HasSubstr(R"("a":"x\u202ey")"));
}

TEST(Log, JsonHasTheSameKeysAndBareNumbers) {
  const Book book;
  book.log({.format = config::LogFormat::json})
      .with_subnet("a")
      .error("sm.x")
      .kv("n", 7U)
      .kv("t", true)
      .kv("lid", Lid{9})
      .kv("guid", Guid{1})
      .kv("bad", "\xff\n\"");

  EXPECT_THAT(
      *book.lines,
      ElementsAre(
          "{\"time\":\"1970-01-01T00:00:01.234Z\",\"level\":\"error\",\"event\":\"sm.x\",\"subnet\":\"a\","
          "\"n\":7,"
          "\"t\":true,\"lid\":9,\"guid\":\"0x0000000000000001\",\"bad\":\"\xEF\xBF\xBD\\u000a\\\"\"}"));
}

TEST(Log, LinesAboveTheLevelAreDropped) {
  const Book book;
  const auto log = book.log({.level = Level::warn});
  log.info("sweep.done");
  log.debug("sweep.node");
  log.warn("sweep.slow");

  EXPECT_THAT(*book.lines, ElementsAre("sweep.slow"));
}

TEST(Log, ModulesAndGuidsLetDebugLinesThrough) {
  const Book book;
  const auto log = book.log({.modules = {"mad"}, .guids = {Guid{5}}});
  log.debug("mad.retry").kv("tries", 2);
  log.debug("sweep.node").node(Guid{5}, "a");
  log.debug("sweep.node").node(Guid{6}, "b");
  log.set_filter({.level = Level::debug});
  log.debug("sweep.node").node(Guid{7}, "c");

  EXPECT_THAT(*book.lines, ElementsAre("mad.retry tries=2", "sweep.node guid=0x0000000000000005 name=a",
                                       "sweep.node guid=0x0000000000000007 name=c"));
}

TEST(Log, WhatIsNamedHasALevelOfItsOwnCoarserOrFiner) {
  const Book book;
  const auto log = book.log();
  log.set_filter({.level = Level::info,
                  .modules = {{"sweep", Level::error}, {"sm", Level::debug}},
                  .guids = {{Guid{5}, Level::warn}}});
  log.info("sweep.done");
  log.warn("sweep.slow").node(Guid{5}, "a");
  log.debug("sm.state");
  log.info("port.up").node(Guid{5}, "a");
  log.info("port.up").node(Guid{6}, "b");

  EXPECT_THAT(*book.lines, ElementsAre("sweep.slow guid=0x0000000000000005 name=a", "sm.state",
                                       "port.up guid=0x0000000000000006 name=b"));
  EXPECT_EQ(log.filter().modules.size(), 2U);
}

TEST(Log, ARepeatedMessageIsOneLineAndACountAMinute) {
  const Book book;
  const auto log = book.log();
  for (int i = 0; i < 150; ++i) {
    *book.now = seconds(i);
    log.warn("port.flap").port(Guid{1}, "sw", PortNum{2}).kv("times", i);
  }
  *book.now = seconds(200);
  log.tick();
  *book.now = seconds(300);
  log.tick();
  log.warn("port.flap").port(Guid{1}, "sw", PortNum{2}).kv("times", 150);

  const std::string port = "port.flap guid=0x0000000000000001 name=sw port=2 ";
  EXPECT_THAT(*book.lines,
              ElementsAre(port + "times=0", port + "times=59 suppressed=59", port + "times=119 suppressed=60",
                          port + "times=149 suppressed=30", port + "times=150"));
}

TEST(Log, DifferentPortsAreDifferentMessagesUpToALimit) {
  const Book book;
  const auto log = book.log();
  for (unsigned i = 1; i <= 1000; ++i) log.warn("port.x").port(Guid{i}, "n", PortNum{1});
  log.finish();

  EXPECT_THAT(*book.lines, SizeIs(31));
  EXPECT_EQ(book.lines->back(), "port.x suppressed=970 reason=\"more than 30 different ones in 60 s\"");
}

TEST(Log, SubnetsAreCountedApart) {
  const Book book;
  const auto log = book.log();
  log.with_subnet("a").warn("sm.wait");
  log.with_subnet("b").warn("sm.wait");
  log.with_subnet("a").warn("sm.wait");

  EXPECT_THAT(*book.lines, ElementsAre("sm.wait subnet=a", "sm.wait subnet=b"));
}

TEST(Log, LinesMarkedAlwaysAreNeverCounted) {
  const Book book;
  for (int i = 0; i < 3; ++i) book.log().info("sweep").always();

  EXPECT_THAT(*book.lines, SizeIs(3));
}

TEST(Log, TheEndWritesWhatWasCounted) {
  const Book book;
  {
    const auto log = book.log();
    for (int i = 0; i < 3; ++i) log.info("sm.wait");
  }

  EXPECT_THAT(*book.lines, ElementsAre("sm.wait", "sm.wait suppressed=2"));
}

TEST(Log, ADefaultLogDropsEverything) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Log log;
  log.error("sm.x").port(Guid{1}, "a", PortNum{1}).kv("k", "v");
  log.tick();
  log.finish();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Log, ManyThreadsWriteWholeLines) {
  const Book book;
  const auto log = book.log();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < 200; ++i) log.info("sweep").kv("t", t).kv("i", i).always();
      });
    }
  }

  EXPECT_THAT(*book.lines, SizeIs(800));
}

std::string contents(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

/// stderr into a file for as long as this lives.
class StderrTo {
 public:
  explicit StderrTo(const std::filesystem::path& file) : saved_(dup(STDERR_FILENO)) {
    EXPECT_NE(freopen(file.c_str(), "w", stderr), nullptr);
  }
  ~StderrTo() {
    std::fflush(stderr);
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  StderrTo(const StderrTo&) = delete;
  StderrTo& operator=(const StderrTo&) = delete;

 private:
  int saved_;
};

std::filesystem::path temporary(std::string_view name) {
  return std::filesystem::path(testing::TempDir()) / fmt::format("smd_log_{}_{}", getpid(), name);
}

TEST(Log, AFileGetsTimeAndLevelBeforeTheLine) {
  const auto file = temporary("file/with/folders");
  {
    const auto log = Log::open({.target = file.string()});
    ASSERT_TRUE(log) << log.error();
    log->info("sweep.done").kv("lids", 3);
  }

  EXPECT_TRUE(std::regex_match(
      contents(file), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info  sweep\.done lids=3\n)")))
      << contents(file);
  std::filesystem::remove_all(temporary("file"));
}

TEST(Log, AFileThatCannotBeOpenedIsAnError) {
  const auto log = Log::open({.target = "/proc/nothing/here.log"});

  ASSERT_FALSE(log);
  EXPECT_THAT(log.error(), HasSubstr("/proc/nothing"));
}

TEST(Log, AReloadThatFailsLeavesTheOldTarget) {
  const auto file = temporary("old.log");
  const auto log = Log::open({.target = file.string()});
  ASSERT_TRUE(log) << log.error();
  EXPECT_FALSE(log->configure({.target = "/proc/nothing/here.log"}));
  log->info("sm.still_here");
  log->finish();

  EXPECT_THAT(contents(file), HasSubstr("sm.still_here"));
  std::filesystem::remove(file);
}

TEST(Log, StderrThatTheJournalReadsGetsPriorities) {
  const auto file = temporary("journal");
  {
    const StderrTo redirected(file);
    struct stat is{};
    fstat(STDERR_FILENO, &is);
    setenv("JOURNAL_STREAM", fmt::format("{}:{}", is.st_dev, is.st_ino).c_str(), 1);
    const auto log = Log::open({});
    unsetenv("JOURNAL_STREAM");
    ASSERT_TRUE(log);
    log->warn("sm.wait");
    log->error("sm.lost");
  }

  EXPECT_EQ(contents(file), "<4>sm.wait\n<3>sm.lost\n");
  std::filesystem::remove(file);
}

TEST(Log, StderrElsewhereGetsTimeAndLevel) {
  const auto file = temporary("stderr");
  {
    const StderrTo redirected(file);
    setenv("JOURNAL_STREAM", "0:0", 1);
    Log::open({}).value().warn("sm.wait");
    unsetenv("JOURNAL_STREAM");
  }

  EXPECT_THAT(contents(file), HasSubstr("Z warn  sm.wait\n"));
  std::filesystem::remove(file);
}

/// An event whose module [log] modules does not take could not be asked for.
TEST(Log, EveryEventInTheSourcesIsOfAKnownModule) {
  const std::regex event(R"([.>](?:error|warn|info|debug)\(\s*"([a-z_]+)[."])");
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_file("smd"))) {
    if (entry.path().extension() != ".cpp") continue;
    const auto text = contents(entry.path());
    for (auto it = std::sregex_iterator(text.begin(), text.end(), event); it != std::sregex_iterator();
         ++it) {
      found.insert((*it)[1].str());
    }
  }

  ASSERT_GT(found.size(), 20U);
  for (const auto& module : found) {
    EXPECT_NE(std::ranges::find(kModules, module), kModules.end())
        << module << " is missing in smd/log/modules.h";
  }
}

/// What a sink of level info got, by name.
std::shared_ptr<std::vector<std::string>> taken_by_a_sink(const Log& log) {
  auto names = std::make_shared<std::vector<std::string>>();
  log.set_sink({.level = Level::info, .take = [names](const Record& record) {
                  auto name = record.event;
                  if (!record.fields.empty() && record.fields.back().key == "suppressed")
                    name += " " + record.fields.back().value;
                  names->push_back(name);
                }});
  return names;
}

TEST(LogSinks, GetRecordsUpToTheirLevelWhateverTheFilterSays) {
  const Book book;
  const auto log = book.log({.level = Level::error});
  const auto names = taken_by_a_sink(log);

  log.info("link.up");
  log.debug("sweep.node");
  log.error("store.full");

  EXPECT_THAT(*names, ElementsAre("link.up", "store.full"));
  EXPECT_THAT(*book.lines, ElementsAre("store.full"));
}

TEST(LogSinks, GetEachEventThatOneLineSaysOfMany) {
  const Book book;
  const auto log = book.log();
  const auto names = taken_by_a_sink(log);
  for (int i = 0; i < 100; ++i) log.info("link.up").subject("leaf 3").event_only();
  EXPECT_EQ(names->size(), 100U);
  EXPECT_THAT(*book.lines, testing::IsEmpty());
}

TEST(LogSinks, StayWithTheLogWhenItsFilterOrItsConfigurationChanges) {
  const Book book;
  const auto log = book.log();
  const auto names = taken_by_a_sink(log);

  log.set_filter({.level = Level::error});
  log.with_subnet("a").info("link.up");
  log.set_sink({});
  log.info("link.down");

  EXPECT_THAT(*names, ElementsAre("link.up"));
}

TEST(LogSinks, GetACountOfRepetitionsWithTheNextTick) {
  const Book book;
  const auto log = book.log({.level = Level::error});
  const auto names = taken_by_a_sink(log);
  for (int i = 0; i < 5; ++i) log.warn("link.flaps").subject("leaf 3");
  EXPECT_THAT(*names, ElementsAre("link.flaps"));

  *book.now = std::chrono::minutes(2);
  log.tick();

  EXPECT_THAT(*names, ElementsAre("link.flaps", "link.flaps 4"));
  EXPECT_THAT(*book.lines, testing::IsEmpty());
}

}  // namespace
}  // namespace smd::log
