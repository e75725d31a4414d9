// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check_qos.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <sstream>

#include "smd/cli/check.h"
#include "smd/report/qos_svg.h"
#include "tests/support/partition_config.h"

namespace smd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

config::ArbitrationList weights(std::vector<std::pair<unsigned, unsigned>> entries) {
  config::ArbitrationList made;
  for (const auto& [vl, weight] : entries)
    made.push_back({Vl{static_cast<std::uint8_t>(vl)}, static_cast<std::uint8_t>(weight)});
  return made;
}

/// Partition green on SL 1, nvmeof on SL 2, all else on SL 0.
class CheckQos : public testing::Test {
 protected:
  CheckQos() {
    config::SubnetConfig subnet;
    subnet.qos.enabled = true;
    subnet.qos.all.vlarb_high = weights({});
    subnet.qos.all.vlarb_low = weights({{0, 64}, {1, 64}, {2, 128}});
    auto green = test::partition("green", 0x20, {"ALL"});
    green.sl = 1;
    subnet.partition = {green};
    config::ConfiguredQosUlp nvmeof;
    nvmeof.name = "nvmeof";
    nvmeof.sl = 2;
    nvmeof.service_id = {{0x1061144, 0x1061144}};
    subnet.qos.ulp = {nvmeof};
    config_.subnets = {subnet};
  }
  config::QosConfig& qos() { return config_.subnets[0].qos; }
  std::string said(QosCheck check = {}) {
    std::ostringstream out;
    print_qos(out, config_, check);
    return out.str();
  }
  config::Config config_;
};

TEST_F(CheckQos, SaysVlShareAndUseOfEachSl) {
  EXPECT_THAT(said(),
              AllOf(HasSubstr("SL 0  VL 0   25.0 %  25 / 50 / 100 / 200 Gb/s"),
                    HasSubstr("SL 1  VL 1   25.0 %"), HasSubstr("partition green"),
                    HasSubstr("SL 2  VL 2   50.0 %"), HasSubstr("nvmeof"), Not(HasSubstr("warning"))));
  EXPECT_THAT(said(), AllOf(HasSubstr("SL 1  NCCL_IB_SL=1 UCX_IB_SL=1; IPoIB on P_Key 0x0020"),
                            HasSubstr("service ID nvmeof 0x1061144")));
}

/// By its name or by its number: IPoIB asks with the P_Key.
TEST_F(CheckQos, IpoibOfAPartitionIsInTheFirstClassThatListsIt) {
  for (const auto* item : {"Default", "0x7fff"}) {
    config::SubnetConfig subnet;
    subnet.qos.enabled = true;
    subnet.qos.traffic_classes = {{.name = "base", .partitions = {item}},
                                  {.name = "ip", .ulps = {"ipoib", "lustre"}}};
    config_.subnets = {subnet};
    EXPECT_THAT(said(), AllOf(HasSubstr("SL 1  NCCL_IB_SL=1 UCX_IB_SL=1; IPoIB on P_Key 0x7fff"),
                              Not(HasSubstr("UCX_IB_SL=2; IPoIB"))))
        << item;
  }
}

TEST_F(CheckQos, NamesPortsThatDiffer) {
  qos().classes[static_cast<std::size_t>(config::PortClass::ca)].vlarb_low =
      weights({{0, 64}, {1, 64}, {2, 0}});
  EXPECT_THAT(said(), AllOf(HasSubstr("adapters (packets of 4096 bytes):\n"),
                            HasSubstr("switches, enhanced ports 0, routers (packets of 4096 bytes):\n"),
                            HasSubstr("warning: VL 2 (SL 2) has no weight: its packets never leave")));
}

TEST_F(CheckQos, WarnsOfSlsThatShareAVl) {
  EXPECT_THAT(said({.asked = true, .vls = 2}),
              AllOf(HasSubstr("warning: SL 0, 2 share VL 0 and delay each other"), HasSubstr("SL 2  VL 0 ")));
  EXPECT_THAT(said({.asked = true, .vls = 1}), HasSubstr("SL 0, 1, 2 share VL 0"));
}

