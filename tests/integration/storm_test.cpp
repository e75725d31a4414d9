// SPDX-License-Identifier: Apache-2.0
// Bursts of cable cuts: how long hosts stay unreachable, by the tables that the switches hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/sim/packets/reach.h"
#include "mad/sim/packets/walk.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using test::Managed;

/// Pairs of hosts in the SM's part of the fabric that cannot reach each other.
std::size_t unreachable(const sim::State& state, sim::PortIndex sm) {
  const auto found = sim::reach(state, sim::joined_to(state, sm), 0);
  return found.pairs - found.delivered;
}

constexpr Lid kGroup{0xC001};

/// Every other host is a member of the group.
std::shared_ptr<const sm::GroupList> half_of(const base::Fabric& fabric, const sm::Subnet& subnet) {
  sm::GroupMembers group{.mlid = kGroup, .members = {}};
  bool member = false;
  for (const auto& node : subnet.nodes) {
    member = !node->is_switch() && !member;
    if (member) group.members.push_back({node->ports[1].guid, true});
  }
  EXPECT_LT(group.members.size(), fabric.nodes.size());
  return std::make_shared<const sm::GroupList>(sm::GroupList{std::move(group)});
}

/// Pairs of members in the SM's part of the fabric of which one does not hear the other.
std::size_t unheard(const sim::State& state, sim::PortIndex sm, const std::vector<sim::PortIndex>& members) {
  std::vector<sim::PortIndex> there;
  for (const auto port : sim::joined_to(state, sm)) {
    if (std::ranges::find(members, port) != members.end()) there.push_back(port);
  }
  std::size_t lost = 0;
  for (const auto from : there) {
    const auto spread = sim::spread(state, from, kGroup);
    EXPECT_FALSE(spread.twice) << "a switch sees a multicast packet twice";
    for (const auto to : there)
      lost += to == from || std::ranges::binary_search(spread.reached, to) ? 0U : 1U;
  }
  return lost;
}

std::optional<sim::PortIndex> port_with(sim::World& world, Guid guid) {
  const auto& ports = world.fabric().state().ports;
  for (sim::PortIndex i = 0; i < ports.size(); ++i) {
    if (ports[i].guid == guid && !world.fabric().state().node_of(i).is_switch()) return i;
  }
  return std::nullopt;
}

struct Storm {
  std::size_t events = 0;
  std::size_t most_lost = 0;  ///< pairs, at once
  /// After the last event, or a link that has trained since, until all pairs reach each other for good; -1:
  /// never.
  milliseconds settled{-1};
  milliseconds members_settled{-1};  ///< the same for the members of a multicast group
  std::size_t early = 0;        ///< sweeps after the last event that said 'up' while pairs were unreachable
  std::uint64_t lifetimes = 0;  ///< packet lifetimes that rounds of tables waited for: no safe order without
};

