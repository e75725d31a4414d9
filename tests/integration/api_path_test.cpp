// SPDX-License-Identifier: Apache-2.0
// Paths as the API shows them: SL and P_Key are those of the SA's answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/import/qos_policy_conf.h"
#include "mad/wire/drop_vl.h"
#include "mad/wire/sa/path_record.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/json_schema.h"
#include "tests/support/partition_config.h"
#include "tests/support/sa_lab.h"

namespace smd {
namespace {

namespace json = boost::json;
using PathFound = wire::PathRecord;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t path_component(unsigned number) { return std::uint64_t{1} << number; }

/// A subnet "f" whose SA and API answer from the same sweep.
class PathLab {
 public:
  PathLab(std::string_view fabric, config::SubnetConfig config) : lab_(fabric, std::move(config)) {
    auto policies = std::make_shared<policy::Policies>();
    auto& token = policies->tokens["blue"];
    token.role = access::Role::tenant;
    token.hash = access::hash_of("smd_blue");
    token.partitions = {"blue"};
    auto policy_state = std::make_shared<api::PolicyState>();
    policy_state->config = std::make_shared<const config::SubnetConfig>();
    policy_state->policies = policies;
    snapshot_ = std::make_shared<sm::Snapshot>(lab_.snapshot());
    backend_.add({.name = "f", .port = "p", .snapshot = snapshot_, .policy_state = policy_state});
    document_ = test::api_document();
  }
  json::value ask(const std::string& query, unsigned status = 200, bool tenant = false) {
    api::Request request{.method = "GET", .target = "/v1/subnets/f/path?" + query, .body = {}};
    request.peer = {.local = !tenant, .address = "10.0.0.1", .user = {}};
    if (tenant) request.authorization = "Bearer smd_blue";
    const auto answer = api::answer(request, backend_);
    EXPECT_EQ(answer.status, status) << query << '\n' << answer.body;
    auto value = api::parse_json(answer.body).value_or(json::value());
    const test::Schema schemas(document_);
    EXPECT_THAT(schemas.wrong(value, schemas.named(status == 200 ? "Path" : "Error")), IsEmpty());
    return value;
  }
  std::vector<const sa::EndPort*> ends() const {
    std::vector<const sa::EndPort*> found;
    for (const auto& port : lab_.directory().end_ports()) found.push_back(&port);
    return found;
  }
  /// The SA's answer between two LIDs.
  test::Reply record(const sa::EndPort& from, const sa::EndPort& to, std::uint64_t mask = 0,
                     PathFound asked = {}) const {
    asked.slid = from.lid, asked.dlid = to.lid;
    const auto both = path_component(PathFound::kSlid) | path_component(PathFound::kDlid);
    return test::ask(
        lab_.directory(),
        test::Question{.method = wire::Method::get, .attribute = PathFound::kRecord, .mask = mask | both}
            .with(asked));
  }
  sm::Snapshot& snapshot() { return *snapshot_; }

