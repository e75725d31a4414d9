// SPDX-License-Identifier: Apache-2.0
// Questions about nodes, links, paths, groups, and the metrics, of real sweeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "mad/wire/sa/path_record.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/gunzip.h"
#include "tests/support/json_schema.h"
#include "tests/support/managed_world.h"
#include "tests/support/source_file.h"

namespace smd {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::IsEmpty;

class ApiFabric : public testing::Test {
 protected:
  ApiFabric() {
    auto fabric = test::spec("ft2:8");
    for (auto& node : fabric.nodes) {
      if (node.name == "h00005") node.name = "h00004";  // two of one name
    }
    sim::World world(fabric);
    test::Managed manager(world, {}, test::once());
    world.run(manager->run());
    snapshot_ = std::make_shared<sm::Snapshot>(manager.last());
    backend_.add({.name = "f", .port = "p", .snapshot = snapshot_});
    document_ = test::api_document();
  }
  json::value ask(const std::string& what, std::string_view schema, unsigned status = 200) {
    const auto answer =
        api::answer({.method = "GET", .target = "/v1/subnets/f/" + what, .body = {}}, backend_);
    EXPECT_EQ(answer.status, status) << answer.body;
    auto value = api::parse_json(answer.body).value_or(json::value());
    const test::Schema schemas(document_);
    EXPECT_THAT(schemas.wrong(value, schemas.named(schema)), IsEmpty()) << answer.body;
    return value;
  }
  /// What a daemon has counted.
  void add_activity() {
    const auto counts = std::make_shared<sa::SaCounts>();
    counts->at_receiver.answered(wire::PathRecord::kRecord, wire::Method::get, wire::kStatusOk,
                                 std::chrono::microseconds(5));
    counts->at_server.answered(wire::PathRecord::kRecord, wire::Method::get, wire::kStatusOk,
                               std::chrono::milliseconds(2));
    counts->at_server.answered(0x9999, wire::Method::get, wire::kStatusBadMethodAttribute,
                               std::chrono::seconds(30));
    const auto traps = std::make_shared<sm::TrapCounts>();
    traps->count(128, Guid{0x10});
    traps->count(12'345, Guid{});
    const auto open = std::make_shared<base::Tally>();
    open->set(4);
    sm::Activity activity;
    activity.smps_open = open;
    activity.traps_by = traps;
    activity.sweeps = {.sweeps = 7, .last_ms = {{sm::SweepKind::heavy, 250}}};
    activity.lft_blocks = 12;
    activity.timeouts = std::make_shared<const std::vector<sm::Activity::Timeouts>>(
        std::vector<sm::Activity::Timeouts>{{0x11, 3}, {0x7777, 10}, {0x7778, 20}});
    auto now = std::make_shared<sm::Snapshot>(*snapshot_);
    now->disabled = std::make_shared<const policy::DisabledPorts>(
        policy::DisabledPorts{{{snapshot_->subnet->nodes[0]->guid(), PortNum{1}}, {}}});
    auto view = *backend_.views[0];
    view.snapshot = now;
    view.activity = std::make_shared<const sm::Activity>(activity);
    view.sa_counts = counts;
    backend_.views[0] = std::make_shared<api::SubnetView>(view);
    backend_.reloaded = 5;
    backend_.reloads_refused = 2;
  }
  std::string metrics(const std::string& query = {}) {
    const auto answer = api::answer({.method = "GET", .target = "/metrics" + query, .body = {}}, backend_);
    EXPECT_EQ(answer.status, 200U);
    EXPECT_THAT(answer.type, testing::StartsWith("text/plain; version=0.0.4"));
    return answer.body;
  }

  std::shared_ptr<sm::Snapshot> snapshot_;
  test::FakeBackend backend_;
  json::value document_;
};

TEST_F(ApiFabric, NodesComeInPagesAndByFilter) {
  std::set<std::string> seen;
  std::string cursor;
  do {
    const auto page = ask("nodes?limit=10&cursor=" + cursor, "Nodes");
    EXPECT_LE(page.at("nodes").as_array().size(), 10U);
    for (const auto& node : page.at("nodes").as_array()) {
      EXPECT_TRUE(seen.insert(std::string(node.at("guid").as_string())).second);
    }
    cursor = page.at("next").is_string() ? std::string(page.at("next").as_string()) : "";
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), snapshot_->subnet->nodes.size());
  EXPECT_EQ(ask("nodes?type=switch", "Nodes").at("nodes").as_array().size(), 12U);
  EXPECT_EQ(ask("nodes?match=h0000[1-3]", "Nodes").at("nodes").as_array().size(), 3U);
  for (const auto* bad : {"nodes?type=x", "nodes?limit=0", "nodes?limit=x", "nodes?limit=", "nodes?cursor=x"})
    ask(bad, "Error", 400);
}

TEST_F(ApiFabric, ANodeIsFoundByEachOfItsNames) {
  const auto leaf = ask("nodes/leaf001", "NodeDetail");
  const std::string guid(leaf.at("guid").as_string());
  const auto lid = json::serialize(leaf.at("lid"));
  EXPECT_EQ(leaf.at("port_list").as_array().size(), 8U);
  EXPECT_EQ(ask("nodes/" + guid, "NodeDetail").at("name"), "leaf001");
  EXPECT_EQ(ask("nodes/" + lid, "NodeDetail").at("name"), "leaf001");
  const auto host = ask("nodes/h00001", "NodeDetail");
  const std::string port(host.at("port_list").at(0).at("port_guid").as_string());
  EXPECT_EQ(ask("nodes/" + port, "NodeDetail").at("name"), "h00001");
  ask("nodes/h00004", "Error", 409);
  ask("nodes/none", "Error", 404);
}

TEST_F(ApiFabric, ALinkIsThereOnce) {
  EXPECT_EQ(ask("links", "Links").at("links").as_array().size(), snapshot_->summary.links);
  EXPECT_EQ(ask("links?node=leaf000", "Links").at("links").as_array().size(), 8U);
  EXPECT_EQ(ask("links?node=h00001", "Links").at("links").as_array().size(), 1U);
  EXPECT_EQ(ask("links?degraded=true", "Links").at("links").as_array().size(), 0U);
  EXPECT_TRUE(ask("links?degraded", "Links").at("links").as_array().empty()) << "as degraded=true";
  ask("links?node=none", "Error", 404);
}

TEST_F(ApiFabric, AWrongValueIsNamedWithThoseThatAreAllowed) {
  const auto said = [&](const std::string& what) {
    return std::string(ask(what, "Error", 400).at("detail").as_string());
  };
  EXPECT_EQ(said("nodes?limit=x"), R"(limit: found "x", allowed 1 to 1000000)");
  EXPECT_EQ(said("ports?state=X"), R"(state: found "X", allowed down, init, armed or active)");
  EXPECT_EQ(said("links?degraded=2"), R"(degraded: found "2", allowed true or false)");
  for (const auto* list : {"nodes", "ports", "links", "switches", "services", "balance", "changes",
                           "partitions", "groups", "sms"})
    EXPECT_EQ(said(list + std::string("?cursor=x")),
              R"(cursor: found "x", allowed `next` of the answer before)")
        << list;
}

/// All entries of a list that is asked for page by page.
TEST_F(ApiFabric, EachListComesInPagesWithoutALoss) {
  for (const auto& [what, name, schema] : {std::tuple("links?limit=7", "links", "Links"),
                                           std::tuple("ports?all=true&limit=7", "ports", "Ports")}) {
    const auto whole =
        ask(std::string(what).substr(0, std::string_view(what).find("limit")), schema).at(name);
    json::array pages;
    std::string cursor;
    do {
      const auto page = ask(what + ("&cursor=" + cursor), schema);
      EXPECT_LE(page.at(name).as_array().size(), 7U);
      for (const auto& entry : page.at(name).as_array()) pages.push_back(entry);
      cursor = page.at("next").is_string() ? std::string(page.at("next").as_string()) : "";
    } while (!cursor.empty());
    EXPECT_EQ(json::value(pages), whole) << what;
    EXPECT_GT(pages.size(), 7U);
    for (const auto* bad : {"x", "0x1", "0x1_", "0x1_256", "_1"})
      ask(what + ("&cursor=" + std::string(bad)), "Error", 400);
  }
}

TEST_F(ApiFabric, ListsAreFiltered) {
  const auto count = [&](const std::string& what, const char* name, std::string_view schema) {
    return ask(what, schema).at(name).as_array().size();
  };
  const auto hosts = count("nodes?type=ca", "nodes", "Nodes");
  EXPECT_EQ(count("links?type=ca", "links", "Links"), hosts);
  EXPECT_EQ(count("links?type=switch", "links", "Links"), snapshot_->summary.links);
  EXPECT_EQ(count("links?state=active", "links", "Links"), snapshot_->summary.links);
  EXPECT_EQ(count("links?state=INIT", "links", "Links"), 0U);
  EXPECT_EQ(count("ports?type=ca", "ports", "Ports"), hosts);
  EXPECT_EQ(count("ports?node=leaf001&all=true", "ports", "Ports"), 8U);
  EXPECT_EQ(count("ports?match=h0000[1-3]", "ports", "Ports"), 3U);
  EXPECT_EQ(count("ports?state=down", "ports", "Ports"), 0U);
  ask("ports?node=none", "Error", 404);
  for (const auto* bad : {"ports?state=x", "ports?type=x", "links?state=x", "links?type=x", "groups?pkey=x"})
    ask(bad, "Error", 400);
}

/// A body that is longer than a piece has a rest, and both together are the list.
TEST_F(ApiFabric, ALongListComesInPieces) {
  auto fabric = test::spec("ft2:36");
  sim::World world(fabric);
  test::Managed manager(world, {}, test::once());
  world.run(manager->run());
  auto view = *backend_.views[0];
  view.snapshot = std::make_shared<sm::Snapshot>(manager.last());
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  const auto answer = api::answer({.method = "GET", .target = "/v1/subnets/f/ports", .body = {}}, backend_);
  ASSERT_TRUE(answer.rest);
  auto whole = answer.body;
  unsigned pieces = 1;
  while (const auto piece = answer.rest->next(0, false)) {
    EXPECT_FALSE(piece->empty());
    whole += *piece;
    ++pieces;
  }
  EXPECT_GT(pieces, 2U);
  const auto value = api::parse_json(whole);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->at("ports").as_array().size(), 2 * view.snapshot->summary.links);
  EXPECT_EQ(value->at("next"), nullptr);
}

