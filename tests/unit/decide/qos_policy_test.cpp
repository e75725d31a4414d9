// SPDX-License-Identifier: Apache-2.0
// The QoS policy for a fabric: who is in which group, and which level a request gets.
#include "smd/decide/qos_policy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "config/import/qos_policy_conf.h"
#include "smd/decide/decided.h"
#include "smd/decide/partitions.h"
#include "smd/policy/policies.h"
#include "tests/support/partition_config.h"
#include "tests/unit/decide/support.h"

namespace smd::sm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kThirdHost = 0x300, kRouter = 0x400;

/// Hosts 0x100 (the SM), 0x200, 0x300 and a router at switch 0x10. Level n has SL n.
class QosPolicyOfFabric : public testing::Test {
 protected:
  QosPolicyOfFabric() {
    fabric_.add_switch(kSwitch);
    for (const auto host : {kHost, kOther, kThirdHost})
      fabric_.host(host, kSwitch, static_cast<unsigned>(host >> 8U));
    fabric_.add_router(kRouter).link(kSwitch, 4, kRouter, 1);
    const std::map<std::uint64_t, std::string> names{
        {kSwitch, "leaf"}, {kHost, "h0"}, {kOther, "h1"}, {kThirdHost, "h2 HCA-1"}, {kRouter, "r"}};
    for (const auto& [node, name] : names) fabric_.node(node).description = name;
    fabric_.sm(kHost, 1);
  }

  void resolve(std::string_view text) {
    auto conf = config::read_qos_policy_conf(text, "q.conf");
    ASSERT_TRUE(conf) << to_string(conf.error().front());
    resolve(std::move(conf->policy));
  }
  void resolve(config::QosPolicy policy) {
    const auto subnet = fabric_.build();
    std::optional<PartitionPart> partitions;
    if (!config_.partition.empty())
      partitions = decide_partitions({.subnet = subnet,
                                      .config = config_,
                                      .policy = policy::merged_policy(config_, {}),
                                      .stored = {}})
                       .part;
    part_ = resolve_qos_policy(subnet, std::make_shared<const config::QosPolicy>(std::move(policy)), groups_,
                               partitions ? &*partitions : nullptr);
  }
  /// Groups with these lines, each with a level of its number that paths to it get.
  void resolve_groups(const std::vector<std::string>& groups) {
    std::string text = "port-groups\n",
                levels = "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n",
                rules = "qos-match-rules\n";
    for (std::size_t i = 0; i < groups.size(); ++i) {
      text += fmt::format("port-group\nname: g{}\n{}\nend-port-group\n", i, groups[i]);
      levels += fmt::format("qos-level\nname: l{0}\nsl: {0}\nend-qos-level\n", i + 1);
      rules += fmt::format("qos-match-rule\ndestination: g{}\nqos-level-name: l{}\nend-qos-match-rule\n", i,
                           i + 1);
    }
    resolve(text + "end-port-groups\n" + levels + "end-qos-levels\n" + rules + "end-qos-match-rules\n");
  }

  QosPortClass class_of(std::uint64_t node) const {
    const auto at = test::place(node, node == kSwitch ? 0 : 1);
    const auto found = std::ranges::find(part_.ports, at, &QosPolicyPart::PortOfClass::at);
    return found != part_.ports.end() ? found->ports : 0;
  }
  /// The SL of a path; -1 where no level is for it.
  int sl(std::uint64_t from, std::uint64_t to, const QosRequest& request = {}) const {
    const auto* terms = part_.matcher.match(class_of(from), class_of(to), request);
    return terms != nullptr ? int{terms->sl.value()} : -1;
  }
  std::vector<int> to_each(const QosRequest& request = {}) const {
    std::vector<int> found;
    for (const auto node : {kSwitch, kHost, kOther, kThirdHost, kRouter})
      found.push_back(sl(kHost, node, request));
    return found;
  }
  std::vector<std::string> waiting() const {
    std::vector<std::string> lines;
    for (const auto& one : part_.pending)
      lines.push_back(fmt::format("{}: {}: {}", one.source.line, one.item, one.reason));
    return lines;
  }

  SubnetBuilder fabric_;
  config::SubnetConfig config_;
  config::PortGroups groups_;
  QosPolicyPart part_;
};

