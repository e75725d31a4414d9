// SPDX-License-Identifier: Apache-2.0
// `smd route --path-sl --sl2vl`: layers as another SM's files say them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "mad/base/fabric_edit.h"
#include "mad/base/fabric_file.h"
#include "mad/base/fabric_spec.h"
#include "mad/base/sl_files.h"
#include "smd/cli/route.h"

namespace smd::cli {
namespace {

using ::testing::HasSubstr;

class RouteLevels : public ::testing::Test {
 protected:
  RouteLevels() {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("smd-levels-{}", ::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    dump("dfsssp");
  }
  ~RouteLevels() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
    return at(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Tables and levels of `fabric_`.
  void dump(const std::string& engine) {
    RouteOptions made{.topology = fabric_, .engines = {engine}, .dump_dir = folder_.string(), .threads = 1};
    made.vls = vls_;
    made.dump = "path-sl.txt,sl2vl.txt,opensm-lfts.dump,opensm-sl2vl.dump";
    std::ostringstream out;
    EXPECT_EQ(route(made, out, err_), 0) << err_.str();
  }
  /// Has one adapter with two ports for each two hosts of `fabric_` that follow each other.
  void pair_hosts() {
    auto fabric = *base::make_fabric(fabric_);
    base::Removals second;
    std::optional<base::NodeIndex> first;
    for (base::NodeIndex n = 0; n < fabric.nodes.size(); ++n) {
      if (fabric.nodes[n].type != NodeType::ca) continue;
      if (!first) {
        first = n;
        continue;
      }
      auto& port = fabric.nodes[n].ports.at(1);
      ASSERT_TRUE(port.peer);
      fabric.nodes[port.peer->node].ports.at(port.peer->port.value()).peer = {*first, PortNum{2}};
      fabric.nodes[*first].ports.push_back(port);
      fabric.nodes[*first].ports.back().guid = Guid{};
      port.peer.reset();
      second.nodes.push_back(n);
      first.reset();
    }
    fabric_ = file("pairs.net", base::write_fabric(base::without(fabric, second)));
  }
  /// `verify` of the report.
  boost::json::object verify(const std::string& path_sl, const std::string& sl2vl, int status) {
    RouteOptions options{
        .topology = fabric_, .lfts = at("opensm-lfts.dump"), .path_sl = path_sl, .sl2vl = sl2vl};
    options.threads = 1;
    options.json = true;
    std::ostringstream out;
    err_.str("");
    EXPECT_EQ(route(options, out, err_), status) << err_.str();
    if (out.str().empty()) return {};
    return boost::json::parse(out.str()).at("verify").as_object();
  }

  std::string fabric_ = "torus:5x5:1+guids=3";
  std::optional<unsigned> vls_;
  std::filesystem::path folder_;
  std::ostringstream err_;
};

TEST_F(RouteLevels, OwnFilesAreFreeOfCreditLoopsInBothDirections) {
  for (const auto* maps : {"sl2vl.txt", "opensm-sl2vl.dump"}) {
    const auto found = verify(at("path-sl.txt"), at(maps), 0);
    EXPECT_TRUE(found.at("ok").as_bool());
    EXPECT_TRUE(found.at("reverse_ok").as_bool());
    EXPECT_FALSE(found.at("fixed_sl_ok").as_bool());
    EXPECT_GT(found.at("layers").as_int64(), 1);
    EXPECT_EQ(found.at("layers"), found.at("vls"));
    EXPECT_EQ(err_.str(), "");
  }
}

TEST_F(RouteLevels, AnyNumberOfVlsIsDumpedAsItIsProven) {
  for (const unsigned vls : {3U, 8U, 9U, 12U, 15U}) {
    vls_ = vls;
    dump("dfsssp");
    for (const auto* maps : {"sl2vl.txt", "opensm-sl2vl.dump"}) {
      const auto found = verify(at("path-sl.txt"), at(maps), 0);
      EXPECT_TRUE(found.at("reverse_ok").as_bool()) << vls << " VLs, " << maps;
      EXPECT_GT(found.at("vls").as_int64(), 1) << vls << " VLs, " << maps;
    }
  }
}

TEST_F(RouteLevels, AnAdapterOnSeveralSwitchesHasTheSlsOfEachPort) {
  pair_hosts();
  for (const auto* engine : {"dfsssp", "lash"}) {
    dump(engine);

    const auto found = verify(at("path-sl.txt"), at("sl2vl.txt"), 0);

    EXPECT_TRUE(found.at("reverse_ok").as_bool()) << engine;
    EXPECT_EQ(found.at("layers"), found.at("vls")) << engine;
    EXPECT_GT(found.at("layers").as_int64(), 1) << engine;
    EXPECT_EQ(err_.str(), "") << engine;
    const auto paths = base::read_path_sl(read("path-sl.txt"), "x");
    ASSERT_TRUE(paths);
    EXPECT_GT(paths->size(), 13U) << engine << ": a row for each port of some of the 13 adapters";
  }
}

TEST_F(RouteLevels, AnAdapterWhosePortsUseTheSameSlsIsNamedByItsNode) {
  pair_hosts();
  dump("updn");

  const auto paths = base::read_path_sl(read("path-sl.txt"), "x");
  ASSERT_TRUE(paths);
  const auto fabric = base::read_fabric(read("pairs.net"), "x");
  ASSERT_TRUE(fabric);
  std::set<Guid> adapters, sources;
  for (const auto& node : fabric->nodes) {
    if (node.type == NodeType::ca) adapters.insert(node.guid);
  }
  for (const auto& [source, sls] : *paths) sources.insert(source);
  EXPECT_EQ(sources, adapters) << "ibdmchk finds no other GUIDs";
}

TEST_F(RouteLevels, SlsOnOneVlHaveTheCreditLoopsOfOneLayer) {
  const auto found = verify(at("path-sl.txt"), "", 3);
  EXPECT_EQ(found.at("vls").as_int64(), 1);
  EXPECT_GT(found.at("credit_loops").as_int64(), 0);
}

TEST_F(RouteLevels, OneWrongSlIsFound) {
  const auto paths = base::read_path_sl(read("path-sl.txt"), "x");
  ASSERT_TRUE(paths);
  std::string text;
  for (const auto& [source, lids] : *paths) {
    for (std::size_t lid = 1; lid < lids.size(); ++lid) {
      if (lids[lid] != base::kNoSlSaid) text += fmt::format("{} {} 0\n", source, lid);
    }
  }
  const auto found = verify(file("zero.txt", text), at("sl2vl.txt"), 3);
  EXPECT_FALSE(found.at("reverse_ok").as_bool());
}

TEST_F(RouteLevels, PathsThatTheFileDoesNotNameUseSl0AndAreCounted) {
  verify(file("one.txt", read("path-sl.txt").substr(0, read("path-sl.txt").find('\n') + 1)), at("sl2vl.txt"),
         3);
  EXPECT_THAT(err_.str(), HasSubstr("it says no SL of 599 of 600 paths"));
}

TEST_F(RouteLevels, PathsThatSl2VlDropsAreNoPaths) {
  auto maps = read("sl2vl.txt");
  for (auto at = maps.find(" 0x01"); at != std::string::npos; at = maps.find(" 0x01", at)) maps[at + 3] = 'f';
  const auto found = verify(at("path-sl.txt"), file("drops.txt", maps), 3);

  EXPECT_FALSE(found.at("ok").as_bool());
  EXPECT_GT(found.at("host_pairs_unreachable").as_int64(), 0);
  EXPECT_THAT(err_.str(), HasSubstr("which drops packets"));
}

TEST_F(RouteLevels, SwitchesWithoutAMapAreCounted) {
  verify(at("path-sl.txt"), file("one.txt", read("sl2vl.txt").substr(0, read("sl2vl.txt").find('\n') + 1)),
         3);
  EXPECT_THAT(err_.str(), HasSubstr("it has no rows of 24 of 25 switches"));
}

TEST_F(RouteLevels, WrongLinesAreNamed) {
  const struct {
    const char *text, *what;
  } cases[] = {
      {"", "no path in it: lines 'SOURCE-GUID DLID SL' are needed"},
      {"0x1 4 16\n", "w.txt:1: SL \"16\": a number from 0 to 15 is needed"},
      {"0x1 4 1\n0x1 0 1\n", "w.txt:2: DLID \"0\": a number from 1 to 49151 is needed"},
      {"node 4 1\n", "w.txt:1: source \"node\": a GUID is needed"},
      {"0x1 4 1 2\n", "w.txt:1: \"2\" after the SL: nothing more is allowed"},
      {"0x1 4 1\n0x1 4 2\n",
       "w.txt:2: SL 2 for the path from 0x0000000000000001 to LID 4, which had SL 1 before"},
  };
  for (const auto& [text, what] : cases) {
    verify(file("w.txt", text), at("sl2vl.txt"), 2);
    EXPECT_THAT(err_.str(), HasSubstr(what)) << text;
  }
  verify(at("path-sl.txt"), file("m.txt", "0x1 1 2 0x01 0x100\n"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("m.txt:1: VLs \"0x100\": a number from 0 to 255 is needed"));
  verify(at("path-sl.txt"), at("none.txt"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("none.txt: No such file"));
}

}  // namespace
}  // namespace smd::cli
