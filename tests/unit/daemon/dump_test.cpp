// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "smd/dump/dumps.h"
#include "smd/dump/fabric_of.h"
#include "smd/dump/lft_dump.h"
#include "tests/support/golden.h"
#include "tests/support/offline.h"
#include "tests/support/source_file.h"

namespace smd::sm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text_of(const DumpFormat& format, const test::Settled& fabric) {
  const DumpView view(fabric.subnet, fabric.decided);
  const routing::Serial serial;
  return test::written([&](Out& out) {
    if (format.write != nullptr) return format.write(out, view);
    format.write_hops(out, view, HopTable(view, serial));
  });
}

std::string text_of(std::string_view name, const test::Settled& fabric) {
  const auto list = parse_dump_list(name, "--dump");
  EXPECT_TRUE(list);
  return text_of(*list->front(), fabric);
}

// Compared by hand with what OpenSM 3.3.23 wrote for the same LIDs (tests/peer/dumps.py does it by machine).
TEST(Dump, OfAnOddFabricStaysAsItIs) {
  auto fabric = test::settle_text(test::kOddFabric);
  // The tables are the kept ones: formats are tested here, not what an engine chooses.
  const auto kept = load_lfts(test::source_file("tests/golden/dump/odd/opensm-lfts.dump"));
  ASSERT_TRUE(kept);
  auto part = std::make_shared<RoutePart>(*fabric.decided.routes);
  for (auto& row : part->rows) row.row = kept->rows.at(row.node);
  fabric.decided.routes = part;

  for (const auto& format : dump_formats()) {
    test::expect_golden("dump/odd/" + std::string(format.name), text_of(format, fabric));
  }
}

TEST(Dump, OfATableMarksWhatTheSwitchDoesNotHold) {
  auto fabric = test::settle_spec("ft2:4");
  std::shared_ptr<Node> first;
  for (auto& node : fabric.subnet.nodes) {
    if (!node->is_switch()) continue;
    auto copy = std::make_shared<Node>(*node);
    const auto* row = fabric.decided.routes->find(node->guid());
    ASSERT_NE(row, nullptr);
    copy->lft = {.row = *row, .known = BlockSet::first(1024), .asked = {}};
    if (first == nullptr) {
      auto held = std::make_shared<routing::LftRow>(**row);
      held->at(2) = 77;
      copy->lft.row = held;
      first = copy;
    }
    node = copy;
  }
  const auto dumped = [&] {
    const DumpView view(fabric.subnet, fabric.decided, {}, Marks::not_written);
    return test::written(
        [&](Out& out) { parse_dump_list("opensm-lfts.dump", "")->front()->write(out, view); });
  };

  const auto text = dumped();
  const auto mark = text.find(" (the switch has 077)\n");
  ASSERT_NE(mark, std::string::npos);
  EXPECT_EQ(text.rfind("\n0x0002 ", mark), text.rfind('\n', mark));
  EXPECT_EQ(text.find(" (the switch has", mark + 1), std::string::npos);
  EXPECT_EQ(text.find(" (not known"), std::string::npos);
  auto plain = text;
  plain.erase(mark, std::string(" (the switch has 077)").size());
  EXPECT_EQ(plain, text_of("opensm-lfts.dump", fabric));

  first->lft.known = {};
  EXPECT_THAT(dumped(), HasSubstr(" (not known of the switch)\n"));
}