 private:
  test::SaLab lab_;
  std::shared_ptr<sm::Snapshot> snapshot_;
  test::FakeBackend backend_;
  json::value document_;
};

std::string between(const sa::EndPort& from, const sa::EndPort& to) {
  return fmt::format("src={}&dst={}", from.lid.value(), to.lid.value());
}

/// `path` is what the SA says of the two ports.
void expect_as_record(PathLab& lab, const sa::EndPort& from, const sa::EndPort& to) {
  const auto path = lab.ask(between(from, to));
  const auto reply = lab.record(from, to);
  const auto& way = path.at("forward");
  if (reply.status != 0) {
    EXPECT_EQ(way.at("sl"), nullptr) << path;
    EXPECT_NE(way.at("refused"), nullptr) << path;
    return;
  }
  const auto found = reply.get<PathFound>(0);
  EXPECT_EQ(way.at("sl"), found.sl.value()) << path;
  EXPECT_EQ(way.at("pkey"), json::value(fmt::format("{}", found.pkey))) << path;
  EXPECT_EQ(way.at("refused"), nullptr) << path;
  EXPECT_EQ(way.at("complete"), true) << path;
}

config::SubnetConfig tenants() {
  auto config = test::with_partitions({test::partition("blue", 0x12, {"h00000", "h00001"}, {"h00003"}),
                                       test::partition("red", 0x13, {"h00001", "h00002", "h00000"})});
  config.qos.enabled = true;
  config.partition[0].sl = 2;
  config.partition[1].sl = 3;
  return config;
}

TEST(ApiPath, SlAndPKeyAreThoseOfThePathRecord) {
  PathLab lab("ft2:4", tenants());
  for (const auto* from : lab.ends()) {
    for (const auto* to : lab.ends()) expect_as_record(lab, *from, *to);
  }
}

TEST(ApiPath, TheSlOfALayerIsThatOfThePathRecord) {
  config::SubnetConfig config;
  config.routing.engines = {"dfsssp"};
  config.routing.path_sl = config::PathSl::asked;
  PathLab lab("torus:4x4:1+guids=7", config);
  std::set<std::int64_t> sls, vls;
  for (const auto* from : lab.ends()) {
    for (const auto* to : lab.ends()) {
      expect_as_record(lab, *from, *to);
      const auto path = lab.ask(between(*from, *to));
      sls.insert(path.at("forward").at("sl").as_int64());
      for (const auto& hop : path.at("forward").at("hops").as_array()) {
        EXPECT_EQ(hop.at("sl"), path.at("forward").at("sl"));
        if (hop.at("vl").is_int64()) vls.insert(hop.at("vl").as_int64());
      }
    }
  }
  EXPECT_GT(sls.size(), 1U) << "paths in several layers";
  EXPECT_GT(vls.size(), 1U) << "each with a VL of its own";
}

/// Both directions between all ends, without the ends themselves.
std::vector<std::string> all_ways(PathLab& lab) {
  std::vector<std::string> ways;
  for (const auto* from : lab.ends()) {
    for (const auto* to : lab.ends()) {
      const auto path = lab.ask(between(*from, *to));
      ways.push_back(json::serialize(path.at("forward")) + json::serialize(path.at("back")));
    }
  }
  return ways;
}

/// As a node of which no SL to VL table was read.
void forget_vl_tables(sm::Snapshot& now) {
  auto subnet = std::make_shared<sm::Subnet>(*now.subnet);
  for (auto& node : subnet->nodes) {
    auto other = std::make_shared<sm::Node>(*node);
    for (auto& port : other->ports) port.held<wire::SlToVl>() = nullptr;
    node = std::move(other);
  }
  now.subnet = std::move(subnet);
}

/// It reads none: it has decided those that the master has written.
TEST(ApiPath, AStandbyShowsTheVlsThatTheMasterDoes) {
  config::SubnetConfig torus;
  torus.routing.engines = {"torus-2QoS"};
  torus.routing.path_sl = config::PathSl::asked;
  for (const auto& [fabric, config] :
       {std::pair{"ft2:4", tenants()}, std::pair{"torus:4x4:1+guids=7", torus}}) {
    PathLab lab(fabric, config);
    ASSERT_EQ(lab.snapshot().state, wire::SmState::master);
    const auto master = all_ways(lab);
    forget_vl_tables(lab.snapshot());
    EXPECT_NE(all_ways(lab), master) << fabric << ": the master shows what it has read";
    lab.snapshot().state = wire::SmState::standby;
    EXPECT_EQ(all_ways(lab), master) << fabric;
  }
}

TEST(ApiPath, AnSlOrPKeyThatTheSaDoesNotGrantIsRefusedWithTheReason) {
  PathLab lab("ft2:4", tenants());
  EXPECT_EQ(lab.ask("src=h00000&dst=h00001&pkey=0x8012").at("forward").at("sl"), 2);
  EXPECT_EQ(lab.ask("src=h00000&dst=h00001&pkey=0x8013").at("back").at("sl"), 3);
  EXPECT_EQ(lab.ask("src=h00000&dst=h00001&sl=7").at("forward").at("sl"), 7)
      << "OpenSM's rule without levels";
  const auto other = lab.ask("src=h00002&dst=h00003&pkey=0x8012", 409);
  EXPECT_EQ(other.at("code"), "no_such_path");
  EXPECT_THAT(std::string(other.at("detail").as_string()), HasSubstr("do not share P_Key 0x8012"));
  for (const auto* bad : {"src=h00000&dst=h00001&sl=16", "src=h00000&dst=h00001&sl=x",
                          "src=h00000&dst=h00001&pkey=0x8000", "src=h00000&dst=h00001&pkey=x"})
    lab.ask(bad, 400);
}

TEST(ApiPath, PortsWithoutACommonPartitionAreShownWithTheirPKeys) {
  auto config = tenants();
  config.partition.push_back(test::partition("Default", 0x7fff, {}, {"ALL"}));
  PathLab lab("ft2:4", config);
  const auto path = lab.ask("src=h00002&dst=h00003");
  const std::string refused(path.at("forward").at("refused").as_string());
  EXPECT_THAT(refused, HasSubstr("P_Keys 0x7fff 0x8013, and 0x7fff 0x0012")) << refused;
}

/// Each of the 2^LMC LIDs of a port is a name of it, and the end of a path of its own.
TEST(ApiPath, EachLidOfAPortIsAnEnd) {
  config::SubnetConfig config;
  config.lids.lmc = 2;
  PathLab lab("ft2:4", config);
  const auto base = [&](const char* host) {
    return lab.ask(fmt::format("src={0}&dst={0}", host)).at("to").at("lid");
  };
  const auto from = base("h00000").as_int64(), to = base("h00003").as_int64();
  std::set<std::string> ways;
  for (int i = 0; i < 4; ++i) {
    const auto path = lab.ask(fmt::format("src={}&dst={}", from + 3, to + i));
    EXPECT_EQ(path.at("from").at("name"), "h00000");
    EXPECT_EQ(path.at("from").at("lid"), from + 3);
    EXPECT_EQ(path.at("to").at("name"), "h00003");
    EXPECT_EQ(path.at("to").at("lid"), to + i);
    ways.insert(json::serialize(path.at("forward").at("hops")));
  }
  EXPECT_GT(ways.size(), 1U) << "routes of their own";
  EXPECT_EQ(lab.ask(fmt::format("src={}&dst={}", from, to)).at("to").at("name"), "h00003");
}

TEST(ApiPath, TheLevelOfThePolicyRefusesAnotherSl) {
  config::SubnetConfig config;
  config.qos.enabled = true;
  config.qos.policy_file = "q.conf";
  config.qos.conf = *config::read_qos_policy_conf(
      "qos-levels\nqos-level\nname: DEFAULT\nsl: 1\nend-qos-level\nend-qos-levels\n", "q.conf");
  PathLab lab("ft2:4", config);
  const auto sl = lab.ask("src=h00000&dst=h00001").at("forward").at("sl").as_int64();
  lab.ask(fmt::format("src=h00000&dst=h00001&sl={}", sl));
  const auto refused = lab.ask(fmt::format("src=h00000&dst=h00001&sl={}", (sl + 9) % 16), 409);
  EXPECT_THAT(std::string(refused.at("detail").as_string()), HasSubstr(fmt::format("have SL {}, not", sl)));
}

TEST(ApiPath, APacketOnVl15DoesNotArrive) {
  PathLab lab("ft2:4", tenants());
  EXPECT_EQ(lab.ask("src=h00000&dst=h00001").at("forward").at("complete"), true);
  auto& now = lab.snapshot();
  auto subnet = std::make_shared<sm::Subnet>(*now.subnet);
  for (auto& node : subnet->nodes) {
    if (node->description != "h00000") continue;
    auto host = std::make_shared<sm::Node>(*node);
    auto held = std::make_shared<sm::HeldBlocks<wire::SlToVl>>();
    held->row.resize(1);
    held->row[0].vls.fill(wire::kDropVl);
    held->known.set(0);
    host->ports[1].held<wire::SlToVl>() = held;
    node = host;
  }
  now.subnet = subnet;
  const auto path = lab.ask("src=h00000&dst=h00001");
  EXPECT_EQ(path.at("forward").at("complete"), false);
  EXPECT_EQ(path.at("forward").at("vl"), 15);
  EXPECT_THAT(std::string(path.at("forward").at("reason").as_string()), HasSubstr("h00000 drops packets"));
  EXPECT_EQ(path.at("back").at("complete"), true);
}

TEST(ApiPath, ATenantSeesPathsBetweenItsMembers) {
  PathLab lab("ft2:4", tenants());
  const auto path = lab.ask("src=h00000&dst=h00001", 200, true);
  EXPECT_EQ(path.at("forward").at("pkey"), "0x8012") << path;
  EXPECT_EQ(path.at("forward").at("sl"), 2) << "of its own partition, and not of red";
  EXPECT_EQ(path.at("forward").at("complete"), true);
  for (const auto* way : {"forward", "back"}) {
    for (const auto& hop : path.at(way).at("hops").as_array()) {
      EXPECT_EQ(hop.at("guid"), nullptr) << "switches are not its own";
      EXPECT_EQ(hop.at("name"), nullptr);
      EXPECT_EQ(hop.at("sl"), 2);
    }
  }
  lab.ask("src=h00000&dst=h00003", 200, true);
  for (const auto* other : {"h00002", "leaf000", "none", "h00000:2"}) {
    const auto refused = lab.ask(fmt::format("src=h00000&dst={}", other), 404, true);
    EXPECT_EQ(refused.at("code"), "no_such_node") << "as one that is not there: " << refused;
    lab.ask(fmt::format("src={}&dst=h00000", other), 404, true);
  }
  const auto& subnet = *lab.snapshot().subnet;
  for (const auto& node : subnet.nodes) {
    const bool own =
        node->description == "h00000" || node->description == "h00001" || node->description == "h00003";
    lab.ask(fmt::format("src=h00000&dst={}", node->guid()), own ? 200 : 404, true);
  }
  lab.ask("src=h00000&dst=h00001&pkey=0x8013", 404, true);
  lab.ask("src=h00000&dst=h00001&pkey=0x8444", 404, true);
}

}  // namespace
}  // namespace smd
