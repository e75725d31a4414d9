// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "mad/base/fabric_edit.h"
#include "mad/base/fabric_file.h"
#include "mad/base/fabric_spec.h"

namespace smd::cli {
namespace {

using ::testing::HasSubstr;

class Route : public ::testing::Test {
 protected:
  Route() {
    folder_ = std::filesystem::temp_directory_path() / ("smd-route-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    options_.threads = 1;
  }
  ~Route() override { std::filesystem::remove_all(folder_); }

  int run() {
    std::ostringstream out, err;
    const auto status = route(options_, out, err);
    out_ = out.str();
    err_ = err.str();
    return status;
  }
  boost::json::value json() {
    options_.json = true;
    EXPECT_EQ(run(), 0) << err_;
    return boost::json::parse(out_);
  }
  std::string file(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_;
  RouteOptions options_;
  std::string out_, err_;
};

TEST_F(Route, ReportsAFabricFromASpec) {
  options_.topology = "ft2:8";
  options_.quality = true;

  const auto report = json();

  EXPECT_EQ(report.at("fabric").as_string(), "ft2:8");
  EXPECT_EQ(report.at("switches").as_int64(), 12);
  EXPECT_EQ(report.at("hosts").as_int64(), 32);
  EXPECT_EQ(report.at("lids").as_int64(), 44);
  EXPECT_EQ(report.at("links").as_int64(), 64);
  EXPECT_EQ(report.at("threads").as_int64(), 1);
  EXPECT_EQ(report.at("engine").as_string(), "dmodc");
  EXPECT_TRUE(report.at("verify").at("ok").as_bool());
  EXPECT_EQ(report.at("quality").at("max_link_paths").as_int64(), 28);
  EXPECT_EQ(report.at("quality").at("levels").at(0).at("oversubscription").to_number<double>(), 1);
  EXPECT_EQ(report.at("quality").at("hottest").as_array().size(), 10U);
  EXPECT_TRUE(report.at("changed").is_null());
  EXPECT_GT(report.at("peak_rss_kb").as_int64(), 0);
  EXPECT_EQ(err_, "");
}

TEST_F(Route, TakesTheEnginesOfTheCommandLine) {
  options_.topology = "ft2:8";
  options_.engines = {"minhop"};

  EXPECT_EQ(json().at("engine").as_string(), "minhop");
}

TEST_F(Route, FallsBackLoudlyFromAnEngineWithCreditLoops) {
  options_.topology = "torus:5x5:1";
  options_.engines = {"minhop"};

  const auto report = json();

  EXPECT_EQ(report.at("engine").as_string(), "updn");
  EXPECT_THAT(std::string(report.at("fell_back_from").at(0).as_string()), HasSubstr("minhop: "));
}

TEST_F(Route, MeasuresItsOwnDumpsAsItMeasuredTheTables) {
  options_.topology = "ft2:8";
  options_.quality = true;
  options_.dump_dir = folder_.string();
  const auto computed = json();

  for (const auto* name : {"opensm-lfts.dump", "opensm.fdbs"}) {
    options_ = {
        .topology = "ft2:8", .lfts = (folder_ / name).string(), .quality = true, .json = true, .threads = 1};
    if (name == std::string("opensm.fdbs")) options_.lids = (folder_ / "guid2lid").string();
    const auto read = json();

    EXPECT_EQ(read.at("engine").as_string(), "lfts");
    EXPECT_EQ(read.at("quality"), computed.at("quality")) << name;
    EXPECT_EQ(read.at("verify").at("ok").as_bool(), true);
    EXPECT_TRUE(read.at("ms").at("route").is_null());
    EXPECT_EQ(err_, "");
  }
}

/// Options that measure a dump of this test against a topology.
RouteOptions reading(const std::string& topology, const std::string& lfts) {
  return {.topology = topology, .lfts = lfts, .threads = 1};
}

TEST_F(Route, NamesTheLidsOfADumpThatNoPortHas) {
  options_.topology = "ft2:6";
  options_.dump_dir = folder_.string();
  ASSERT_EQ(run(), 0);
  const auto lfts = (folder_ / "opensm-lfts.dump").string(), fdbs = (folder_ / "opensm.fdbs").string();

  options_ = reading("ft2:6", lfts);
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(err_, testing::Not(HasSubstr("to no port"))) << "all LIDs of a dump of this fabric are known";

  // The same switches by their GUIDs, but only eight hosts: the others' LIDs are foreign, by owner or
  // without.
  auto smaller = *base::make_fabric("ft2:6");
  base::Removals hosts;
  for (base::NodeIndex i = 0; i < smaller.nodes.size(); ++i) {
    if (smaller.nodes[i].name == "h00005" || smaller.nodes[i].name == "h00006") hosts.nodes.push_back(i);
  }
  smaller = base::without(smaller, hosts);
  const auto net = file("smaller.net", base::write_fabric(smaller));
  options_ = reading(net, lfts);
  run();
  EXPECT_THAT(err_, HasSubstr(lfts + ": 2 of its LIDs belong to no port of the topology: 10 "
                                     "(0x0002c900000000f1), 12 (0x0002c90000000101)\n"));
  options_.json = true;
  run();
  EXPECT_THAT(out_, HasSubstr("\"" + lfts + ": 2 of its LIDs belong to no port of the topology: 10 "));

  options_ = reading(net, fdbs);
  options_.lids = (folder_ / "guid2lid").string();
  run();
  EXPECT_THAT(err_, HasSubstr(fdbs + ": 2 of its LIDs belong to no port of the topology: 10, 12\n"));

  options_ = reading("ft2:6", lfts);
  options_.without = file("without", "node h00005\n");
  run();
  EXPECT_THAT(err_, testing::Not(HasSubstr("to no port"))) << "what is taken away is known";
}

TEST_F(Route, WritesTheRankOrderAsOpenSMsFtreeDoes) {
  options_.topology =
      file("uneven.net",
           base::write_fabric(base::without(*base::make_fabric("ft2:4"), {.nodes = {6, 7}, .links = {}})));
  options_.rank_order = "-";
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(std::ranges::count(out_, '\n'), 6) << "a line a host and nothing else: " << out_;
  EXPECT_THAT(out_, testing::ContainsRegex("0x[0-9a-f]{4}\th00002\n"));
  EXPECT_THAT(out_, testing::Not(HasSubstr("DUMMY")));

  options_.rank_order = (folder_ / "order").string();
  options_.engines = {"ftree"};
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("engine    ftree"));
  EXPECT_EQ(std::ranges::count(read("order"), '\n'), 6);

  options_.rank_order = (folder_ / "no" / "order").string();
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(err_, (folder_ / "no" / "order").string() + ": No such file or directory\n");
}

TEST_F(Route, ShiftsInRankOrderDoNotDependOnGuidsOrTheOrderOfTheFile) {
  for (const auto* spec : {"ft2:8", "xgft:2;6,4;1,3;1,2", "ft2:12"}) {
    options_ = {.topology = spec, .quality = true, .threads = 1};
    const auto plain = json();
    options_.topology += "+guids=5";
    const auto shuffled = json();
    EXPECT_EQ(plain.at("quality").at("shift_rank_max"), shuffled.at("quality").at("shift_rank_max")) << spec;
    EXPECT_EQ(plain.at("quality").at("shift_rank_mean"), shuffled.at("quality").at("shift_rank_mean"))
        << spec;
    EXPECT_EQ(shuffled.at("quality").at("shift_rank_max").as_int64(), 1) << spec;
  }
}

TEST_F(Route, MeasuresLoadByRateAgainstTheBoundOfTheLeaves) {
  options_ = {.topology = "ft2:8", .quality = true, .threads = 1};
  const auto even = json();
  EXPECT_EQ(even.at("quality").at("max_link_time").to_number<double>(), 28);
  EXPECT_EQ(even.at("quality").at("leaf_bound").to_number<double>(), 28);
  EXPECT_EQ(even.at("quality").at("of_leaf_bound").to_number<double>(), 1);

  options_.topology = "ft2:8+speeds=EDR,HDR:2";
  const auto mixed = json();
  EXPECT_GT(mixed.at("quality").at("leaf_bound").to_number<double>(), 28);
  EXPECT_GE(mixed.at("quality").at("of_leaf_bound").to_number<double>(), 1);
  EXPECT_GE(mixed.at("quality").at("max_link_time").to_number<double>(),
            mixed.at("quality").at("max_link_paths").to_number<double>());
}

TEST_F(Route, FindsWhatIsWrongWithReadTables) {
  options_.topology = "ft2:4";
  options_.dump_dir = folder_.string();
  ASSERT_EQ(run(), 0);
  auto fdbs = read("opensm.fdbs");
  for (auto at = fdbs.find(" : 003  : "); at != std::string::npos; at = fdbs.find(" : 003  : ", at))
    fdbs.replace(at, 10, " : 004  : ");
  options_ = {.topology = (folder_ / "topology.net").string(), .lfts = file("bad.fdbs", fdbs), .threads = 1};

  EXPECT_EQ(run(), 3);
  EXPECT_THAT(out_, HasSubstr("NOT verified: "));
}

TEST_F(Route, DumpsATopologyThatGivesTheSameDumpsAgain) {
  options_.topology = "ft3:4";
  options_.dump_dir = (folder_ / "a").string();
  ASSERT_EQ(run(), 0);

  options_.topology = (folder_ / "a" / "topology.net").string();
  options_.dump_dir = (folder_ / "b").string();
  ASSERT_EQ(run(), 0);

  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "a")) {
    const auto name = entry.path().filename().string();
    EXPECT_EQ(read("a/" + name), read("b/" + name)) << name;
  }
}

TEST_F(Route, WritesSpeedsThatItDoesNotKnowAsTheFileHasThem) {
  const auto file = folder_ / "fabric.net";
  auto fabric = *base::make_fabric("ft2:4");
  for (auto& node : fabric.nodes) {
    for (auto& port : node.ports) {
      if (port.peer) port.rate = {.width = LinkWidth::x4, .speed = LinkSpeed::unknown, .text = "4xZDR"};
    }
  }
  std::ofstream(file) << base::write_fabric(fabric);
  options_.topology = file.string();
  options_.dump_dir = (folder_ / "dumps").string();
  ASSERT_EQ(run(), 0) << err_;
  const auto written = *base::read_fabric(read("dumps/topology.net"), "topology.net");
  for (const auto& node : written.nodes) {
    for (const auto& port : node.ports) {
      if (port.peer) EXPECT_EQ(port.rate.text, "4xZDR");
    }
  }
}

TEST_F(Route, SaysHowManyEntriesADamageChanges) {
  options_.topology = "ft2:8";
  options_.without = file("without", "# one uplink\nlink leaf000 5\n");

  const auto report = json();

  EXPECT_EQ(report.at("links").as_int64(), 63);
  EXPECT_GT(report.at("changed").at("lft_entries").as_int64(), 0);
  EXPECT_GT(report.at("changed").at("lft_blocks").as_int64(), 0);

  options_.without = file("without", "");
  EXPECT_EQ(json().at("changed").at("lft_entries").as_int64(), 0);
}

TEST_F(Route, GivesPortsTheLidsOfAFile) {
  options_.topology = "ft2:4";
  options_.lids = file("lids", "0x0002c90000000010 500\n");
  options_.dump_dir = folder_.string();
  options_.dump = "guid2lid";

  ASSERT_EQ(run(), 0) << err_;
  EXPECT_THAT(read("guid2lid"), HasSubstr("0x0002c90000000010 0x01f4 0x01f4\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "opensm.fdbs"));
}

TEST_F(Route, RepairsTheTablesOfTheCompleteFabricWithFewerChanges) {
  options_.topology = "ft3:8";
  options_.engines = {"minhop"};
  options_.without = file("without", "link 0x0002c90000000010 8\n");
  options_.reroute = "converge";
  const auto converged = json();

  options_.reroute = "repair";
  const auto repaired = json();

  EXPECT_TRUE(repaired.at("verify").at("ok").as_bool());
  EXPECT_GT(repaired.at("changed").at("lft_entries").as_int64(), 0);
  EXPECT_LE(repaired.at("changed").at("lft_entries").as_int64(),
            converged.at("changed").at("lft_entries").as_int64());
}

TEST_F(Route, TellsWhatIsWrongWithTheCabling) {
  options_.topology = "ft2:8";
  options_.health = true;
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out_, HasSubstr("cabling   nothing wrong found"));

  options_.without = file("without", "link leaf000 5\n");
  options_.json = true;

  EXPECT_EQ(run(), 3);
  EXPECT_THAT(out_, HasSubstr("\"kind\":\"missing\""));
  EXPECT_THAT(out_, HasSubstr("no cable between leaf000 port 5 and spine000 port 1"));

  options_.topology = "torus:4x4:1";
  options_.without.clear();
  EXPECT_THAT(serialize(json().at("notes")), HasSubstr("not a tree: "));
}

TEST_F(Route, DifferencesByDesignAreToldAndAreNoFault) {
  auto fabric = *base::make_fabric("ft2:16");  // leaf000 has half of the uplinks of the others
  base::Removals cut;
  for (std::uint8_t port = 9; port <= 12; ++port) cut.links.push_back({0, PortNum{port}});
  options_.topology = file("design.net", base::write_fabric(base::without(fabric, cut)));
  options_.health = true;

  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out_, HasSubstr("differs: leaf000 has 4 of the 8 cables upwards"));
  EXPECT_THAT(out_, HasSubstr("nothing wrong found"));
  EXPECT_THAT(out_, testing::Not(HasSubstr("bisection is lost")));
  options_.json = true;
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out_, HasSubstr("\"kind\":\"differs\""));
}

