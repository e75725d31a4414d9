// SPDX-License-Identifier: Apache-2.0
// PathRecords by the QoS policy: SL, MTU, rate, lifetime and P_Key, or a refusal (docs/qos.md has the table).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/import/qos_policy_conf.h"
#include "mad/wire/drop_vl.h"
#include "mad/wire/sa/path_record.h"
#include "smd/sa/path/trace.h"
#include "tests/support/partition_config.h"
#include "tests/support/sa_lab.h"

namespace smd {
namespace {

using test::ask;
using test::Question;
using QosPath = wire::PathRecord;

constexpr std::uint64_t component(unsigned number) { return std::uint64_t{1} << number; }
constexpr std::uint64_t kBothEnds = component(QosPath::kSgid) | component(QosPath::kDgid);
constexpr std::uint64_t kService = component(QosPath::kServiceId) | component(QosPath::kServiceId + 1);

config::SubnetConfig with_policy(std::string_view text, bool enabled = true) {
  auto conf = config::read_qos_policy_conf(text, "q.conf");
  if (!conf) throw std::runtime_error(to_string(conf.error().front()));
  config::SubnetConfig config;
  config.qos.enabled = enabled;
  config.qos.policy_file = "q.conf";
  config.qos.conf = *std::move(conf);
  auto green = test::partition("green", 0x20, {"ALL"});
  green.sl = 4;
  auto blue = test::partition("blue", 0x21, {"ALL"});
  auto all = test::partition("Default", 0x7fff, {"ALL"});
  config.partition = {green, blue, all};
  return config;
}

/// A record with one component.
template <class T>
QosPath asking(T QosPath::* member, const T& value) {
  QosPath asked;
  asked.*member = value;
  return asked;
}

constexpr std::string_view kLevels =
    "qos-levels\nqos-level\nname: DEFAULT\nsl: 1\nend-qos-level\n"
    "qos-level\nname: L\nsl: 3\nmtu-limit: 2\nrate-limit: 3\npacket-life: 9\npkey: "
    "0x8020-0x8021\nend-qos-level\n"
    "end-qos-levels\nqos-match-rules\nqos-match-rule\nqos-class: 7\nqos-level-name: L\nend-qos-match-rule\n"
    "end-qos-match-rules\nqos-ulps\niser : 5\nend-qos-ulps\n";

/// Asks for a path from the first host to the last one.
class QosLab {
 public:
  explicit QosLab(config::SubnetConfig config) : lab_("ft2:4", std::move(config)) {
    for (const auto& port : lab_.directory().end_ports()) {
      if (!port.node->is_switch()) hosts_.push_back(&port);
    }
  }
  test::Reply ask_for(std::uint64_t mask = 0, QosPath asked = {}) const {
    const auto& directory = lab_.directory();
    asked.sgid = directory.gid_of(*hosts_.front());
    asked.dgid = directory.gid_of(*hosts_.back());
    return ask(
        directory,
        Question{.method = wire::Method::get, .attribute = QosPath::kRecord, .mask = mask | kBothEnds}.with(
            asked));
  }
  QosPath path(std::uint64_t mask = 0, const QosPath& asked = {}) const {
    const auto reply = ask_for(mask, asked);
    EXPECT_EQ(reply.status, 0);
    return reply.status == 0 ? reply.get<QosPath>(0) : QosPath{};
  }
  std::uint16_t status(std::uint64_t mask, const QosPath& asked) const { return ask_for(mask, asked).status; }

