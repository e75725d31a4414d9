// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/store_lab.h"

namespace smd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string table(int guid, std::initializer_list<std::pair<int, int>> entries) {
  auto text = fmt::format("Unicast lids [0-9] of switch Lid {} guid 0x{:016x} ('s'):\n", guid, guid);
  for (const auto& [lid, port] : entries) text += fmt::format("0x{:04x} {:03} # x\n", lid, port);
  return text + "9 lids dumped\n";
}

sm::LftDump read(const std::string& text) {
  const auto dump = sm::read_lfts(text, "x");
  EXPECT_TRUE(dump) << base::to_string(dump.error());
  return dump.value_or(sm::LftDump{});
}

TEST(Diff, CountsEntriesThatAreOthersNewOrGoneAndTheMostLoadedPort) {
  const auto before = read(table(1, {{1, 1}, {2, 2}, {3, 3}}) + table(2, {{1, 1}}) + table(3, {{1, 1}}));
  const auto after = read(table(1, {{1, 1}, {2, 1}, {4, 1}}) + table(2, {{1, 1}}) + table(4, {{1, 1}}));

  const auto found = difference(before, after);
  EXPECT_THAT(
      found.switches,
      ElementsAre(SwitchDifference{
          .guid = Guid{1}, .changed = 1, .added = 1, .removed = 1, .most_before = 1, .most_after = 3}));
  EXPECT_THAT(found.only_before, ElementsAre(Guid{3}));
  EXPECT_THAT(found.only_after, ElementsAre(Guid{4}));
  EXPECT_EQ(found.compared, 2U);
  EXPECT_EQ(found.entries, 5U);
  EXPECT_EQ(found.differing(), 3U);
  EXPECT_TRUE(difference(before, before).none());
}

TEST(Diff, SaysSoAndByItsExitStatus) {
  const test::TemporaryFolder folder;
  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
    return (folder.path() / name).string();
  };
  const auto one = file("one", table(1, {{1, 1}, {2, 2}})), two = file("two", table(1, {{1, 1}, {2, 1}}));
  const auto bad = file("bad", "this is \x1b[31m no dump\n");
  const auto run = [&](const std::string& before, const std::string& after, bool json, int status) {
    std::ostringstream out, err;
    EXPECT_EQ(diff({.before = before, .after = after, .json = json}, out, err), status) << err.str();
    return out.str() + err.str();
  };
  EXPECT_EQ(run(one, one, false, 0), "0 of 2 entries differ, on 0 of 1 switches\n");
  EXPECT_THAT(run(one, two, false, 1), HasSubstr("1 of 2 entries differ, on 1 of 1 switches\n"));
  EXPECT_THAT(run(one, two, true, 1), HasSubstr("\"changed\":1,\"added\":0"));
  EXPECT_THAT(run(one, bad, false, 2), HasSubstr("bad"));
  EXPECT_THAT(run(folder.path() / "none", one, false, 2), HasSubstr("No such file"));
}

}  // namespace
}  // namespace smd::cli