/// A set of ports may have any: ALL_SWITCHES is the ports 0 of switches.
TEST_F(CheckQos, NamesEveryKindOfPortsOfASet) {
  config::QosPorts set;
  set.vlarb_low = weights({{0, 64}, {1, 64}, {2, 64}});
  qos().ports = {set};
  EXPECT_THAT(said(),
              HasSubstr("adapters of [[qos.ports]] 1, switches of [[qos.ports]] 1, enhanced ports 0 of "
                        "[[qos.ports]] 1, routers of [[qos.ports]] 1 (packets of 4096 bytes):\n"));
}

/// docs/configuration.md, [links]: a link uses no more, whatever its ports can.
TEST_F(CheckQos, IsOfTheVlsAndTheMtuThatLinksLeave) {
  auto& links = config_.subnets[0].links;
  links.operational_vls = 2;
  links.mtu = Mtu::m2048;
  EXPECT_THAT(said(), AllOf(HasSubstr("QoS with 2 VLs ([links] operational_vls) and arbitration tables of 8"),
                            HasSubstr("adapters, switches, routers (packets of 2048 bytes):\n"),
                            HasSubstr("enhanced ports 0 (packets of 2048 bytes):\n"),
                            HasSubstr("warning: SL 0, 2 share VL 0 and delay each other")));
  std::ostringstream out;
  print_qos_warnings(out, config_);
  EXPECT_THAT(out.str(), HasSubstr(" with 2 VLs ([links] operational_vls): smd check --qos\n"));
  links.operational_vls = 8;
  EXPECT_THAT(said({.asked = true, .vls = 2}), HasSubstr("QoS with 2 VLs and"));
}

TEST_F(CheckQos, SaysWhatHighPrioritySendsBeforeLow) {
  qos().all.vlarb_high = weights({{2, 64}});
  qos().all.high_limit = 6;
  EXPECT_THAT(said(),
              HasSubstr("high priority (SL 2) sends 24732 bytes before one packet of low priority (SL 0, 1)"))
      << "six packets of 4,122 bytes";
  EXPECT_THAT(said(),
              HasSubstr("warning: high priority (SL 2) has 85.7 % of the link in packets of 4096 bytes "
                        "and 98.9 % in packets of 256: VLHighLimit counts units of 4096 bytes"));
  EXPECT_THAT(said({.asked = true, .mtu = 256}), Not(HasSubstr("VLHighLimit counts")));
  qos().all.high_limit = 0;
  EXPECT_THAT(said(), Not(HasSubstr("VLHighLimit counts"))) << "a packet for a packet, of whatever size";
  qos().all.high_limit = 255;
  EXPECT_THAT(said(),
              AllOf(HasSubstr("nothing of SL 0, 1 is sent while it sends"), Not(HasSubstr("no weight"))));
}

TEST_F(CheckQos, SaysThatAnSlIsDropped) {
  config::SlMap map{};
  map[1] = Vl{15};
  qos().all.sl2vl = map;
  EXPECT_THAT(said(),
              AllOf(HasSubstr("SL 1  dropped (VL 15)"),
                    HasSubstr("warning: SL 1 is in use and mapped to VL 15: its packets are dropped"),
                    HasSubstr("SL 1  is dropped: for no program\n"), Not(HasSubstr("NCCL_IB_SL=1 "))));
}

TEST_F(CheckQos, SaysWhereAShareIsNotTheOneThatWasAskedFor) {
  config::SubnetConfig subnet;
  subnet.qos.enabled = true;
  for (const auto* name : {"a", "b", "c"})
    subnet.qos.traffic_classes.push_back(
        {.name = name, .share = 5, .ulps = {fmt::format("gpfs:{}", 1000 + *name)}});
  config_.subnets = {subnet};
  EXPECT_THAT(
      said({.asked = true, .vls = 8, .entries = 4}),
      HasSubstr("warning: class a has 14.3 % of what low priority sends, asked for are 5.0 %: there are 8 "
                "VLs and 4 entries"));
  EXPECT_THAT(said({.asked = true, .vls = 8, .entries = 64}), Not(HasSubstr("asked for are")));
}