TEST_F(ApiFabric, AnAnswerThatIsCurrentIsNotSentAgain) {
  const auto get = [&](const std::string& tag) {
    return api::answer(
        {.method = "GET", .target = "/v1/subnets/f/nodes?limit=1", .body = {}, .if_none_match = tag},
        backend_);
  };
  const auto header = [](const api::Answer& answer, std::string_view name) {
    const auto at = std::ranges::find(answer.headers, name, &std::pair<std::string, std::string>::first);
    return at != answer.headers.end() ? at->second : std::string();
  };
  const auto first = get("");
  const auto tag = header(first, "ETag");
  EXPECT_THAT(tag, testing::MatchesRegex("\"[0-9a-f]+-[0-9a-f]+\""));
  EXPECT_EQ(header(first, "Cache-Control"), "private, no-cache");
  for (const auto& known : {tag, "W/" + tag, "\"x\", " + tag, std::string("*")}) {
    const auto same = get(known);
    EXPECT_EQ(same.status, 304U) << known;
    EXPECT_EQ(same.body, "");
    EXPECT_EQ(header(same, "ETag"), tag);
  }
  for (const auto* other : {"\"x\"", "x", "\"", ",,", "W/"}) EXPECT_EQ(get(other).status, 200U) << other;
  auto view = *backend_.views[0];
  ++view.epoch;
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  EXPECT_EQ(get(tag).status, 200U) << "the subnet has changed";
  EXPECT_NE(header(get(""), "ETag"), tag);
}