TEST_F(QosPolicyOfFabric, GroupsAreOfGuidsNamesAndTypes) {
  resolve_groups({"port-guid: 0x201, 0x300-0x302"});
  EXPECT_THAT(to_each(), ElementsAre(0, 0, 1, 1, 0));
  resolve_groups({"port-name: h1/P1", "port-name: \"h2 HCA-1/P1\", leaf/P3"});
  EXPECT_THAT(to_each(), ElementsAre(2, 0, 1, 2, 0));
  resolve_groups({"node-type: SELF", "node-type: CA", "node-type: SWITCH, ROUTER"});
  EXPECT_THAT(to_each(), ElementsAre(3, 1, 2, 2, 3));
  resolve_groups({"node-type: ALL"});
  EXPECT_THAT(to_each(), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(waiting(), IsEmpty());
}

TEST_F(QosPolicyOfFabric, WhatIsNotThereWaits) {
  resolve_groups({"port-guid: 0x999\nport-name: h9/P1, h1/P2, leaf/P9\npartition: Blue\npkey: 0x12"});

  EXPECT_THAT(to_each(), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(waiting(), ElementsAre("2: port-guid: 0x999: no port has this GUID",
                                     "2: port-name: h9/P1: no node is called so",
                                     "2: port-name: h1/P2: the node has no such port",
                                     "2: port-name: leaf/P9: the node has no such port",
                                     "2: partition: Blue: there is no partition of this name",
                                     "2: pkey: 0x12: no partition has this P_Key"));
}

TEST_F(QosPolicyOfFabric, GroupsHaveTheMembersOfPartitionsOfBothKinds) {
  config_.partition = {test::partition("Blue", 0x12, {"h1"}, {"r"}), test::partition("Red", 0x13, {"h0"})};
  resolve_groups({"partition: Blue", "pkey: 0x8013-0x8020"});

  EXPECT_THAT(to_each(), ElementsAre(0, 2, 1, 0, 1));
}

TEST_F(QosPolicyOfFabric, WithoutPartitionsAllAreMembersOfTheDefaultOne) {
  resolve_groups({"pkey: 0x7fff"});

  EXPECT_THAT(to_each(), ElementsAre(1, 1, 1, 1, 1));
}

TEST_F(QosPolicyOfFabric, SetsOfPortsOfTomlAreGroupsToo) {
  groups_["disks"] = {test::port_terms({"h1", "r"})};
  config::QosPolicy policy{.file = "smd.toml"};
  policy.levels = {{.name = "a", .sl = Sl{3}}};
  policy.rules = {{.source_ports = {test::port_terms({"ALL"})},
                   .destination_ports = {test::port_terms({"group:disks"})},
                   .level = "a"}};
  policy.ulps = {{.name = "any",
                  .by = config::QosUlpKey::source_target,
                  .ports = {test::port_terms({"ALL_CAS", "h7"})},
                  .sl = Sl{4}}};
  resolve(std::move(policy));

  EXPECT_THAT(to_each(), ElementsAre(-1, 4, 3, 4, 3)) << "no level is for paths without a rule";
  ASSERT_EQ(part_.pending.size(), 1U);
  EXPECT_EQ(part_.pending[0].item, "h7");
}

TEST_F(QosPolicyOfFabric, AllCriteriaOfARuleHaveToHold) {
  resolve(
      "port-groups\nport-group\nname: A\nport-guid: 0x201\nend-port-group\nport-group\nname: B\n"
      "port-guid: 0x301\nend-port-group\nend-port-groups\n"
      "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\nqos-level\nname: L\nsl: 1\nend-qos-level\n"
      "end-qos-levels\nqos-match-rules\nqos-match-rule\nsource: A\ndestination: B, a\nqos-class: 7-9\n"
      "service-id: 5\npkey: 0x8012\nqos-level-name: L\nend-qos-match-rule\nend-qos-match-rules\n");
  const QosRequest all{.qos_class = std::uint16_t{8}, .service_id = 5U, .pkey = PKey{0x12}};

  EXPECT_EQ(sl(kOther, kThirdHost, all), 1);
  EXPECT_EQ(sl(kOther, kOther, all), 1) << "one of several groups";
  EXPECT_EQ(sl(kThirdHost, kOther, all), 0) << "not in the other direction";
  EXPECT_EQ(sl(kHost, kThirdHost, all), 0);
  for (int without = 0; without < 3; ++without) {
    auto request = all;
    if (without == 0) request.qos_class.reset();
    if (without == 1) request.service_id.reset();
    if (without == 2) request.pkey.reset();
    EXPECT_EQ(sl(kOther, kThirdHost, request), 0) << "what the request does not say does not match";
  }
  EXPECT_EQ(sl(kOther, kThirdHost, {.qos_class = std::uint16_t{10}, .service_id = 5U, .pkey = PKey{0x12}}),
            0);
}

TEST_F(QosPolicyOfFabric, RulesComeBeforeProtocolsAndTheFirstCounts) {
  resolve(
      "qos-ulps\nany, service-id 1-9 : 3\nany, source-port-guid 0x101 : 4\nany, pkey 2 : 6\ndefault : 5\n"
      "end-qos-ulps\n"
      "qos-levels\nqos-level\nname: L\nsl: 1\nend-qos-level\nend-qos-levels\n"
      "qos-match-rules\nqos-match-rule\nservice-id: 2\nqos-level-name: L\nend-qos-match-rule\n"
      "qos-match-rule\nservice-id: 2-3\nqos-class: 1\nqos-level-name: l\nend-qos-match-rule\n"
      "end-qos-match-rules\n");

  EXPECT_EQ(sl(kOther, kHost, {.service_id = 2U}), 1);
  EXPECT_EQ(sl(kOther, kHost, {.service_id = 3U}), 3);
  EXPECT_EQ(sl(kOther, kHost, {.qos_class = std::uint16_t{1}, .service_id = 3U}), 1);
  EXPECT_EQ(sl(kHost, kOther, {}), 4);
  EXPECT_EQ(sl(kOther, kHost, {.pkey = PKey{0x8002}}), 6);
  EXPECT_EQ(sl(kOther, kHost, {}), 5);
}

TEST_F(QosPolicyOfFabric, APartitionThatIpoibCannotUseIsNamed) {
  config_.partition = {test::partition("Blue", 0x12, {"h1"}, {"r"})};
  resolve("qos-ulps\ndefault : 0\nipoib, pkey 0x12 : 1\nipoib, pkey 0x13 : 1\nend-qos-ulps\n");

  EXPECT_THAT(
      waiting(),
      ElementsAre(
          "3: ipoib, pkey 0x0012: the partition has less than two full members; opensm refuses the file",
          "4: ipoib, pkey 0x0013: there is no such partition; opensm refuses the file"));
  EXPECT_EQ(sl(kOther, kHost, {.pkey = PKey{0x12}}), 1) << "the rule counts all the same";
}

/// Rules one by one, as OpenSM's documentation tells it.
TEST(QosMatcher, FindsWhatALookAtEachRuleFinds) {
  std::mt19937 random(7);
  const auto below = [&](unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random);
  };
  const auto ranges = [&](bool given) {
    config::QosRanges found;
    if (given) found.push_back({below(4), 4 + below(4)});
    return found;
  };
  for (int round = 0; round < 200; ++round) {
    constexpr unsigned kClasses = 5;
    const auto count = below(200);
    std::vector<QosMatcher::Rule> rules;
    std::vector<QosTerms> terms;
    std::vector<std::array<bool, kClasses>> source(count), target(count);
    for (unsigned i = 0; i < count; ++i) {
      rules.push_back({.qos_classes = ranges(below(3) == 0),
                       .service_ids = ranges(below(3) == 0),
                       .pkeys = ranges(below(3) == 0),
                       .no_service = below(8) == 0,
                       .terms = i});
      if (rules.back().no_service) rules.back().service_ids.clear();
      terms.push_back({.packet_life = static_cast<std::uint8_t>(i)});
    }
    QosMatcher matcher(rules, terms, std::nullopt, kClasses);
    for (unsigned i = 0; i < count; ++i) {
      for (unsigned c = 0; c < kClasses; ++c) {
        source[i][c] = below(3) != 0;
        target[i][c] = below(3) != 0;
        if (!source[i][c]) matcher.exclude_source(i, c);
        if (!target[i][c]) matcher.exclude_target(i, c);
      }
    }
    for (int query = 0; query < 50; ++query) {
      QosRequest request;
      if (below(2) == 0) request.qos_class = static_cast<std::uint16_t>(below(10));
      if (below(2) == 0) request.service_id = below(10);
      if (below(2) == 0) request.pkey = PKey{static_cast<std::uint16_t>(0x8000 | below(10))};
      const auto from = below(kClasses), to = below(kClasses);
      std::optional<unsigned> first;
      for (unsigned i = 0; i < count && !first; ++i) {
        const auto& rule = rules[i];
        const auto good = [](const config::QosRanges& allowed, auto value) {
          return allowed.empty() || (value && config::holds(allowed, *value));
        };
        const auto key = request.pkey ? std::optional(request.pkey->partition()) : std::nullopt;
        if (source[i][from] && target[i][to] && good(rule.qos_classes, request.qos_class) &&
            good(rule.service_ids, request.service_id) && !(rule.no_service && request.service_id) &&
            good(rule.pkeys, key))
          first = i;
      }
      const auto* found = matcher.match(from, to, request);
      ASSERT_EQ(found != nullptr, first.has_value());
      if (found != nullptr) ASSERT_EQ(*found->packet_life, static_cast<std::uint8_t>(*first));
    }
  }
}

}  // namespace
}  // namespace smd::sm