/// Two packets of 4 KiB for one of the others are two thirds, one is a half: there is nothing between.
TEST_F(CheckQos, SaysWhereHighPriorityHasAnotherPartOfTheLinkThanWasAskedFor) {
  const auto said_of = [&](std::uint8_t share) {
    config::SubnetConfig subnet;
    subnet.qos.enabled = true;
    subnet.qos.traffic_classes = {{.name = "x", .share = share, .high_priority = true, .ulps = {"lustre"}}};
    config_.subnets = {subnet};
    return said();
  };
  EXPECT_THAT(said_of(66), HasSubstr("warning: high priority has 50.0 % of the link, asked for are 66 %: "
                                     "VLHighLimit counts units of 4 KiB, one packet at least"));
  EXPECT_THAT(said_of(70), Not(HasSubstr("% of the link, asked for")));
  EXPECT_THAT(said_of(50), Not(HasSubstr("% of the link, asked for")));
  EXPECT_THAT(said({.asked = true, .vls = 1}),
              AllOf(HasSubstr("class x is sent with low priority, asked for is high"),
                    Not(HasSubstr("% of the link, asked for"))))
      << "VLHighLimit is not the cause";
}

TEST_F(CheckQos, SaysWhereAnSlIsDroppedThatOtherPortsSend) {
  config::SlMap map{};
  map[1] = Vl{15};
  qos().classes[static_cast<std::size_t>(config::PortClass::ca)].sl2vl = map;
  EXPECT_THAT(said(), AllOf(HasSubstr("SL 1  NCCL_IB_SL=1 UCX_IB_SL=1; IPoIB on P_Key 0x0020"),
                            HasSubstr("; dropped at adapters\n"), Not(HasSubstr("for no program"))));
}

TEST_F(CheckQos, SaysThatAWeightBelowAPacketSendsOne) {
  EXPECT_THAT(said(), Not(HasSubstr("weights below")));
  qos().all.vlarb_low = weights({{0, 4}, {1, 4}, {2, 4}});
  EXPECT_THAT(said(),
              AllOf(HasSubstr("\n  weights below 64 of VL 0, 1, 2 send a whole packet of 4096 bytes\n"),
                    Not(HasSubstr("warning"))));
  qos().all.vlarb_low = weights({{0, 64}, {1, 1}, {2, 64}});
  EXPECT_THAT(said(),
              HasSubstr("warning: weights below 64 of VL 1 send a whole packet of 4096 bytes: the shares "
                        "are not those of the weights"));
}

TEST_F(CheckQos, IsNamedWhereItWarnsAndWasNotAskedFor) {
  const auto line = [&] {
    std::ostringstream out;
    print_qos_warnings(out, config_);
    return out.str();
  };
  EXPECT_EQ(line(), "");
  qos().all.vlarb_low = weights({{0, 0}, {1, 0}, {2, 0}});
  EXPECT_THAT(line(), testing::EndsWith(" warnings with 8 VLs: smd check --qos\n"));
  qos().enabled = false;
  EXPECT_EQ(line(), "");
}

TEST_F(CheckQos, SaysThatTablesWithoutAnyWeightAreNotWritten) {
  qos().all.vlarb_low = weights({{0, 0}});
  EXPECT_THAT(said(), HasSubstr("warning: no VL has a weight: these tables are not written"));
}

TEST_F(CheckQos, WarnsOfAWayBackWithAnotherSl) {
  config::ConfiguredQosLevel fast;
  fast.name = "fast";
  fast.sl = 2;
  config::ConfiguredQosRule there;
  there.level = "fast";
  there.source = test::port_terms({"h1"});
  there.destination = test::port_terms({"h2"});
  there.line.value = 7;
  qos().level = {fast};
  qos().rule = {there};
  EXPECT_THAT(said(),
              HasSubstr("warning: smd.toml:7: paths of this rule have SL 2, those back the SL of their "
                        "partition"));
  config_.subnets[0].source.name = "other.toml";
  EXPECT_THAT(said(), HasSubstr("warning: other.toml:7: paths"));
  auto back = there;
  std::swap(back.source, back.destination);
  qos().rule.push_back(back);
  EXPECT_THAT(said(), Not(HasSubstr("those back")));
}