TEST_F(ApiFabric, APathGoesThroughTheSwitchesOfBothEnds) {
  const auto path = ask("path?src=h00000&dst=h00031", "Path");
  for (const auto* way : {"forward", "back"}) {
    EXPECT_EQ(path.at(way).at("complete"), true) << path;
    EXPECT_EQ(path.at(way).at("hops").as_array().size(), 3U);
  }
  EXPECT_EQ(path.at("forward").at("sl"), 0);
  EXPECT_EQ(path.at("forward").at("pkey"), "0xffff");
  EXPECT_EQ(path.at("forward").at("hops").at(0).at("name"), "leaf000");
  EXPECT_EQ(path.at("back").at("hops").at(2).at("name"), "leaf000");
  EXPECT_EQ(ask("path?src=h00000&dst=h00001", "Path").at("forward").at("hops").as_array().size(), 1U);
  EXPECT_EQ(ask("path?src=h00000:1&dst=leaf000", "Path").at("forward").at("hops").as_array().size(), 0U);
  EXPECT_EQ(ask("path?src=leaf000&dst=h00000", "Path").at("forward").at("hops").as_array().size(), 1U);
  ask("path?src=h00000", "Error", 400);
  ask("path?src=h00000&dst=none", "Error", 404);
  ask("path?src=h00000:7&dst=h00001", "Error", 404);
}

