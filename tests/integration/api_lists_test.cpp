// SPDX-License-Identifier: Apache-2.0
// Switches, services, routing, why, changes and single ports, and what a tenant sees of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/json_schema.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A subnet "f" with the partitions blue (h00001, h00003) and red (h00002), and a tenant of blue.
class ApiLists : public testing::Test {
 protected:
  ApiLists() {
    auto policy_state = std::make_shared<api::PolicyState>();
    policy_state->config = std::make_shared<const config::SubnetConfig>(
        test::with_partitions({test::partition("blue", 0x12, {"h00001", "h00003"}),
                               test::partition("red", 0x13, {"h00002", "h00001"})}));
    auto policies = std::make_shared<policy::Policies>();
    auto& token = policies->tokens["tenant"];
    token.role = access::Role::tenant;
    token.hash = access::hash_of("smd_tenant");
    token.partitions = {"blue"};
    policy_state->policies = policies;
    policy_state->merged = policy::merged_policy(*policy_state->config, *policies);
    sim::World world(test::spec("ft2:4"));
    test::Managed manager(world, *policy_state->config, test::once());
    world.run(manager->run());
    snapshot_ = std::make_shared<sm::Snapshot>(manager.last());
    backend_.add({.name = "f", .port = "p", .snapshot = snapshot_, .policy_state = policy_state});
    document_ = test::api_document();
  }
  json::value ask(const std::string& what, std::string_view schema, unsigned status = 200,
                  bool tenant = false) {
    api::Request request{.method = "GET", .target = "/v1/subnets/f/" + what, .body = {}};
    request.peer = {.local = !tenant, .address = "10.0.0.1", .user = {}};
    if (tenant) request.authorization = "Bearer smd_tenant";
    const auto answer = api::answer(request, backend_);
    EXPECT_EQ(answer.status, status) << what << '\n' << answer.body;
    auto value = api::parse_json(answer.body).value_or(json::value());
    const test::Schema schemas(document_);
    EXPECT_THAT(schemas.wrong(value, schemas.named(schema)), IsEmpty()) << answer.body;
    return value;
  }
  api::Answer get(const std::string& what, std::string if_none_match, bool tenant = false) {
    api::Request request{.method = "GET", .target = "/v1/subnets/f/" + what, .body = {}};
    request.if_none_match = std::move(if_none_match);
    request.peer = {.local = !tenant, .address = "10.0.0.1", .user = {}};
    if (tenant) request.authorization = "Bearer smd_tenant";
    return api::answer(request, backend_);
  }
  static std::string etag(const api::Answer& answer) {
    const auto& headers = answer.headers;
    const auto at = std::ranges::find(headers, "ETag", &std::pair<std::string, std::string>::first);
    return at != headers.end() ? at->second : std::string();
  }
  const sm::Node& node(const std::string& name) {
    const auto& nodes = snapshot_->subnet->nodes;
    return **std::ranges::find_if(nodes, [&](const auto& one) { return one->description == name; });
  }
  /// Its ports had the LIDs 1000 and 1001, 1002 and 1003, and so on.
  void lose(const std::string& name, const std::vector<Guid>& ports, const std::string& known = {}) {
    const auto host = node(name).guid();
    const auto peer = *node(name).ports[1].peer;
    auto subnet = std::make_shared<sm::Subnet>(*snapshot_->subnet);
    std::erase_if(subnet->nodes, [&](const auto& one) { return one->guid() == host; });
    auto inventory = std::make_shared<sm::Inventory>();
    auto stored = std::make_shared<sm::Stored>();
    inventory->put(host, {.type = NodeType::ca, .name = known.empty() ? name : known, .lost_at = 100});
    inventory->put(peer.node, {.type = NodeType::switch_, .name = "leaf000"});
    std::uint8_t number = 0;
    for (const auto guid : ports) {
      stored->lids[guid] = {.base = Lid{static_cast<std::uint16_t>(1000 + 2 * number)}, .lmc = 1};
      ++number;
      const PortNum far{static_cast<std::uint8_t>(peer.port.value() + number - 1)};
      inventory->put({host, PortNum{number}},
                     {.peer = {peer.node, far}, .rate = {}, .up_since = 1, .lost_at = 100});
    }
    snapshot_->subnet = subnet;
    snapshot_->inventory = inventory;
    snapshot_->stored = stored;
  }
  Guid port_guid(const std::string& name) { return node(name).ports[1].guid; }
  void change_view(const std::function<void(api::SubnetView&)>& change) {
    auto view = *backend_.views[0];
    change(view);
    backend_.views[0] = std::make_shared<api::SubnetView>(view);
  }
  void publish(const std::string& name, std::vector<log::Field> fields, const std::string& subnet = "f") {
    backend_.ring.publish(
        subnet, events::log_event_of({.event = name, .subnet = subnet, .fields = std::move(fields)}));
  }
  /// Each of them offered by the port of a host, in a partition.
  struct Offer {
    std::string host;
    std::uint64_t id;
    PKey pkey;
    std::int64_t ends = 0;
  };
  void register_services(const std::vector<Offer>& offers) {
    sa::Registry registry;
    for (const auto& offer : offers) {
      sa::Service service{.owner = port_guid(offer.host), .ends = offer.ends};
      service.record.id = offer.id;
      service.record.gid = Gid::of(kDefaultSubnetPrefix, port_guid(offer.host));
      service.record.pkey = offer.pkey;
      service.record.lease = offer.ends != 0 ? 60 : 0xFFFFFFFF;
      std::ranges::copy(std::string_view("storage"), service.record.name.begin());
      registry.put_service({offer.id, service.record.gid, offer.pkey}, service);
    }
    change_view([&](auto& view) { view.registry = std::make_shared<const sa::Registry>(registry); });
  }
  static std::vector<std::string> ids(const json::value& answer) {
    std::vector<std::string> found;
    for (const auto& one : answer.at("services").as_array()) found.emplace_back(one.at("id").as_string());
    return found;
  }

