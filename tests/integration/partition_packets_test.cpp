// SPDX-License-Identifier: Apache-2.0
// Which packets pass by what partitions and switches say, and that those of members go on passing while
// others change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "mad/sim/packets/walk.h"
#include "smd/policy/edits.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using test::Managed;

sim::PortIndex host_port(const sim::Fabric& fabric, std::string_view host) {
  const auto& state = fabric.state();
  return state.index(state.nodes[*sim::find_node(state, host)], 1);
}

sim::Walk way(const sim::Fabric& fabric, std::string_view from, std::string_view to, PKey key) {
  const auto& state = fabric.state();
  return sim::walk(state, host_port(fabric, from), state.ports[host_port(fabric, to)].info.lid, Sl{0}, key);
}

constexpr PKey kBlueFull{0x8012}, kBlueLimited{0x12};

/// h00001 and h00002 are full members, h00003 and h00004 limited ones, h00005 and h00006 none.
class PartitionPackets : public testing::TestWithParam<config::Enforcement> {
 protected:
  PartitionPackets() {
    auto config =
        test::with_partitions({test::partition("blue", 0x12, {"h00001", "h00002"}, {"h00003", "h00004"})});
    config.partitions.enforcement = GetParam();
    smd_.emplace(world_, config);
    group_.spawn((*smd_)->run());
    world_.run_for(std::chrono::seconds(3));
  }
  ~PartitionPackets() override { world_.run(group_.stop()); }
  static std::optional<PKey> key_of(unsigned host) {
    return host <= 2 ? std::optional(kBlueFull) : host <= 4 ? std::optional(kBlueLimited) : std::nullopt;
  }
  static std::string name(unsigned host) { return fmt::format("h{:05}", host); }
  sim::Walk send(std::string_view from, std::string_view to, PKey key) {
    auto& fabric = world_.fabric();
    const auto lid = fabric.state().ports[host_port(fabric, to)].info.lid;
    return fabric.send_data({std::string(from), PortNum{1}}, {.dlid = lid, .pkey = key});
  }
  bool checks_in() const {
    return GetParam() == config::Enforcement::both || GetParam() == config::Enforcement::in;
  }

  sim::World world_{test::spec("ft2:4")};
  mad::TaskGroup group_{world_.io().get_executor()};
  std::optional<Managed> smd_;
};

TEST_P(PartitionPackets, TwoMembersOfWhomOneIsFullCanTalk) {
  std::size_t delivered = 0;
  for (unsigned from = 1; from <= 6; ++from) {
    for (unsigned to = 1; to <= 6; ++to) {
      if (from == to) continue;
      const auto ours = key_of(from), theirs = key_of(to);
      const bool allowed = ours && theirs && (*ours == kBlueFull || *theirs == kBlueFull);
      const auto found = way(world_.fabric(), name(from), name(to), ours.value_or(kBlueFull));
      EXPECT_EQ(found.delivered(), allowed) << to_string(world_.fabric().state(), found);
      if (found.delivered()) ++delivered;
      EXPECT_TRUE(way(world_.fabric(), name(from), "h00000", PKey{0x7fff}).delivered())
          << "the SM reaches all";
    }
  }
  EXPECT_EQ(delivered, 10U);
}

/// A host that takes a key by itself is stopped by the switch before it, where packets from hosts are
/// checked: trap 259.
TEST_P(PartitionPackets, AStolenKeyIsStoppedWherePacketsFromHostsAreChecked) {
  ASSERT_TRUE(world_.fabric().faults().set_p_key({"h00005", PortNum{1}}, 1, kBlueFull));
  const auto found = send("h00005", "h00001", kBlueFull);
  EXPECT_EQ(found.delivered(), !checks_in()) << to_string(world_.fabric().state(), found);
  world_.run_for(std::chrono::seconds(1));
  EXPECT_EQ(smd_->lines().count("trap=259"), checks_in() ? 1U : 0U);
}