TEST_F(Route, AcceptedDeviationsAreLeftOut) {
  options_.topology = "ft2:8";
  options_.health = true;
  options_.without = file("without", "link leaf000 5\nlink leaf003 7\n");
  ASSERT_EQ(run(), 3);

  options_.accepted =
      file("accepted", "# known\nmissing leaf000 5  # a broken cable\n\nmissing \"spine002\"\n");
  EXPECT_EQ(run(), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("2 accepted deviations are left out"));
  EXPECT_EQ(err_, "");

  options_.accepted = file("accepted", "missing leaf000 5\nslow leaf003 7\n");
  EXPECT_EQ(run(), 3) << "of another kind";
  EXPECT_EQ(err_, options_.accepted + ":2: accepts nothing: no such finding\n");

  options_.accepted = file("accepted",
                           "lost leaf000\nmissing\nmissing nowhere 1\nslow leaf000 0\nslow leaf000 1 x\n"
                           "slow leaf000 300\nslow \"leaf000 1\n");
  EXPECT_EQ(run(), 2);
  EXPECT_EQ(err_,
            fmt::format("{0}:1: 'lost': not a kind of finding (missing, extra, swapped, slow, width, rail, "
                        "uneven, differs)\n{0}:2: missing: 'KIND NODE' or 'KIND NODE PORT' is needed\n"
                        "{0}:3: no node has the name 'nowhere'\n"
                        "{0}:4: '0': not a port: a number from 1 to 254\n"
                        "{0}:5: 'x': nothing may follow the port\n"
                        "{0}:6: '300': not a port: a number from 1 to 254\n"
                        "{0}:7: \"leaf000 1: no closing quotation mark\n",
                        options_.accepted));
}