  std::shared_ptr<sm::Snapshot> snapshot_;
  test::FakeBackend backend_;
  json::value document_;
};

TEST_F(ApiLists, SwitchesHaveTheirLevelAndTheirTables) {
  const auto all = ask("switches", "Switches").at("switches").as_array();
  EXPECT_EQ(all.size(), 6U);
  for (const auto& one : all) {
    const bool leaf = one.at("name").as_string().starts_with("leaf");
    EXPECT_EQ(one.at("level"), leaf ? 0 : 1) << one;
    EXPECT_EQ(one.at("hosts"), leaf ? 2 : 0) << one;
    EXPECT_EQ(one.at("ports_free"), one.at("ports").as_int64() - one.at("ports_linked").as_int64());
    const auto others = static_cast<std::int64_t>(snapshot_->summary.lids) - (leaf ? 0 : 1);
    EXPECT_EQ(one.at("lft_entries"), others) << "spines have no route to each other";
    EXPECT_GT(one.at("mft_capacity").as_int64(), 0);
  }
  EXPECT_EQ(ask("switches?level=1", "Switches").at("switches").as_array().size(), 2U);
  EXPECT_EQ(ask("switches?match=leaf00[01]", "Switches").at("switches").as_array().size(), 2U);
  json::array pages;
  std::string cursor;
  do {
    const auto page = ask("switches?limit=4&cursor=" + cursor, "Switches");
    for (const auto& one : page.at("switches").as_array()) pages.push_back(one);
    cursor = page.at("next").is_string() ? std::string(page.at("next").as_string()) : "";
  } while (!cursor.empty());
  EXPECT_EQ(pages, all);
  for (const auto* bad : {"switches?level=x", "switches?cursor=x", "switches?limit=0"})
    ask(bad, "Error", 400);
}