constexpr milliseconds kStep{10}, kLongest{30'000}, kLifetime{1'074}, kGoal{500}, kQuiet{1'500};

std::size_t links_up(const sim::State& state) {
  return static_cast<std::size_t>(
      std::ranges::count_if(state.ports, [](const sim::Port& port) { return port.link_up(); }));
}

Storm play(const std::string& spec, std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  const auto fabric = test::spec(spec);
  auto made_with = sim::World::default_options();
  made_with.waits_for_training = false;
  sim::World world(fabric, made_with);
  std::vector<std::pair<mad::TimePoint, sm::SweepState>> sweeps;
  sm::ManagerOptions options;
  options.on_sweep = [&](const sm::Snapshot& now) { sweeps.emplace_back(world.now(), now.summary.state); };
  Managed smd(world, {}, options);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(smd->run());
  world.run_for(std::chrono::seconds(2));
  const auto groups = half_of(fabric, *smd.last().subnet);
  smd->set_groups([groups] { return groups; });
  world.run_for(std::chrono::seconds(10));
  EXPECT_EQ(smd.last().summary.state, sm::SweepState::up);
  std::vector<sim::PortIndex> members;
  for (const auto& member : groups->front().members) members.push_back(*port_with(world, member.port));

  std::vector<sim::Place> cables;
  for (const auto& node : fabric.nodes) {
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto& peer = node.ports[p].peer;
      if (node.type != NodeType::switch_ || !peer || fabric.nodes[peer->node].type != NodeType::switch_)
        continue;
      if (&fabric.nodes[peer->node] > &node)
        cables.push_back({node.name, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  Storm storm;
  storm.events = 1 + chance() % 20;
  const auto begin = world.now();
  auto last = begin;
  for (std::size_t i = 0; i < storm.events; ++i) {
    const auto& cable = cables[chance() % cables.size()];
    const auto at = begin + std::chrono::microseconds(chance() % 300'000);
    last = std::max(last, at);
    const bool mend = i % 4 == 3;  // every fourth event brings back what is down, if it is
    world.at(at, [cable, mend](sim::Fabric& now) {
      if (mend) {
        now.faults().link_up(cable);
      } else {
        now.faults().link_down(cable);
      }
    });
  }
  const auto sm = *world.fabric().default_port();
  world.run_for(last - begin + std::chrono::microseconds(1));
  const auto note = [](milliseconds& settled, std::size_t lost, milliseconds after) {
    if (lost != 0) {
      settled = milliseconds(-1);
    } else if (settled < milliseconds(0)) {
      settled = after;
    }
  };
  sweeps.clear();
  milliseconds worst{0}, worst_of_members{0}, after{0};
  auto up = links_up(world.fabric().state());
  // Cables that were mended train meanwhile: each that comes up is an event, too.
  const auto trained = last + made_with.training.longest;
  for (auto since = world.now(); after <= kLongest; world.run_for(kStep)) {
    if (const auto now_up = links_up(world.fabric().state()); std::exchange(up, now_up) != now_up) {
      since = world.now();
      worst = std::max(worst, std::exchange(storm.settled, milliseconds(-1)));
      worst_of_members = std::max(worst_of_members, std::exchange(storm.members_settled, milliseconds(-1)));
    }
    after = std::chrono::duration_cast<milliseconds>(world.now() - since);
    const auto settled = std::max(storm.settled, storm.members_settled);
    const bool quiet =
        std::min(storm.settled, storm.members_settled) >= milliseconds(0) && after > settled + kQuiet;
    if (quiet && world.now() > trained) break;
    if (quiet) {  // nothing happens before the next link has trained
      since += kStep;
      continue;
    }
    const auto lost = unreachable(world.fabric().state(), sm);
    const auto deaf = unheard(world.fabric().state(), sm, members);
    storm.most_lost = std::max(storm.most_lost, lost);
    note(storm.settled, lost, after);
    note(storm.members_settled, deaf, after);
    for (const auto& [time, state] : sweeps)
      storm.early += state == sm::SweepState::up && lost + deaf != 0 && world.now() - time <= kStep ? 1U : 0U;
  }
  if (storm.settled >= milliseconds(0)) storm.settled = std::max(storm.settled, worst);
  if (storm.members_settled >= milliseconds(0))
    storm.members_settled = std::max(storm.members_settled, worst_of_members);
  if (std::getenv("SMD_SEED") != nullptr) {
    for (const auto& line : smd.lines().all) std::printf("%s\n", line.c_str());
  }
  storm.lifetimes = smd.lines().count("routing.waits");
  world.run(group.stop());
  return storm;
}

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

class Storms : public testing::TestWithParam<const char*> {};

TEST_P(Storms, LeaveNoPairOfHostsUnreachableForHalfASecond) {
  const auto first = number_of("SMD_SEED", 1);
  const auto count = number_of("SMD_STORMS", std::getenv("SMD_SEED") != nullptr ? 1 : 12);
  std::vector<std::int64_t> times;
  std::size_t late = 0, waited = 0, early = 0;
  for (auto seed = first; seed < first + count; ++seed) {
    const auto storm = play(GetParam(), seed);
    times.push_back(std::max(storm.settled, storm.members_settled).count());
    early += storm.early;
    waited += storm.lifetimes != 0 ? 1U : 0U;
    const auto limit = kGoal + (storm.lifetimes != 0 ? kLifetime : milliseconds(0));
    const bool done = storm.settled >= milliseconds(0) && storm.members_settled >= milliseconds(0);
    if (done && storm.settled <= limit && storm.members_settled <= limit) continue;
    ++late;
    std::printf(
        "   %s seed %llu: %zu events, %zu pairs lost, settled after %lld ms, members %lld, %llu lifetimes\n",
        GetParam(), static_cast<unsigned long long>(seed), storm.events, storm.most_lost,
        static_cast<long long>(storm.settled.count()), static_cast<long long>(storm.members_settled.count()),
        static_cast<unsigned long long>(storm.lifetimes));
  }
  std::ranges::sort(times);
  std::printf(
      "   %s: %zu storms, settled after (ms): median %lld, worst %lld; %zu waited for a packet lifetime; "
      "'up' too early: %zu\n",
      GetParam(), times.size(), static_cast<long long>(times[times.size() / 2]),
      static_cast<long long>(times.back()), waited, early);
  EXPECT_EQ(late, 0U);
  EXPECT_EQ(early, 0U);
  if (std::string_view(GetParam()).starts_with("ft")) EXPECT_LE(waited * 20, times.size());
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Storms, testing::Values("ft3:8", "dragonfly:4:2:2", "torus:4x4x4:2"));

}  // namespace
}  // namespace smd