TEST_F(Route, ANameThatSeveralNodesHaveStandsWithTheGuid) {
  auto fabric = *base::make_fabric("ft2:8");
  for (auto& node : fabric.nodes) {
    if (node.name == "leaf000" || node.name == "leaf001") node.name = "MF0;switch:MQM8700/U1";
  }
  options_.topology = file("names.net", base::write_fabric(fabric));
  options_.health = true;
  options_.without = file("without", "link 0x0002c90000000010 5\n");

  EXPECT_EQ(run(), 3);
  EXPECT_THAT(
      out_,
      HasSubstr("no cable between MF0;switch:MQM8700/U1 (0x0002c90000000010) port 5 and spine000 port 1"));
}

TEST_F(Route, TakesTheTablesOfAFile) {
  options_.topology = "ft2:4";
  options_.dump_dir = folder_.string();
  ASSERT_EQ(run(), 0);

  options_ = {
      .topology = "ft2:4",
      .config = file("c.toml", "[routing]\nengines = [\"file\"]\ntables_file = \"opensm-lfts.dump\"\n"),
      .json = true,
      .threads = 1};
  EXPECT_EQ(json().at("engine").as_string(), "file");
}

TEST_F(Route, WritesTheSlsOfRoutesInSeveralLayers) {
  options_.topology = "torus:5:2";
  options_.engines = {"lash"};
  options_.dump_dir = folder_.string();

  const auto report = json();

  EXPECT_EQ(report.at("engine").as_string(), "lash");
  EXPECT_EQ(report.at("verify").at("layers").as_int64(), 2);
  EXPECT_FALSE(report.at("verify").at("fixed_sl_ok").as_bool());
  EXPECT_TRUE(report.at("verify").at("reverse_ok").as_bool());
  EXPECT_THAT(read("path-sl.txt"), HasSubstr(" 1\n"));
  EXPECT_THAT(read("sl2vl.txt"), HasSubstr(" 0x01 0x23 0x45 0x67 0x00 0x00 0x00 0x00\n"));
}