TEST_F(ApiLists, ServicesAreThoseOfTheRegistryWithTheirPorts) {
  EXPECT_THAT(ids(ask("services", "Services")), IsEmpty());
  register_services({{"h00001", 0x11, PKey{0x8012}, 1'000'000},
                     {"h00002", 0x12, PKey{0x8013}},
                     {"h00003", 0x13, PKey{0x8012}},
                     {"h00001", 0x14, PKey{0x8013}}});
  const auto all = ask("services", "Services");
  ASSERT_EQ(all.at("services").as_array().size(), 4U);
  const auto& first = all.at("services").at(0);
  EXPECT_EQ(first.at("id"), "0x0000000000000011");
  EXPECT_EQ(first.at("name"), "storage") << "without the zeros behind it";
  EXPECT_EQ(first.at("at").at("name"), "h00001");
  EXPECT_EQ(first.at("at").at("port"), 1);
  EXPECT_EQ(first.at("ends"), "1970-01-12T13:46:40Z");
  EXPECT_EQ(first.at("lease_s"), 60);
  EXPECT_EQ(all.at("services").at(1).at("ends"), nullptr);
  EXPECT_THAT(ids(ask("services?pkey=0x12", "Services")),
              ElementsAre("0x0000000000000011", "0x0000000000000013"));
  EXPECT_THAT(ids(ask("services?node=h00002", "Services")), ElementsAre("0x0000000000000012"));
  EXPECT_THAT(ids(ask("services?match=none*", "Services")), IsEmpty());
  const auto page = ask("services?limit=3", "Services");
  const std::string next(page.at("next").as_string());
  EXPECT_THAT(ids(ask("services?cursor=" + next, "Services")), ElementsAre("0x0000000000000014"));
  ask("services?pkey=x", "Error", 400);
  ask("services?node=none", "Error", 404);
}

TEST_F(ApiLists, ATenantSeesServicesOfItsPartitionsAtItsPorts) {
  register_services({{"h00001", 0x11, PKey{0x8012}},
                     {"h00002", 0x12, PKey{0x8013}},
                     {"h00002", 0x13, PKey{0x8012}},
                     {"h00001", 0x14, PKey{0x8013}},
                     {"h00003", 0x15, PKey{0x0012}}});
  EXPECT_THAT(ids(ask("services", "Services", 200, true)),
              ElementsAre("0x0000000000000011", "0x0000000000000015"));
  EXPECT_THAT(ids(ask("services?pkey=0x8013", "Services", 200, true)), IsEmpty());
  ask("services?node=h00002", "Error", 404, true);
  ask("services?node=h00003", "Services", 200, true);
}

TEST_F(ApiLists, RoutingSaysWhatWasProvenAndHowTheTablesCameToBe) {
  const auto routing = ask("routing", "RoutingDetail");
  EXPECT_EQ(routing.at("engine"), json::value(snapshot_->decided.routes->engine));
  EXPECT_EQ(routing.at("verified"), true);
  EXPECT_EQ(routing.at("switches"), 6);
  EXPECT_EQ(routing.at("convergence").at("tables"), "fresh");
  EXPECT_EQ(routing.at("proof").at("fixed_sl_ok"), true);
  EXPECT_EQ(routing.at("proof").at("reverse_ok"), true);
  EXPECT_EQ(routing.at("proof").at("host_pairs_unreachable"), 0);
  EXPECT_EQ(routing.at("quality"), nullptr);
  const auto measured = ask("routing?quality=true", "RoutingDetail").at("quality");
  EXPECT_EQ(measured.at("max_link_paths"), 6) << "each uplink carries one of a leaf's two hosts to 6 others";
  ask("routing?quality=x", "Error", 400);
  auto routes = std::make_shared<sm::RoutePart>(*snapshot_->decided.routes);
  routes->fell_back_from.push_back({"ftree", "no tree"});
  routes->origin = sm::RoutePart::Origin::adopted;
  routes->would_change = 3, routes->would_be = "updn";
  snapshot_->decided.routes = routes;
  const auto other = ask("routing", "RoutingDetail");
  EXPECT_EQ(other.at("fell_back_from").at(0).at("reason"), "no tree");
  EXPECT_EQ(other.at("convergence").at("would_change"), 3);
  snapshot_->decided.routes = nullptr;
  ask("routing", "Error", 409);
}