 private:
  test::SaLab lab_;
  std::vector<const sa::EndPort*> hosts_;
};

TEST(SaQos, TheLevelChoosesTheSl) {
  const QosLab lab(with_policy(kLevels));

  EXPECT_EQ(lab.path().sl, Sl{1});
  EXPECT_EQ(lab.path(kService, asking(&QosPath::service_id, std::uint64_t{0x1060CBC})).sl, Sl{5});
  EXPECT_EQ(lab.path(0, asking(&QosPath::service_id, std::uint64_t{0x1060CBC})).sl, Sl{1})
      << "not in the component mask";
  EXPECT_EQ(lab.path(component(QosPath::kPKey), asking(&QosPath::pkey, PKey{0x8020})).sl, Sl{1})
      << "the level DEFAULT overrides the partition's SL 4";
}

TEST(SaQos, TheLevelLimitsMtuRateAndLifetime) {
  const QosLab lab(with_policy(kLevels));
  const auto plain = lab.path();
  const auto limited = lab.path(component(QosPath::kQosClass), asking(&QosPath::qos_class, std::uint16_t{7}));

  EXPECT_EQ(plain.life, 18);
  EXPECT_GT(plain.mtu, Mtu::m512);
  EXPECT_EQ(limited.sl, Sl{3});
  EXPECT_EQ(limited.mtu, Mtu::m512);
  EXPECT_EQ(limited.rate, 3);
  EXPECT_EQ(limited.life, 9);
}

TEST(SaQos, ALevelsPKeysAreThoseOfItsPaths) {
  const QosLab lab(with_policy(kLevels));
  const auto with = [](PKey pkey) {
    auto asked = asking(&QosPath::pkey, pkey);
    asked.qos_class = 7;
    return asked;
  };
  constexpr auto kMask = component(QosPath::kQosClass) | component(QosPath::kPKey);

  EXPECT_EQ(lab.path(component(QosPath::kQosClass), asking(&QosPath::qos_class, std::uint16_t{7})).pkey,
            PKey{0x8020})
      << "the lowest";
  EXPECT_EQ(lab.path(kMask, with(PKey{0x8021})).pkey, PKey{0x8021});
  EXPECT_EQ(lab.status(kMask, with(kDefaultPKey)), wire::kSaNoRecords);
}

/// Routes of one layer carry every SL: OpenSM's rule holds where clients ask for SLs, too.
TEST(SaQos, AnySlIsGrantedWithoutALevelWhereRoutesHaveOneLayer) {
  for (const bool enabled : {false, true}) {
    config::SubnetConfig config;
    config.qos.enabled = enabled;
    config.routing.path_sl = config::PathSl::asked;
    config.partition = {test::partition("Default", 0x7fff, {"ALL"})};
    const QosLab lab(config);
    EXPECT_EQ(lab.path(component(QosPath::kSl), asking(&QosPath::sl, Sl{5})).sl, Sl{5}) << enabled;
    EXPECT_EQ(lab.path().sl, Sl{0}) << enabled;
  }
}

TEST(SaQos, AnSlThatIsAskedForHasToBeTheLevels) {
  const QosLab lab(with_policy(kLevels));

  EXPECT_EQ(lab.path(component(QosPath::kSl), asking(&QosPath::sl, Sl{1})).sl, Sl{1});
  EXPECT_EQ(lab.status(component(QosPath::kSl), asking(&QosPath::sl, Sl{0})), wire::kSaNoRecords);
}

/// Levels of both directions: what is asked for has to be granted there and back; what is told is that there.
TEST(SaQos, AReversiblePathIsOneThatThePolicyGrantsInBothDirections) {
  const QosLab lab(with_policy(
      "port-groups\nport-group\nname: sm\nnode-type: SELF\nend-port-group\nend-port-groups\n"
      "qos-levels\nqos-level\nname: DEFAULT\nsl: 1\nend-qos-level\n"
      "qos-level\nname: there\nsl: 2\nend-qos-level\n"
      "qos-level\nname: back\nsl: 3\nmtu-limit: 2\nrate-limit: 3\npacket-life: 9\npkey: 0x8020-0x8021\n"
      "end-qos-level\nend-qos-levels\nqos-match-rules\n"
      "qos-match-rule\nsource: sm\nqos-level-name: there\nend-qos-match-rule\n"
      "qos-match-rule\ndestination: sm\nqos-level-name: back\nend-qos-match-rule\nend-qos-match-rules\n"));
  const auto expect = [&](const std::string& what, std::uint64_t mask, QosPath asked, bool reversible) {
    EXPECT_EQ(lab.status(mask, asked), 0) << what;
    EXPECT_EQ(lab.path(mask, asked).reversible, reversible) << what;
    asked.reversible = true;
    EXPECT_EQ(lab.status(mask | component(QosPath::kReversible), asked), reversible ? 0 : wire::kSaNoRecords)
        << what;
  };
  const auto path = lab.path(component(QosPath::kReversible), asking(&QosPath::reversible, true));
  EXPECT_EQ(path.sl, Sl{2});
  EXPECT_GT(path.mtu, Mtu::m512);
  EXPECT_EQ(path.life, 18);
  EXPECT_TRUE(path.reversible);

  expect("SL", component(QosPath::kSl), asking(&QosPath::sl, Sl{2}), false);
  expect("P_Key", component(QosPath::kPKey), asking(&QosPath::pkey, kDefaultPKey), false);
  expect("P_Key of the way back", component(QosPath::kPKey), asking(&QosPath::pkey, PKey{0x8020}), true);
  QosPath asked;
  asked.mtu_selector = wire::Selector::greater;
  asked.mtu = Mtu::m512;
  expect("MTU", component(QosPath::kMtuSelector) | component(QosPath::kMtu), asked, false);
  asked.mtu = Mtu::m256;
  expect("MTU of the way back", component(QosPath::kMtuSelector) | component(QosPath::kMtu), asked, true);
  asked.rate_selector = wire::Selector::greater;
  asked.rate = 3;
  expect("rate", component(QosPath::kRateSelector) | component(QosPath::kRate), asked, false);
  asked.life_selector = wire::Selector::greater;
  asked.life = 9;
  expect("lifetime", component(QosPath::kLifeSelector) | component(QosPath::kLife), asked, false);
}

TEST(SaQos, WithoutAPolicyPathsHaveTheSlOfTheirPartitionOrTheOneThatIsAskedFor) {
  auto config = with_policy(kLevels);
  config.qos.policy_file.clear();
  config.qos.conf = {};
  const QosLab lab(std::move(config));

  EXPECT_EQ(lab.path().sl, Sl{0});
  EXPECT_EQ(lab.path(component(QosPath::kPKey), asking(&QosPath::pkey, PKey{0x8020})).sl, Sl{4});
  EXPECT_EQ(lab.path(component(QosPath::kSl), asking(&QosPath::sl, Sl{6})).sl, Sl{6});
}

TEST(SaQos, ATomlPolicyWithoutDefaultLeavesTheRestToPartitions) {
  auto config = with_policy(kLevels);
  config.qos.policy_file.clear();
  config.qos.conf = {};
  config.qos.ulp = {{.name = "lustre", .sl = 7}};
  const QosLab lab(std::move(config));

  EXPECT_EQ(lab.path(kService, asking(&QosPath::service_id, std::uint64_t{0x10603DB})).sl, Sl{7});
  EXPECT_EQ(lab.path(component(QosPath::kPKey), asking(&QosPath::pkey, PKey{0x8020})).sl, Sl{4});
}

TEST(SaQos, WhileItIsNotEnabledNothingOfItIsInForce) {
  const QosLab lab(with_policy(kLevels, false));

  EXPECT_EQ(lab.path(component(QosPath::kQosClass), asking(&QosPath::qos_class, std::uint16_t{7})).sl, Sl{0});
  EXPECT_EQ(lab.path(component(QosPath::kPKey), asking(&QosPath::pkey, PKey{0x8020})).sl, Sl{0});
  EXPECT_EQ(lab.status(component(QosPath::kSl), asking(&QosPath::sl, Sl{1})), wire::kSaNoRecords);
}

/// P_Key before ULP before ports, also where the P_Key is the one that the SA chooses.
TEST(SaQos, APathThatIsPutIntoAPartitionHasTheClassOfIt) {
  config::SubnetConfig config;
  config.qos.enabled = true;
  config.qos.traffic_classes = {{.name = "ports", .sl = 5, .ports = test::port_terms({"ALL_CAS"})},
                                {.name = "storage", .sl = 6, .ulps = {"nvmeof"}},
                                {.name = "blue", .sl = 3, .partitions = {"blue"}}};
  config.partition = {test::partition("blue", 0x21, {"ALL_CAS"}),
                      test::partition("Default", 0x7fff, {}, {"ALL"})};
  const QosLab lab(config);
  EXPECT_EQ(lab.path().pkey, PKey{0x8021});
  EXPECT_EQ(lab.path().sl, Sl{3});
  EXPECT_EQ(lab.path(kService, asking(&QosPath::service_id, std::uint64_t{0x1061144})).sl, Sl{3});
}

/// The fabric, where this port drops SL 1.
std::shared_ptr<const sm::Snapshot> dropping_sl1(const test::SaLab& lab, Guid guid, PortNum port) {
  auto subnet = std::make_shared<sm::Subnet>(*lab.snapshot().subnet);
  for (auto& node : subnet->nodes) {
    if (node->guid() != guid) continue;
    auto other = std::make_shared<sm::Node>(*node);
    const auto rows = other->is_switch() ? other->ports.size() : 1;
    sm::HeldBlocks<wire::SlToVl> held;
    held.row.resize(rows);
    held.known = held.asked = sm::BlockSet::first(rows);
    for (auto& row : held.row) row.vls[1] = wire::kDropVl;
    other->ports[port.value()].held<wire::SlToVl>() =
        std::make_shared<const sm::HeldBlocks<wire::SlToVl>>(std::move(held));
    node = other;
  }
  subnet->index();
  auto snapshot = std::make_shared<sm::Snapshot>(lab.snapshot());
  snapshot->subnet = subnet;
  return snapshot;
}

/// SL 1 is dropped by the leaf of the destination, at its port to it, when it comes in by the first port.
TEST(SaQos, AnSlThatLeadsToVl15IsNoPath) {
  const test::SaLab lab("ft2:4", with_policy(kLevels));
  std::vector<const sa::EndPort*> hosts;
  for (const auto& port : lab.directory().end_ports()) {
    if (!port.node->is_switch()) hosts.push_back(&port);
  }
  const auto& to = *hosts.back();
  const auto& leaf = *to.info().peer;
  const sa::Directory directory(dropping_sl1(lab, leaf.node, leaf.port));
  const auto status = [&](const sa::EndPort& destination, std::uint64_t mask, std::uint64_t service) {
    auto asked = asking(&QosPath::service_id, service);
    asked.sgid = directory.gid_of(*hosts.front());
    asked.dgid = directory.gid_of(destination);
    return ask(directory,
               Question{.method = wire::Method::get, .attribute = QosPath::kRecord, .mask = mask | kBothEnds}
                   .with(asked))
        .status;
  };

  EXPECT_TRUE(directory.drops_sls());
  EXPECT_FALSE(lab.directory().drops_sls());
  EXPECT_EQ(status(to, 0, 0), wire::kSaNoRecords);
  EXPECT_EQ(status(to, kService, 0x1060CBC), 0) << "SL 5 arrives";
  EXPECT_EQ(status(*hosts[1], 0, 0), 0);
}

/// The adapter's own table counts for what it sends to itself.
TEST(SaQos, NorIsOneToThePortItself) {
  const test::SaLab lab("ft2:4", with_policy(kLevels));
  const auto host = std::ranges::find_if(lab.directory().end_ports(),
                                         [](const sa::EndPort& port) { return !port.node->is_switch(); });
  const sa::Directory directory(dropping_sl1(lab, host->node->guid(), host->port));
  const auto status = [&](const sa::Directory& asked_of) {
    const auto gid = asked_of.gid_of(*host);
    auto asked = asking(&QosPath::service_id, std::uint64_t{0});
    asked.sgid = asked.dgid = gid;
    return ask(asked_of,
               Question{.method = wire::Method::get, .attribute = QosPath::kRecord, .mask = kBothEnds}.with(
                   asked))
        .status;
  };

  EXPECT_EQ(status(lab.directory()), 0);
  EXPECT_EQ(status(directory), wire::kSaNoRecords);
}

TEST(SaQos, MultiPathRecordsGoByTheSameRules) {
  using Multi = wire::MultiPathRecord;
  const test::SaLab lab("ft2:4", with_policy(kLevels));
  const auto& directory = lab.directory();
  std::vector<const sa::EndPort*> hosts;
  for (const auto& port : directory.end_ports()) {
    if (!port.node->is_switch()) hosts.push_back(&port);
  }
  auto question = Question{.method = wire::Method::get_multi,
                           .attribute = Multi::kRecord,
                           .mask = component(Multi::kSources) | component(Multi::kDestinations) |
                                   component(Multi::kServiceIdHigh) | component(Multi::kServiceIdLow)}
                      .with(Multi{.sources = 1, .destinations = 1, .service_id_low = 0x1060CBC});
  const auto put = [&](std::size_t at, const sa::EndPort& port) {
    const auto gid = directory.gid_of(port);
    std::ranges::copy(
        gid.bytes, question.begin() + static_cast<std::ptrdiff_t>(wire::kSaDataOffset + Multi::kGidsAt + at));
  };
  put(0, *hosts.front());
  put(16, *hosts.back());
  const auto reply = ask(directory, question);

  ASSERT_EQ(reply.status, 0);
  ASSERT_FALSE(reply.records.empty());
  EXPECT_EQ(reply.get<QosPath>(0).sl, Sl{5});
}

/// The SL of paths from the first host to a node, by what the manager has published.
Sl sl_to(test::Managed& manager, std::string_view name) {
  const sa::Directory directory(manager->published());
  const auto host = [&](auto&& is_it) {
    return *std::ranges::find_if(directory.end_ports(), [&](const sa::EndPort& port) {
      return !port.node->is_switch() && is_it(port.node->description);
    });
  };
  QosPath asked;
  asked.sgid = directory.gid_of(host([](const auto& /*name*/) { return true; }));
  asked.dgid = directory.gid_of(host([&](const auto& its) { return its == name; }));
  const auto reply = ask(
      directory,
      Question{.method = wire::Method::get, .attribute = QosPath::kRecord, .mask = kBothEnds}.with(asked));
  EXPECT_EQ(reply.status, 0);
  return reply.status == 0 ? reply.get<QosPath>(0).sl : Sl{15};
}

/// Ports of a group by partition: the policy follows the partition. Neither change reads the fabric.
TEST(SaQos, AChangedPolicyOrPartitionIsInForceWithoutASweep) {
  const auto with_members = [](std::initializer_list<std::string_view> members, unsigned sl) {
    auto config = with_policy(
        fmt::format("port-groups\nport-group\nname: B\npartition: blue\nend-port-group\nend-port-groups\n"
                    "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\nqos-level\nname: L\nsl: {}\n"
                    "end-qos-level\nend-qos-levels\nqos-match-rules\nqos-match-rule\ndestination: B\n"
                    "qos-level-name: L\nend-qos-match-rule\nend-qos-match-rules\n",
                    sl));
    config.partition[1].full = test::port_terms(members);
    return config;
  };
  sim::World world(test::spec("ft2:4"));
  test::Managed manager(world, with_members({"h00002"}, 3));
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(sl_to(manager, "h00002"), Sl{3});
  EXPECT_EQ(sl_to(manager, "h00003"), Sl{0});

  manager->requests().reload(with_members({"h00003"}, 3));
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(sl_to(manager, "h00002"), Sl{0});
  EXPECT_EQ(sl_to(manager, "h00003"), Sl{3});

  manager->requests().reload(with_members({"h00003"}, 5));
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(sl_to(manager, "h00003"), Sl{5});
  EXPECT_NE(manager.last().summary.reason, "reload");

  auto wrong = with_members({"h00003"}, 5);
  wrong.qos.refused = "q.conf:1: wrong";
  manager->requests().reload(wrong);
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::reduced);
  EXPECT_EQ(sl_to(manager, "h00003"), Sl{5}) << "what was in force stays";
  world.run(group.stop());
}

}  // namespace
}  // namespace smd