TEST_F(Route, RefusesALayeredEngineThatNeedsMoreVls) {
  options_.topology = "torus:5:2";
  options_.engines = {"dfsssp"};
  options_.vls = 1;

  const auto report = json();

  EXPECT_EQ(report.at("engine").as_string(), "updn");
  EXPECT_EQ(report.at("fell_back_from").as_array().front().as_string(), "dfsssp: needs 2 VLs, and may use 1");
}

TEST_F(Route, RepeatsForTheMedian) {
  options_.topology = "ft2:4";
  options_.repeat = 3;

  const auto report = json();

  EXPECT_LE(report.at("ms").at("route").to_number<double>(),
            report.at("ms_median").at("route").to_number<double>());
}

TEST_F(Route, EndsWithStatus2OnBadInputAndSaysWhere) {
  const auto fails = [&](RouteOptions options) {
    options_ = std::move(options);
    EXPECT_EQ(run(), 2);
    EXPECT_EQ(out_, "");
    return err_;
  };
  const auto name = [&](std::string_view end) { return (folder_ / end).string(); };

  EXPECT_EQ(fails({.topology = name("no.net")}), name("no.net") + ": No such file or directory\n");
  EXPECT_THAT(fails({.topology = "ft3:7"}), HasSubstr("ft3:7: "));
  EXPECT_EQ(
      fails({.topology = "ft2:4", .engines = {"fttree"}}),
      "--engine \"fttree\": not an engine (auto, dmodc, ftree, updn, dnup, minhop, dor, sssp, dfsssp, lash, "
      "nue, torus-2QoS, file)\n");
  EXPECT_EQ(fails({.topology = "ft2:4", .engines = {"updn", "", "minhop"}}),
            "--engine \"\": not an engine (auto, dmodc, ftree, updn, dnup, minhop, dor, sssp, dfsssp, lash, "
            "nue, torus-2QoS, file)\n");
  EXPECT_EQ(fails({.topology = "ft2:4", .engines = {"updn", "", "minhop"}}),
            "--engine \"\": not an engine (auto, dmodc, ftree, updn, dnup, minhop, dor, sssp, dfsssp, lash, "
            "nue, torus-2QoS, file)\n");
  EXPECT_THAT(fails({.topology = "ft2:4", .dump_dir = name("d"), .dump = "x"}),
              HasSubstr("--dump \"x\": not a dump"));
  EXPECT_THAT(fails({.topology = "ft2:4", .config = file("c.toml", "[routing]\nengine = 1\n")}),
              HasSubstr("c.toml:2: "));
  EXPECT_THAT(fails({.topology = "ft2:4", .lids = file("l", "x y\n")}), HasSubstr("l:1: "));
  EXPECT_THAT(fails({.topology = "ft2:4", .lids = file("l", "0x0002c90000000010 4 6\n")}),
              HasSubstr("has LIDs 4 to 6"));
  EXPECT_THAT(fails({.topology = "ft2:4", .without = file("w", "link nowhere 3\n")}), HasSubstr("w:1: "));
  EXPECT_THAT(fails({.topology = "ft2:4", .lfts = file("t", "x\n")}), HasSubstr("t:1: "));
}