TEST_F(CheckQos, WarnsOfAProtocolWhoseWayBackHasAnotherSl) {
  config::ConfiguredQosUlp srp;
  srp.name = "srp";
  srp.sl = 2;
  srp.target = test::port_terms({"disk*"});
  srp.line.value = 9;
  qos().ulp = {srp};
  EXPECT_THAT(said(),
              HasSubstr("warning: smd.toml:9: paths of this protocol have SL 2, those back the SL of their "
                        "partition"));
  auto back = srp;
  back.name = "any";
  std::swap(back.target, back.source);
  qos().ulp.push_back(back);
  EXPECT_THAT(said(), Not(HasSubstr("those back")));
  back.sl = 1;
  qos().ulp.back() = back;
  EXPECT_THAT(said(), AllOf(HasSubstr("SL 2, those back SL 1"), HasSubstr("SL 1, those back SL 2")));
  qos().ulp = {srp};
  qos().ulp[0].target.clear();
  qos().ulp[0].source_target = srp.target;
  qos().ulp[0].name = "any";
  EXPECT_THAT(said(), Not(HasSubstr("those back"))) << "both ends";
}

TEST_F(CheckQos, NamesThePKeysOfIpoibAtTheSlThatItsPathsHave) {
  config::ConfiguredQosUlp ipoib;
  ipoib.name = "ipoib";
  ipoib.sl = 5;
  qos().ulp.push_back(ipoib);
  EXPECT_THAT(said(), AllOf(HasSubstr("SL 5  NCCL_IB_SL=5 UCX_IB_SL=5; IPoIB on P_Key 0x7fff"),
                            HasSubstr("SL 0  NCCL_IB_SL=0 UCX_IB_SL=0\n"),
                            HasSubstr("SL 1  NCCL_IB_SL=1 UCX_IB_SL=1; IPoIB on P_Key 0x0020")));
  config::ConfiguredQosUlp otherwise;
  otherwise.name = "default";
  qos().ulp = {otherwise};
  EXPECT_THAT(said(), AllOf(HasSubstr("SL 0  NCCL_IB_SL=0 UCX_IB_SL=0; IPoIB on P_Key 0x0020, 0x7fff"),
                            HasSubstr("groups of partition green")))
      << "the default overrides the partition's SL";
}

TEST_F(CheckQos, ARuleOfAllPathsDecidesTheSlOfIpoibToo) {
  config::ConfiguredQosLevel fast;
  fast.name = "fast";
  fast.sl = 2;
  config::ConfiguredQosRule all;
  all.level = "fast";
  qos().level = {fast};
  qos().rule = {all};
  EXPECT_THAT(said(), HasSubstr("SL 2  NCCL_IB_SL=2 UCX_IB_SL=2; IPoIB on P_Key 0x0020, 0x7fff"));
}

TEST_F(CheckQos, NamesNoLevelThatNoRuleHasAndTheQosClassesOfRules) {
  config::ConfiguredQosLevel unused, seven;
  unused.name = "unused";
  unused.sl = 6;
  seven.name = "seven";
  seven.sl = 7;
  config::ConfiguredQosRule rule;
  rule.level = "seven";
  rule.qos_class = {{10, 12}};
  qos().level = {unused, seven};
  qos().rule = {rule};
  EXPECT_THAT(said(), AllOf(HasSubstr("with QoS class 10-12"), Not(HasSubstr("SL 6 "))));
}

/// The level comes first, and no path has the SL of the protocols' default.
TEST_F(CheckQos, NamesNoDefaultOfTheProtocolsBesideALevelDefault) {
  config::ConfiguredQosUlp otherwise;
  otherwise.name = "default";
  otherwise.sl = 5;
  qos().ulp = {otherwise};
  EXPECT_THAT(said(), HasSubstr("SL 5 "));
  config::ConfiguredQosLevel level;
  level.name = "Default";
  level.sl = 2;
  qos().level = {level};
  EXPECT_THAT(said(), AllOf(HasSubstr("SL 2 "), Not(HasSubstr("SL 5 "))));
}