TEST_F(ApiLists, OnePortIsThatOfTheList) {
  const auto& host = node("h00001");
  const auto listed = ask("ports?node=h00001", "Ports").at("ports").at(0);
  EXPECT_EQ(ask(fmt::format("ports/{}_1", host.guid()), "Port"), listed);
  EXPECT_EQ(ask(fmt::format("ports/{}_1", port_guid("h00001")), "Port"), listed);
  EXPECT_EQ(ask("ports/h00001_1", "Port"), listed);
  for (const auto* none :
       {"ports/h00001", "ports/h00001_2", "ports/h00001_0", "ports/none_1", "ports/h00001_x"})
    ask(none, "Error", 404);
  const auto own = ask("ports/h00001_1", "Port", 200, true);
  EXPECT_EQ(own.at("peer"), nullptr) << "the switch is not the tenant's";
  for (const auto* other : {"h00002", "leaf000"})
    EXPECT_EQ(ask(fmt::format("ports/{}_1", node(other).guid()), "Error", 404, true).at("code"),
              "no_such_port");
}

/// Nodes of others do not make a name ambiguous for a tenant.
TEST_F(ApiLists, ANameIsOneOfATenantsOwnNodes) {
  auto subnet = std::make_shared<sm::Subnet>(*snapshot_->subnet);
  for (auto& one : subnet->nodes) {
    if (one->description != "h00000" && one->description != "h00002") continue;
    auto renamed = std::make_shared<sm::Node>(*one);
    renamed->name("h00001");
    one = renamed;
  }
  const auto own = port_guid("h00001");
  snapshot_->subnet = subnet;
  for (const auto* what : {"ports?node=h00001", "nodes/h00001", "why?node=h00001", "ports/h00001_1",
                           "path?src=h00001&dst=h00003"}) {
    EXPECT_EQ(ask(what, "Error", 409).at("code"), "ambiguous") << what;
  }
  const auto ports = ask("ports?node=h00001", "Ports", 200, true).at("ports");
  ASSERT_EQ(ports.as_array().size(), 1U) << ports;
  EXPECT_EQ(ports.at(0).at("port_guid").as_string(), fmt::format("{}", own));
  const auto seen = ask("nodes/h00001", "NodeDetail", 200, true);
  EXPECT_EQ(seen.at("port_list").at(0).at("port_guid").as_string(), fmt::format("{}", own));
  ask("why?node=h00001", "Why", 200, true);
  ask("ports/h00001_1", "Port", 200, true);
  EXPECT_EQ(ask("path?src=h00001&dst=h00003", "Path", 200, true).at("from").at("port"), 1);
}

/// What a tenant is told of a GUID that is not its own is what it is told of one that is nowhere.
TEST_F(ApiLists, AnyOtherGuidIsNotThereForATenant) {
  const auto told = [&](const std::string& what, const std::string& words) {
    auto text = json::serialize(ask(what + words, "Error", 404, true));
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words))
      text.erase(at, words.size());
    return text;
  };
  for (const auto* what : {"nodes/", "why?node=", "why?port=", "path?dst=h00001&src="}) {
    const auto nowhere = told(what, "0x00000000deadbeef");
    for (const auto* name : {"h00002", "leaf000"}) {
      for (const auto guid : {node(name).guid(), node(name).ports[1].guid}) {
        if (guid != Guid{}) EXPECT_EQ(told(what, fmt::format("{}", guid)), nowhere) << what << name;
      }
      EXPECT_EQ(told(what, name), nowhere) << what << name;
    }
  }
  publish("link.down", {{"guid", fmt::format("{}", node("h00001").guid()), false},
                        {"port", "1", true},
                        {"peer_guid", fmt::format("{}", node("leaf000").guid()), false}});
  const auto own = ask("nodes/h00001", "NodeDetail", 200, true);
  EXPECT_EQ(own.at("port_list").at(0).at("peer"), nullptr);
  const auto why = ask("why?port=h00001", "Why", 200, true);
  EXPECT_EQ(why.at("ports").at(0).at("peer"), nullptr);
  ASSERT_EQ(why.at("events").as_array().size(), 1U);
  EXPECT_FALSE(why.at("events").at(0).at("fields").as_object().contains("peer_guid"));
}