TEST(RouteOptionsOnTheCommandLine, AreThoseOfTheContractAndNoOthers) {
  const auto parse = [](std::vector<std::string> arguments) {
    CLI::App app("route");
    RouteOptions options;
    add_route_options(app, options);
    std::ranges::reverse(arguments);
    app.parse(std::move(arguments));
    return options;
  };

  const auto options =
      parse({"--topology", "ft2:8", "--engine", "updn,minhop", "--quality", "--threads", "2", "--json"});
  EXPECT_EQ(options.topology, "ft2:8");
  EXPECT_EQ(options.engines, (std::vector<std::string>{"updn", "minhop"}));
  EXPECT_TRUE(options.quality);
  EXPECT_EQ(options.threads, 2);

  EXPECT_EQ(parse({"--topology", "x", "--engine", "updn,,minhop,"}).engines,
            (std::vector<std::string>{"updn", "", "minhop", ""}));  // refused where names are looked at

  EXPECT_THROW(parse({"--engine", "updn"}), CLI::ParseError);
  EXPECT_THROW(parse({"--topology", "x", "--dump", "guid2lid"}), CLI::ParseError);
  EXPECT_THROW(parse({"--topology", "x", "--lfts", "y", "--engine", "updn"}), CLI::ParseError);
  EXPECT_THROW(parse({"--topology", "x", "--threads", "0"}), CLI::ParseError);
  EXPECT_THROW(parse({"--topology", "x", "--repeat", "0"}), CLI::ParseError);
  EXPECT_TRUE(parse({"--topology", "x", "--health"}).health);
  EXPECT_EQ(parse({"--topology", "x", "--rank-order", "-"}).rank_order, "-");
  EXPECT_EQ(parse({"--topology", "x", "--health", "--accepted", "y"}).accepted, "y");
  EXPECT_THROW(parse({"--topology", "x", "--accepted", "y"}), CLI::ParseError);
  EXPECT_THROW(parse({"--topology", "x", "--reroute", "repair"}), CLI::ParseError);
  EXPECT_THROW(parse({"--topology", "x", "--without", "y", "--reroute", "again"}), CLI::ParseError);
  EXPECT_EQ(parse({"--topology", "x", "--without", "y", "--reroute", "repair"}).reroute, "repair");
}

}  // namespace
}  // namespace smd::cli