/// A key that the receiver has not: the switch before it stops the packet where packets to hosts are checked,
/// else the receiver does (trap 257). Each is counted.
TEST_P(PartitionPackets, AKeyThatTheReceiverHasNotIsCounted) {
  const bool checks_out = GetParam() == config::Enforcement::both || GetParam() == config::Enforcement::out;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(send("h00001", "h00005", kBlueFull).delivered());
  world_.run_for(std::chrono::seconds(1));
  EXPECT_EQ(smd_->lines().count("trap=259"), checks_out ? 1U : 0U);
  EXPECT_EQ(smd_->lines().count("trap=257"), checks_out ? 0U : 1U);
  EXPECT_EQ(smd_->lines().count("share=0xffff"), 0U) << "both are limited members of the default partition";
}

INSTANTIATE_TEST_SUITE_P(Modes, PartitionPackets,
                         testing::Values(config::Enforcement::both, config::Enforcement::in,
                                         config::Enforcement::out, config::Enforcement::off));

/// Members of other partitions come and go by the API and by the file: after each Set that a node does, all
/// packets between 50 pairs of members that stay arrive. SMD_LONG: 1,000 changes.
TEST(PartitionStreams, LoseNothingWhileOthersChange) {
  sim::World world(test::spec("ft2:8"));
  std::vector<std::string> hosts;
  for (const auto& node : world.fabric().state().nodes) {
    if (!node.is_switch()) hosts.push_back(node.name);
  }
  std::mt19937 chance(11);
  const auto any = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(chance);
  };
  const auto rule = [&](config::Membership membership) {
    config::MemberRule made{.membership = membership};
    made.ports.terms = {*config::parse_port_term(hosts[any(hosts.size())])};
    made.index0 = any(8) == 0;
    return made;
  };
  auto config =
      test::with_partitions({test::partition("stays", 0x500, {"h0*"}), test::partition("filed", 0x501, {})});
  Managed smd(world, config);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(smd->run());
  world.run_for(std::chrono::seconds(3));

  std::vector<std::pair<std::string, std::string>> pairs;
  while (pairs.size() < 50) {
    const auto &from = hosts[any(hosts.size())], &to = hosts[any(hosts.size())];
    if (from != to) pairs.emplace_back(from, to);
  }
  std::size_t checked = 0, lost = 0;
  const auto look = [&](const sim::DoneSet&) {
    for (const auto& [from, to] : pairs) {
      ++checked;
      if (!way(world.fabric(), from, to, PKey{0x8500}).delivered()) ++lost;
    }
  };
  world.fabric().watch_sets(look);
  look({});
  ASSERT_EQ(lost, 0U);
  auto policies = std::make_shared<const policy::Policies>();
  const std::size_t changes = std::getenv("SMD_LONG") != nullptr ? 1000 : 100;
  for (std::size_t i = 0; i < changes; ++i) {
    const auto files = policy::sources_of(config);
    const auto merged = policy::merged_policy(config, *policies);
    ASSERT_TRUE(merged);
    const auto context = [&] { return policy::EditContext{files, *policies, *merged}; };
    const auto name = fmt::format("api{}", any(6));
    if (any(4) == 0) {
      auto& filed = config.partition[1].limited;
      if (filed.size() > 5 || (!filed.empty() && any(2) == 0)) {
        filed.erase(filed.begin());
      } else {
        filed.push_back(*config::parse_port_term(hosts[any(hosts.size())]));
      }
      smd->requests().reload(config);
    } else {
      auto edited =
          any(5) == 0
              ? policy::put_partition(context(), {.name = name, .members = {rule(config::Membership::full)}})
              : policy::add_members(context(), name, {rule(static_cast<config::Membership>(any(2)))});
      if (any(6) == 0) edited = policy::erase_partition(context(), name);
      if (!edited) continue;
      policies = edited->policies;
      smd->requests().set_policies(policies);
    }
    world.run_for(std::chrono::milliseconds(i % 3 == 0 ? 1 : 50));
    ASSERT_EQ(lost, 0U) << "change " << i;
  }
  EXPECT_GT(checked, 50U * 50U);
  EXPECT_EQ(smd.last().summary.sets_failed, 0U);
  world.run(group.stop());
}

}  // namespace
}  // namespace smd