TEST_F(ApiLists, WhySaysWhatHappenedToAPortAndItsPeer) {
  const auto leaf = fmt::format("{}", node("leaf000").guid());
  for (const auto* port : {"1", "2"})
    publish("port.disabled", {{"guid", leaf, false}, {"name", "leaf000", false}, {"port", port, true}});
  publish("port.disabled", {{"guid", leaf, false}, {"port", "1", true}}, "other");
  const auto one = ask("why?port=leaf000:1", "Why");
  ASSERT_EQ(one.at("ports").as_array().size(), 1U);
  EXPECT_EQ(one.at("events").as_array().size(), 1U);
  EXPECT_EQ(one.at("lost"), nullptr);
  const auto all = ask("why?node=leaf000", "Why");
  EXPECT_EQ(all.at("ports").as_array().size(), 4U);
  EXPECT_EQ(all.at("events").as_array().size(), 2U);
  ask("why", "Error", 400);
  ask("why?port=leaf000&node=leaf000", "Error", 400);
  ask("why?port=none", "Error", 404);
  ask("why?port=leaf000:77", "Error", 404);
  ask("why?node=leaf000:1", "Error", 404);
}

TEST_F(ApiLists, ALostNameWithControlCharactersIsFoundHoweverItIsWritten) {
  const auto whole = snapshot_->subnet;
  for (const auto* kept : {"tab x", "tab\tx"}) {  // the first one by a smd of before
    snapshot_->subnet = whole;
    lose("h00003", {Guid{1}}, kept);
    for (const auto* words : {"tab%20x", "tab%09x", "tab%5Cx09x"})
      EXPECT_EQ(ask(std::string("why?port=") + words, "Why").at("lost").at("node").at("name"), kept);
    EXPECT_EQ(ask("ports?lost=true", "Ports").at("lost_nodes").at(0).at("name"), kept);
  }
}

/// The event of a node has the GUID and the LID of one port, and not for each tenant.
TEST_F(ApiLists, WhyFindsALostHostByEachOfItsPorts) {
  const auto host = node("h00001").guid();
  const Guid first{host.value() + 1}, second{host.value() + 2}, third{host.value() + 3};
  lose("h00001", {first, second});
  publish("node.gone", {{"guid", fmt::format("{}", host), false},
                        {"name", "h00001", false},
                        {"lid", "1000", true},
                        {"port_guid", fmt::format("{}", first), false}});
  for (const bool tenant : {false, true}) {
    for (const auto& words : {fmt::format("{}", host), fmt::format("{}", first), fmt::format("{}", second),
                              std::string("1000"), std::string("1001"), std::string("1002")}) {
      const auto lost = ask("why?port=" + words, "Why", 200, tenant).at("lost");
      EXPECT_EQ(lost.at("node").at("name"), "h00001") << words;
      EXPECT_EQ(lost.at("gone").at("fields").at("port_guid").as_string(), fmt::format("{}", first));
    }
    for (const auto& words : {fmt::format("{}", third), std::string("1004")})
      ask("why?port=" + words, "Error", 404, tenant);
  }
}

TEST_F(ApiLists, WhyOfALostHostIsForItsTenant) {
  const Guid port{node("h00002").guid().value() + 1};
  lose("h00002", {port});
  for (const auto& words : {std::string("1000"), fmt::format("{}", port)}) {
    ask("why?port=" + words, "Why");
    ask("why?port=" + words, "Error", 404, true);
  }
}