TEST_F(ApiFabric, BalanceCountsTheLidsOfEachLink) {
  const auto all = ask("balance", "Balance").at("switches").as_array();
  EXPECT_EQ(all.size(), 12U);
  const auto leaf = ask("balance?node=leaf000", "Balance").at("switches").at(0);
  EXPECT_EQ(leaf.at("links_to_switches"), 4);
  std::int64_t hosts = 0;
  for (const auto& port : leaf.at("ports").as_array()) {
    hosts += port.at("host_lids").as_int64();
    if (!port.at("to_switch").as_bool()) EXPECT_EQ(port.at("host_lids"), 1);
  }
  EXPECT_EQ(hosts, 32);
  EXPECT_EQ(leaf.at("fewest_host_lids"), 7);
  EXPECT_EQ(leaf.at("most_host_lids"), 7);
  EXPECT_EQ(ask("balance?limit=5", "Balance").at("switches").as_array().size(), 5U);
  EXPECT_EQ(ask("balance?node=h00001", "Error", 404).at("error").at("message"), "h00001 is no switch");
  ask("balance?node=none", "Error", 404);
  ask("balance?cursor=x", "Error", 400);
}

TEST_F(ApiFabric, GroupsAreThoseOfTheRegistry) {
  EXPECT_THAT(ask("groups", "Groups").at("groups").as_array(), IsEmpty());
  sa::Registry registry;
  registry.put_group({{0xff, 0x12, 1}}, Lid{0xC001}, {.qkey = 0xb1b, .mtu = Mtu::m4096}, false);
  registry.put_member({{{0xff, 0x12, 1}}, Guid{7}}, {.join_state = 1});
  auto view = *backend_.views[0];
  view.registry = std::make_shared<const sa::Registry>(registry);
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  const auto groups = ask("groups", "Groups").at("groups");
  ASSERT_EQ(groups.as_array().size(), 1U);
  EXPECT_EQ(groups.at(0).at("mlid"), "0xc001");
  EXPECT_EQ(groups.at(0).at("mtu"), 4096);
  EXPECT_EQ(groups.at(0).at("members"), 1);
}