/// As opensm 3.3.23 writes it: switches with entries only.
TEST(Dump, OfMulticastTablesHasTheSwitchesWithEntries) {
  auto fabric = test::settle_spec("ft2:4");
  EXPECT_EQ(text_of("opensm.mcfdbs", fabric), "");
  routing::McRow row;
  row.set(0, routing::PortMask(0b1010));
  row.set(0x1F, routing::PortMask(1));
  Guid with_entries;
  for (auto& node : fabric.subnet.nodes) {
    if (!node->is_switch()) continue;
    auto copy = std::make_shared<Node>(*node);
    copy->mft.row = std::make_shared<const routing::McRow>(row);
    with_entries = node->guid();
    node = copy;
    break;
  }
  fabric.decided.multicast = nullptr;  // else what was decided counts, not what the switch holds

  const auto text = text_of("opensm.mcfdbs", fabric);

  EXPECT_EQ(text, fmt::format("\nSwitch {}\nLID    : Out Port(s)\n0xC000 : 0x001  0x003 \n0xC01F : 0x000 \n",
                              with_entries));
  const DumpView view(fabric.subnet, fabric.decided);
  EXPECT_EQ(parse_dump_list("opensm.mcfdbs", "")->front()->size(view), text.size());
}

TEST(Dump, NeverGrowsBeyondItsEstimate) {
  for (const auto* spec : {"ft2:4", "ft3:4", "torus:3x3:1"}) {
    const auto fabric = test::settle_spec(spec);
    const DumpView view(fabric.subnet, fabric.decided);
    for (const auto& format : dump_formats()) {
      const auto size = text_of(format, fabric).size();
      EXPECT_LE(size, format.size(view)) << spec << " " << format.name;
      EXPECT_GE(size * 3, format.size(view)) << spec << " " << format.name;
    }
  }
}

TEST(Dump, OfForwardingTablesIsReadBackInBothFormats) {
  const auto fabric = test::settle_spec("ft2:8");

  const auto lfts = read_lfts(text_of("opensm-lfts.dump", fabric), "lfts");
  const auto fdbs = read_lfts(text_of("opensm.fdbs", fabric), "fdbs");

  ASSERT_TRUE(lfts);
  ASSERT_TRUE(fdbs);
  const auto top = fabric.decided.lids->top.value();
  for (const auto& row : fabric.decided.routes->rows) {
    for (std::uint16_t lid = 1; lid <= top; ++lid) {
      const auto wanted = routing::entry(row.row.get(), Lid{lid});
      ASSERT_EQ(routing::entry(lfts->rows.at(row.node).get(), Lid{lid}), wanted);
      ASSERT_EQ(routing::entry(fdbs->rows.at(row.node).get(), Lid{lid}), wanted);
    }
  }
  for (const auto& entry : fabric.decided.lids->entries) EXPECT_EQ(lfts->owners.at(entry.base), entry.port);
}

TEST(Dump, OfTheTopologyIsReadBackToTheSameBytes) {
  for (const auto* spec : {"ft3:4", "torus:4x4:2", "dragonfly:4:2:2", "rails:4:2:4:2"}) {
    const auto once = text_of("topology.net", test::settle_spec(spec));
    const auto again = text_of("topology.net", test::settle_text(once));
    EXPECT_EQ(once, again) << spec;
  }
  const auto once = text_of("topology.net", test::settle_text(test::kOddFabric));
  EXPECT_EQ(once, text_of("topology.net", test::settle_text(once)));
}

TEST(Dump, SaysWhichPathsAreNotTheShortest) {
  auto fabric = test::settle_text(test::kOddFabric);
  auto part = std::make_shared<RoutePart>(*fabric.decided.routes);
  for (auto& row : part->rows) {  // sw A sends LID 2 (sw B) through sw C, and LID 1 into a host
    if (row.node != Guid{0xb8599f0300aaaa00}) continue;
    auto changed = *row.row;
    changed[2] = 7;
    changed[1] = 3;
    changed[4] = routing::kNoRoute;
    row.row = std::make_shared<const routing::LftRow>(changed);
  }
  fabric.decided.routes = part;

  const auto text = text_of("opensm.fdbs", fabric);
  const auto begin = text.find("Switch 0xb8599f0300aaaa00");
  const auto sw_a = text.substr(begin, text.find("dump_ucast", begin) - begin);

  EXPECT_THAT(sw_a, HasSubstr("0x0001 : 003  : HOPS UNKNOWN\n"));
  EXPECT_THAT(sw_a, HasSubstr("0x0002 : 007  : 02   : No 1 hop path possible via port 1!\n"));
  EXPECT_THAT(sw_a, HasSubstr("0x0004 : UNREACHABLE\n"));
  EXPECT_THAT(sw_a, HasSubstr("0x0008 : UNREACHABLE\n"));
}