TEST_F(ApiLists, WhyFindsALostHostByEachOfItsNames) {
  const auto host = node("h00001").guid();
  const auto port = port_guid("h00001");
  lose("h00001", {port});
  publish("node.gone", {{"guid", fmt::format("{}", host), false},
                        {"name", "h00001", false},
                        {"lid", "1017", true},
                        {"type", "CA", false},
                        {"port_guid", fmt::format("{}", port), false},
                        {"cause", "trap 128", false}});
  for (const auto& words : {std::string("h00001"), fmt::format("{}", host), fmt::format("{}", port),
                            std::string("1017"), std::string("h00001:1")}) {
    const auto why = ask("why?port=" + words, "Why");
    ASSERT_TRUE(why.at("lost").is_object()) << words << why;
    EXPECT_EQ(why.at("lost").at("node").at("name"), "h00001");
    EXPECT_EQ(why.at("lost").at("links").as_array().size(), 1U);
    EXPECT_EQ(why.at("lost").at("accepted"), false);
    EXPECT_EQ(why.at("events").at(0).at("event"), "node.gone");
  }
  ask("why?port=h00001:2", "Error", 404);
  ask("why?port=1018", "Error", 404);
  snapshot_->inventory = std::make_shared<sm::Inventory>();
  const auto accepted = ask("why?node=h00001", "Why").at("lost");
  EXPECT_EQ(accepted.at("accepted"), true) << "known by its event";
  EXPECT_EQ(accepted.at("node").at("type"), "CA");
}

TEST_F(ApiLists, AnAnswerThatIsCurrentIsNotSentAgainWhateverItsTag) {
  publish("partition.changed", {{"partition", "blue", false}});
  for (const auto* what :
       {"nodes", "ports", "links", "switches", "groups", "services", "partitions", "balance", "sms", "events",
        "changes", "routing", "qos", "tokens", "path?src=h00001&dst=h00002", "why?node=h00001",
        "nodes/h00001", "ports/h00001_1"}) {
    const auto first = get(what, "");
    EXPECT_EQ(first.status, 200U) << what;
    const auto tag = etag(first);
    EXPECT_NE(tag, "") << what;
    const auto again = get(what, tag);
    EXPECT_EQ(again.status, 304U) << what;
    EXPECT_EQ(again.body, "") << what;
    EXPECT_EQ(etag(again), tag) << what;
    EXPECT_EQ(get(what, "\"bother\"").status, 200U) << what;
  }
}

/// The epoch goes up with any change of the subnet.
TEST_F(ApiLists, ATenantsTagTellsNothingOfChangesElsewhere) {
  register_services({{"h00001", 0x11, PKey{0x8012}}});
  for (const auto* what : {"ports", "partitions", "services", "path?src=h00001&dst=h00003"}) {
    const auto own = etag(get(what, "", true)), all = etag(get(what, ""));
    change_view([](auto& view) { ++view.epoch; });
    EXPECT_EQ(get(what, own, true).status, 304U) << what;
    EXPECT_EQ(get(what, all).status, 200U) << what;
  }
  const auto before = etag(get("services", "", true));
  register_services({{"h00001", 0x11, PKey{0x8012}}, {"h00002", 0x12, PKey{0x8013}}});
  EXPECT_EQ(get("services", before, true).status, 304U) << "of the red partition";
  register_services({{"h00003", 0x11, PKey{0x8012}}});
  EXPECT_EQ(get("services", before, true).status, 200U) << "its own has changed";
}