TEST_F(ApiFabric, EventsAreThoseOfTheSubnetAndGoOnAfterAnId) {
  const auto publish = [&](const std::string& subnet, const std::string& name) {
    backend_.ring.publish(
        subnet,
        events::log_event_of(
            {.event = name, .subnet = subnet, .fields = {{"guid", "0x1", false}, {"port", "3", true}}}));
  };
  for (int i = 0; i < 5; ++i) publish("f", "link.down");
  publish("g", "link.down");
  publish("f", "node.gone");
  const auto all = ask("events", "Events");
  ASSERT_EQ(all.at("events").as_array().size(), 6U);
  EXPECT_EQ(all.at("events").at(0).at("fields").at("port"), 3);
  EXPECT_EQ(all.at("events").at(5).at("event"), "node.gone");
  EXPECT_EQ(all.at("gap"), false);
  EXPECT_EQ(ask("events?match=node.*", "Events").at("events").as_array().size(), 1U);
  EXPECT_EQ(ask("events?limit=2", "Events").at("events").at(1).at("event"), "node.gone") << "the latest ones";
  const std::string third(all.at("events").at(2).at("id").as_string());
  const auto after = ask("events?limit=2&since=" + third, "Events");
  EXPECT_EQ(after.at("events").at(0).at("id"), all.at("events").at(3).at("id")) << "those that follow";
  const std::string next(all.at("next").as_string());
  EXPECT_TRUE(ask("events?since=" + next, "Events").at("events").as_array().empty());
  EXPECT_EQ(ask("events?since=7-3", "Events").at("gap"), true) << "of a process before";
  for (const auto* bad : {"events?since=x", "events?since=3", "events?limit=0"}) ask(bad, "Error", 400);
}

/// What treydock's infiniband.rules and dashboards join by: family and its labels.
const std::map<std::string, std::set<std::string>>& treydock() {
  static const std::map<std::string, std::set<std::string>> kLabels{
      {"infiniband_switch_info", {"guid", "switch", "lid"}},
      {"infiniband_hca_info", {"guid", "hca", "lid"}},
      {"infiniband_switch_uplink_info",
       {"guid", "port", "switch", "uplink", "uplink_guid", "uplink_type", "uplink_port", "uplink_lid"}},
      {"infiniband_hca_uplink_info",
       {"guid", "port", "hca", "uplink", "uplink_guid", "uplink_type", "uplink_port", "uplink_lid"}},
      {"infiniband_switch_port_rate_bytes_per_second", {"guid", "port"}},
      {"infiniband_switch_port_raw_rate_bytes_per_second", {"guid", "port"}},
      {"infiniband_hca_rate_bytes_per_second", {"guid"}},
      {"infiniband_hca_raw_rate_bytes_per_second", {"guid"}}};
  return kLabels;
}

/// Lines of the family without its name, and the names of the labels of the first.
std::pair<std::size_t, std::set<std::string>> family(const std::string& text, const std::string& name) {
  std::size_t lines = 0;
  std::set<std::string> labels;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name + "{") || lines++ != 0) continue;
    for (std::size_t at = 0; (at = line.find("=\"", at)) != std::string::npos; ++at) {
      const auto begin = line.find_last_of("{,", at) + 1;
      labels.insert(line.substr(begin, at - begin));
    }
  }
  return {lines, labels};
}