TEST_F(CheckQos, WithSlsOfLayersProgramsAreToldThatOnlyPathRecordsMayHoldThem) {
  config_.subnets[0].routing.path_sl = config::PathSl::asked;
  EXPECT_THAT(said(), HasSubstr("NCCL_IB_SL=1 UCX_IB_SL=1 with one layer, else only by PathRecord"));
}

TEST_F(CheckQos, NamesClassesAndWhatHasThem) {
  config::SubnetConfig subnet;
  subnet.qos.enabled = true;
  subnet.qos.traffic_classes = {{.name = "storage", .share = 40, .ulps = {"nvmeof"}},
                                {.name = "guard", .high_priority = true, .ulps = {"sm"}}};
  subnet.partition = {test::partition("green", 0x20, {"ALL"})};
  subnet.partition[0].qos_class = "storage";
  config_.subnets = {subnet};
  EXPECT_THAT(said(),
              AllOf(HasSubstr("adapters, switches, enhanced ports 0, routers (packets of 4096 bytes):\n"),
                    HasSubstr("SL 0  VL 0   30.0 %"), HasSubstr("class default (all else)"),
                    HasSubstr("SL 1  VL 1   20.0 %"), HasSubstr("partition green, class storage"),
                    HasSubstr("SL 2  VL 2   50.0 %"), HasSubstr("the SM, class guard (high priority)"),
                    HasSubstr("by PathRecord: service ID 0x1061144"), Not(HasSubstr("warning"))));
  EXPECT_THAT(said({.asked = true, .vls = 2}), HasSubstr("warning: SL 0, 2 share VL 0 and delay each other"));
  EXPECT_THAT(said({.asked = true, .vls = 1}),
              AllOf(HasSubstr("class guard is sent with low priority, asked for is high: it shares VL 0 with "
                              "other classes; there is 1 VL and"),
                    HasSubstr("SLs that share a VL are shown with equal parts of it"),
                    Not(HasSubstr(" of what low priority sends, asked for"))))
      << "no weight divides the VL";
}

/// What each of two classes on a VL gets depends on the packets that come in.
TEST_F(CheckQos, SaysNoPartOfAVlThatClassesShare) {
  config::SubnetConfig subnet;
  subnet.qos.enabled = true;
  subnet.qos.traffic_classes = {{.name = "storage", .share = 40, .ulps = {"nvmeof"}},
                                {.name = "guard", .high_priority = true, .ulps = {"sm"}}};
  config_.subnets = {subnet};
  EXPECT_THAT(said({.asked = true, .vls = 2}),
              AllOf(HasSubstr("class guard is sent with low priority"),
                    HasSubstr("SLs that share a VL are shown with equal parts of it"),
                    Not(HasSubstr(" of what low priority sends, asked for"))));
  subnet.qos.traffic_classes = {{.name = "a", .share = 1, .ulps = {"nvmeof"}},
                                {.name = "b", .share = 1, .ulps = {"lustre"}}};
  config_.subnets = {subnet};
  EXPECT_THAT(said({.asked = true, .vls = 2, .entries = 2}),
              HasSubstr("class a has 20.0 % of what low priority sends, asked for are 1.0 %"))
      << "its VL is its own";
}

TEST_F(CheckQos, DrawsSharesAsAPicture) {
  config_.subnets[0].partition[0].name = "a<b";
  std::ostringstream out;
  sm::write_qos_svg(out, explain_config(config_.subnets[0], {}));
  EXPECT_THAT(out.str(),
              AllOf(testing::StartsWith("<svg "), testing::EndsWith("</svg>\n"), HasSubstr("VL 2 50 %"),
                    HasSubstr("SL 1: partition a&lt;b"), Not(HasSubstr("a<b"))));
}

/// A second subnet with QoS, and a third one without.
config::Config several_of(config::SubnetConfig subnet) {
  config::Config config;
  config.subnets.clear();  // the one of a file that names none
  for (const auto* name : {"east", "west", "lab"}) {
    subnet.name = name;
    subnet.qos.enabled = std::string_view(name) != "lab";
    config.subnets.push_back(subnet);
  }
  return config;
}