TEST_F(ApiLists, ATenantsEmptyListTellsNothingOfOthers) {
  const auto change_of = [&](const char* partition) {
    publish("partition.changed", {{"partition", partition, false}});
  };
  for (const auto* what : {"changes", "ports?match=none", "services", "partitions?match=none"}) {
    const auto before = get(what, "", true);
    change_of("red");
    register_services({{"h00002", 0x12, PKey{0x8013}}});
    EXPECT_EQ(get(what, etag(before), true).status, 304U) << what;
  }
  const auto next_of = [](const json::value& page) { return std::string(page.at("next").as_string()); };
  const auto none = ask("changes", "Changes", 200, true);
  change_of("blue");
  change_of("red");
  const auto one = ask("changes?cursor=" + next_of(none), "Changes", 200, true);
  ASSERT_EQ(one.at("changes").as_array().size(), 1U) << "from the cursor of an empty list on";
  EXPECT_EQ(one.at("gap"), false);
  EXPECT_EQ(one.at("next"), one.at("changes").at(0).at("id"));
  const auto after = ask("changes?cursor=" + next_of(one), "Changes", 200, true);
  EXPECT_EQ(after.at("changes").as_array().size(), 0U);
  EXPECT_EQ(next_of(after), next_of(one));
  change_of("blue");
  EXPECT_EQ(ask("changes?cursor=" + next_of(after), "Changes", 200, true).at("changes").as_array().size(),
            1U);
}

/// A partition that was changed is in force when it is decided; of others that are not a tenant is not told.
TEST_F(ApiLists, ATenantsPartitionIsInForceThoughOthersChange) {
  const auto before = etag(get("partitions", "", true));
  EXPECT_EQ(ask("partitions", "Partitions", 200, true).at("partitions").at(0).at("in_force"), true);
  const auto change = [&](const std::string& name) {
    change_view([&](auto& view) {
      auto policy_state = std::make_shared<api::PolicyState>(*view.policy_state);
      auto merged = std::make_shared<config::PartitionPolicy>(*policy_state->merged);
      std::ranges::find(merged->partitions, name, &config::PolicyPartition::name)->members.clear();
      ++merged->digest;
      policy_state->merged = merged;
      view.policy_state = policy_state;
    });
  };
  change("red");
  EXPECT_EQ(get("partitions", before, true).status, 304U);
  EXPECT_EQ(ask("partitions", "Partitions").at("partitions").at(0).at("in_force"), false);
  change("blue");
  EXPECT_EQ(ask("partitions", "Partitions", 200, true).at("partitions").at(0).at("in_force"), false);
}

TEST_F(ApiLists, ChangesAreTheEventsOfChanges) {
  publish("link.down", {});
  publish("partition.changed", {{"partition", "blue", false}, {"change", "add", false}});
  publish("api.call", {{"path", "/v1/subnets/f/resweep", false}, {"status", "403", true}});
  publish("api.call", {{"path", "/v1/subnets/f/resweep", false}, {"status", "202", true}});
  publish("partition.changed", {{"partition", "red", false}}, "other");
  publish("api.call",
          {{"path", "/v1/subnets/f/resweep", false}, {"dry_run", "true", true}, {"status", "200", true}});
  publish("config.reloaded", {}, "");
  publish("partition.changed", {{"partition", "red", false}});
  const auto names = [](const json::value& page) {
    std::vector<std::string> found;
    for (const auto& one : page.at("changes").as_array()) found.emplace_back(one.at("event").as_string());
    return found;
  };
  EXPECT_THAT(names(ask("changes", "Changes")),
              ElementsAre("partition.changed", "api.call", "config.reloaded", "partition.changed"))
      << "without what was refused, what no one has changed, and other subnets";
  const auto all = ask("changes", "Changes");
  const std::string first(all.at("changes").at(0).at("id").as_string());
  const auto page = ask("changes?limit=2&cursor=" + first, "Changes");
  EXPECT_THAT(names(page), ElementsAre("api.call", "config.reloaded"));
  const std::string next(page.at("next").as_string());
  EXPECT_THAT(names(ask("changes?cursor=" + next, "Changes")), ElementsAre("partition.changed"));
  EXPECT_THAT(names(ask("changes?match=partition.*", "Changes")).size(), 2U);
  const auto own = ask("changes", "Changes", 200, true);
  EXPECT_THAT(names(own), ElementsAre("partition.changed"));
  EXPECT_EQ(own.at("changes").at(0).at("fields").at("partition"), "blue");
  for (const auto* bad : {"changes?cursor=x", "changes?limit=0"}) ask(bad, "Error", 400);
}

}  // namespace
}  // namespace smd