TEST_F(ApiFabric, MetricsHaveTheNamesAndLabelsThatDashboardsJoinBy) {
  const auto text = metrics();
  for (const auto& [name, labels] : treydock()) {
    EXPECT_EQ(family(text, name).second, labels) << name;
    EXPECT_THAT(text, HasSubstr("# TYPE " + name + " gauge\n"));
  }
  EXPECT_EQ(family(text, "infiniband_switch_info").first, 12U);
  EXPECT_EQ(family(text, "infiniband_hca_uplink_info").first, 32U);
  EXPECT_EQ(family(text, "infiniband_switch_uplink_info").first, 96U);
  EXPECT_THAT(text, HasSubstr("\nsmd_switches 12\n"));
  EXPECT_THAT(text, HasSubstr("smd_subnet_state{state=\"up\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("smd_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("smd_ports{state=\"active\",type=\"ca\"} 32\n"));
  EXPECT_THAT(text, HasSubstr("smd_ports{state=\"active\",type=\"switch\"} 96\n"));
  EXPECT_THAT(text, HasSubstr("smd_ports{state=\"down\",type=\"switch\"} 0\n"));
}

/// The names and labels that interfaces of other tools and our rules go by.
TEST_F(ApiFabric, MetricsOfSmdHaveTheirNamesAndLabels) {
  add_activity();
  const auto text = metrics();
  const std::map<std::string, std::set<std::string>> families{
      {"smd_sm_state", {"state"}},
      {"smd_sweep_duration_seconds", {"type"}},
      {"smd_sweep_phase_duration_seconds", {"type", "phase"}},
      {"smd_routing_duration_seconds", {"engine"}},
      {"smd_smp_timeouts_total", {"attr"}},
      {"smd_sa_requests_total", {"attr", "method", "status"}},
      {"smd_sa_latency_seconds_bucket", {"le"}},
      {"smd_traps_received_total", {"num", "node"}},
      {"smd_ports", {"state", "type"}},
      {"smd_links_degraded", {"reason"}}};
  for (const auto& [name, labels] : families) EXPECT_EQ(family(text, name).second, labels) << name;
  for (const auto* line :
       {"# TYPE smd_sweeps_total counter\nsmd_sweeps_total 7\n",
        "# TYPE smd_lft_blocks_written_total counter\nsmd_lft_blocks_written_total 12\n",
        "# TYPE smd_smp_outstanding gauge\nsmd_smp_outstanding 4\n",
        "# TYPE smd_isolated_ports gauge\nsmd_isolated_ports 1\n",
        "# TYPE smd_config_reload_total counter\nsmd_config_reload_total 5\n",
        "# TYPE smd_config_reload_failed_total counter\nsmd_config_reload_failed_total 2\n",
        "\nsmd_sweep_duration_seconds{type=\"heavy\"} 0.25\n",
        "\nsmd_smp_timeouts_total{attr=\"NodeInfo\"} 3\n", "\nsmd_smp_timeouts_total{attr=\"other\"} 30\n",
        "\nsmd_traps_received_total{num=\"128\",node=\"0x0000000000000010\"} 1\n",
        "\nsmd_traps_received_total{num=\"other\",node=\"other\"} 1\n",
        "\nsmd_sa_requests_total{attr=\"PathRecord\",method=\"Get\",status=\"ok\"} 2\n",
        "\nsmd_sa_requests_total{attr=\"other\",method=\"Get\",status=\"bad_method\"} 1\n",
        "# TYPE smd_sa_latency_seconds histogram\n", "\nsmd_sa_latency_seconds_bucket{le=\"1e-05\"} 1\n",
        "\nsmd_sa_latency_seconds_bucket{le=\"0.005\"} 2\n",
        "\nsmd_sa_latency_seconds_bucket{le=\"+Inf\"} 3\n", "\nsmd_sa_latency_seconds_count 3\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(ApiFabric, EachFamilyIsDescribedOnceAndInTheDocument) {
  std::ifstream in(test::source_file("docs/metrics.md"));
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  add_activity();
  std::istringstream text(metrics());
  std::set<std::string> families;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    const auto name = line.substr(7, line.find(' ', 7) - 7);
    EXPECT_TRUE(families.insert(name).second) << name;
    EXPECT_THAT(document, HasSubstr("`" + name + "`"));
  }
  EXPECT_GT(families.size(), 35U);
}

TEST_F(ApiFabric, MetricsAreLeftOutThatAreNotAskedFor) {
  const auto some = metrics("?family=smd_links,infiniband_switch_info&node=leaf*");
  EXPECT_EQ(family(some, "infiniband_switch_info").first, 8U);
  EXPECT_THAT(some, HasSubstr("smd_links "));
  EXPECT_EQ(some.find("uplink"), std::string::npos);
}

/// A name that was mistyped would be an empty answer, which alerts on nothing.
TEST_F(ApiFabric, AFamilyThatThereIsNotIsRefused) {
  for (const auto* target :
       {"/metrics?family=nope", "/metrics?family=smd_links,smd_link", "/metrics?family=infiniband_speed",
        "/metrics?family=smd_links&family=smd_sa_latency_seconds_sum",
        "/metrics/guilbaults?family=smd_links"}) {
    const auto answer = api::answer({.method = "GET", .target = target, .body = {}}, backend_);
    EXPECT_EQ(answer.status, 400U) << target;
    EXPECT_THAT(answer.body, HasSubstr("bad_query"));
  }
  std::istringstream text(metrics());
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    const auto name = line.substr(7, line.find(' ', 7) - 7);
    EXPECT_THAT(metrics("?family=" + name), HasSubstr(line)) << "also without an event of it";
  }
}

TEST_F(ApiFabric, GuilbaultsHasItsNamesAndLabels) {
  const auto text = metrics("/guilbaults");
  const std::set<std::string> labels{"component",   "local_name",  "local_guid", "local_port",
                                     "remote_guid", "remote_port", "remote_name"};
  for (const auto* name : {"infiniband_speed", "infiniband_width"}) {
    EXPECT_EQ(family(text, name).first, 2 * snapshot_->summary.links) << name;
    EXPECT_EQ(family(text, name).second, labels) << name;
  }
  EXPECT_THAT(text, HasSubstr("\ninfiniband_scrape_ok 1\n"));
  EXPECT_EQ(text.find("local_guid=\"0x0"), std::string::npos) << "no leading zeros";
  EXPECT_EQ(family(metrics("/guilbaults?family=infiniband_speed&node=h0000*"), "infiniband_speed").first,
            10U);
}

TEST_F(ApiFabric, MetricsAreCompressedForThoseWhoTakeThat) {
  const auto answer = api::answer(
      {.method = "GET", .target = "/metrics", .body = {}, .accept_encoding = "br, gzip;q=0.5"}, backend_);
  ASSERT_EQ(answer.status, 200U);
  EXPECT_THAT(answer.headers,
              testing::Contains(std::pair<std::string, std::string>("Content-Encoding", "gzip")));
  EXPECT_EQ(test::gunzip(answer.body), metrics());
  EXPECT_LT(answer.body.size(), metrics().size() / 8);
}

TEST_F(ApiFabric, OneScrapeIsSentAtATime) {
  const auto turn = backend_.scraping.try_lock();
  const auto refused = api::answer({.method = "GET", .target = "/metrics", .body = {}}, backend_);
  EXPECT_EQ(refused.status, 503U);
  EXPECT_THAT(refused.headers, testing::Contains(std::pair<std::string, std::string>("Retry-After", "1")));
}

TEST_F(ApiFabric, OfSeveralSubnetsEachSampleSaysItsOwn) {
  backend_.add({.name = "g", .port = "q", .snapshot = snapshot_});
  const auto text = metrics();
  EXPECT_THAT(text, HasSubstr("smd_switches{subnet=\"f\"} 12\nsmd_switches{subnet=\"g\"} 12\n"));
  EXPECT_TRUE(family(text, "infiniband_switch_info").second.contains("subnet"));
}

TEST_F(ApiFabric, NamesOfAnyBytesAreLabels) {
  auto subnet = std::make_shared<sm::Subnet>(*snapshot_->subnet);
  auto node = std::make_shared<sm::Node>(*subnet->nodes[0]);
  node->description = "a\"b\\c<\xff>\n\t\x1b\x7f\xC2\x9B\xE2\x80\xAE";
  subnet->nodes[0] = node;
  auto now = std::make_shared<sm::Snapshot>(*snapshot_);
  now->subnet = subnet;
  auto view = *backend_.views[0];
  view.snapshot = now;
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  EXPECT_THAT(metrics(), HasSubstr("=\"a\\\"b\\\\c<\xEF\xBF\xBD>\\n     \""));
}

}  // namespace
}  // namespace smd