TEST(Dump, KeepsLinesWholeWhateverANodeIsCalled) {
  auto fabric = test::settle_text(test::kOddFabric);
  for (auto& node : fabric.subnet.nodes) {
    auto renamed = std::make_shared<Node>(*node);
    renamed->description = "a\nb\x1b[2J{}\xff" + std::string(30, '}');
    node = renamed;
  }
  const auto lines = [](std::string_view text) { return std::ranges::count(text, '\n'); };
  const auto plain = test::settle_text(test::kOddFabric);
  for (const auto& format : dump_formats()) {
    const auto text = text_of(format, fabric);
    EXPECT_EQ(lines(text), lines(text_of(format, plain))) << format.name;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << format.name;
  }
}

TEST(DumpList, NamesWhatIsAllowed) {
  const auto list = parse_dump_list("guid2lid,opensm.fdbs,guid2lid", "--dump");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->size(), 2);

  EXPECT_EQ(parse_dump_list("guid2lid,lfts", "--dump").error(),
            "--dump \"lfts\": not a dump (opensm-subnet.lst, opensm.fdbs, opensm.mcfdbs, opensm-lfts.dump, "
            "guid2lid, "
            "topology.net, opensm-lid-matrix.dump, opensm-sl2vl.dump, path-sl.txt, sl2vl.txt)");
  EXPECT_FALSE(parse_dump_list("", "--dump"));
  EXPECT_FALSE(parse_dump_list("guid2lid,", "--dump"));
}

class DumpFolder : public ::testing::Test {
 protected:
  DumpFolder() {
    folder_ = std::filesystem::temp_directory_path() / ("smd-dump-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
  }
  ~DumpFolder() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(DumpFolder, IsMadeAndHoldsTheDefaultDumpsAndNothingElse) {
  const auto fabric = test::settle_spec("ft2:4");
  const DumpView view(fabric.subnet, fabric.decided);

  ASSERT_TRUE(write_dumps(folder_ / "deep", default_dumps(), view, routing::Serial()));

  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "deep"))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("opensm-subnet.lst", "opensm.fdbs", "opensm.mcfdbs",
                                                     "opensm-lfts.dump", "guid2lid", "topology.net"));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "deep" / "opensm.mcfdbs"), 0);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "deep" / "opensm.fdbs"),
            text_of("opensm.fdbs", fabric).size());
}

TEST_F(DumpFolder, ThatCannotBeWrittenIsNamed) {
  const auto fabric = test::settle_spec("ft2:4");
  const DumpView view(fabric.subnet, fabric.decided);
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  std::filesystem::create_directories(folder_ / "opensm.fdbs" / "x");

  EXPECT_THAT(write_dumps(folder_ / "file", default_dumps(), view, routing::Serial()).error(),
              StartsWith((folder_ / "file").string() + ": "));
  EXPECT_THAT(write_dumps(folder_, default_dumps(), view, routing::Serial()).error(),
              HasSubstr("opensm.fdbs: "));
}

TEST_F(DumpFolder, ThatIsTooSmallIsRefusedBeforeAnythingIsWritten) {
  const auto fabric = test::settle_spec("ft2:4");
  const DumpView view(fabric.subnet, fabric.decided);
  const DumpFormat huge{.name = "huge.txt", .write = dump_mcfdbs, .size = [](const DumpView&) {
                          return std::uint64_t{1} << 60;
                        }};

  const auto written = write_dumps(folder_, {default_dumps().front(), &huge}, view, routing::Serial());

  ASSERT_FALSE(written);
  EXPECT_THAT(written.error(), HasSubstr("the dumps need 1152921504.6 GB, huge.txt 1152921504.6 GB, and "));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace smd::sm