TEST_F(CheckQos, APictureIsOfOneSubnetAndNamesIt) {
  EXPECT_EQ(qos_hindrance(config_, {.svg = "q.svg"}), std::nullopt);
  config_ = several_of(config_.subnets[0]);

  EXPECT_EQ(qos_hindrance(config_, {}), std::nullopt);
  EXPECT_EQ(qos_hindrance(config_, {.svg = "q.svg", .subnet = "west"}), std::nullopt);
  EXPECT_EQ(qos_hindrance(config_, {.svg = "q.svg"}),
            "--svg draws one subnet, and several have QoS: choose one with --subnet: east, west");
  std::ostringstream out;
  sm::write_qos_svg(out, explain_config(config_.subnets[1], {}), "west");
  EXPECT_THAT(out.str(), HasSubstr(">Subnet west: shares of a link while all classes send: adapters, "));
  config_.subnets[0].qos.enabled = false;
  EXPECT_EQ(qos_hindrance(config_, {.svg = "q.svg"}), std::nullopt) << "one has QoS";
}

TEST_F(CheckQos, OneOfSeveralSubnetsCanBeChosen) {
  config_ = several_of(config_.subnets[0]);

  EXPECT_THAT(said(),
              AllOf(HasSubstr("subnet east\n"), HasSubstr("subnet west\n"), HasSubstr("subnet lab\n")));
  EXPECT_THAT(said({.subnet = "west"}), AllOf(testing::StartsWith("subnet west\n"), Not(HasSubstr("east"))));
  EXPECT_EQ(qos_hindrance(config_, {.subnet = "wets"}), "--subnet: found \"wets\", allowed: east, west, lab");
}

TEST_F(CheckQos, ForScriptsEachSubnetIsALineOfWhatTheApiGives) {
  config_ = several_of(config_.subnets[0]);
  std::ostringstream out;
  print_qos_json(out, config_, {.vls = 2, .subnet = "west"});
  print_qos_json(out, config_, {.subnet = "lab"});

  std::istringstream lines(out.str());
  std::string west, lab, more;
  ASSERT_TRUE(std::getline(lines, west) && std::getline(lines, lab));
  EXPECT_FALSE(std::getline(lines, more));
  const auto json = boost::json::parse(west);
  EXPECT_EQ(json.at("subnet"), "west");
  EXPECT_EQ(*sm::qos_explanation_of(json), explain_config(config_.subnets[1], {.vls = 2}));
  EXPECT_EQ(boost::json::parse(lab).at("enabled"), false);
}

TEST(CheckCommand, JsonIsForWhatARunningDaemonOrQosSays) {
  const auto taken = [](const std::string& line) {
    CLI::App app;
    CheckOptions options;
    add_check_command(app, options);
    try {
      app.parse(line);
    } catch (const CLI::ParseError& error) {
      return std::string(error.what());
    }
    return std::string(options.json ? "taken" : "lost");
  };
  EXPECT_EQ(taken("check --qos --json --vls 2 --subnet east"), "taken");
  EXPECT_EQ(taken("check --running --json"), "taken");
  EXPECT_EQ(taken("check --json"), "--json requires --running or --qos");
  EXPECT_THAT(taken("check --qos --json --all"), HasSubstr("excludes"));
  EXPECT_THAT(taken("check --qos --json --host"), HasSubstr("excludes"));
  EXPECT_THAT(taken("check --subnet east"), HasSubstr("requires --qos"));
}

TEST_F(CheckQos, AnAnswerOfAnotherReleaseIsRefused) {
  const auto json = sm::qos_json(explain_config(config_.subnets[0], {}));
  EXPECT_EQ(*sm::qos_explanation_of(json), explain_config(config_.subnets[0], {}));
  auto other = json;
  other.at("kinds").at(0).at("lanes").at(0).as_object()["sl"] = 16;
  EXPECT_FALSE(sm::qos_explanation_of(other));
  EXPECT_FALSE(sm::qos_explanation_of(sm::Json(3)));
}

TEST_F(CheckQos, SaysThatQosIsOff) {
  qos().enabled = false;
  EXPECT_THAT(said(), HasSubstr("QoS is off"));
}

}  // namespace
}  // namespace smd::cli
