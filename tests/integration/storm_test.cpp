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

constexpr Lid kStormGroup{0xC001};

/// Every other host is a member of the group.
std::shared_ptr<const sm::GroupList> half_of(const base::Fabric& fabric, const sm::Subnet& subnet) {
  sm::GroupMembers group{.mlid = kStormGroup, .members = {}};
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
    const auto spread = sim::spread(state, from, kStormGroup);
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

/// A fabric with a manager and a multicast group, on which storms break one after another.
class Stormy {
 public:
  explicit Stormy(const std::string& spec) : fabric_(test::spec(spec)), world_(fabric_, world_options()) {
    smd_.emplace(world_, config::SubnetConfig{});
    smd_->on_sweep(
        [this](const sm::Snapshot& now) { sweeps_.emplace_back(world_.now(), now.summary.state); });
    group_.emplace(world_.io().get_executor());
    group_->spawn((*smd_)->run());
    world_.run_for(std::chrono::seconds(2));
    const auto groups = half_of(fabric_, *smd_->last().subnet);
    (*smd_)->requests().set_groups([groups] { return groups; });
    world_.run_for(std::chrono::seconds(10));
    EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up);
    for (const auto& member : groups->front().members) members_.push_back(*port_with(world_, member.port));
    for (const auto& node : fabric_.nodes) {
      for (std::size_t p = 1; p < node.ports.size(); ++p) {
        const auto& peer = node.ports[p].peer;
        if (node.type != NodeType::switch_ || !peer || fabric_.nodes[peer->node].type != NodeType::switch_)
          continue;
        if (&fabric_.nodes[peer->node] > &node)
          cables_.push_back({node.name, PortNum{static_cast<std::uint8_t>(p)}});
      }
    }
  }
  ~Stormy() {
    if (std::getenv("SMD_SEED") != nullptr) {
      for (const auto& line : smd_->lines().all) std::printf("%s\n", line.c_str());
    }
    world_.run(group_->stop());
  }
  Stormy(const Stormy&) = delete;
  Stormy& operator=(const Stormy&) = delete;

  Storm play(std::uint64_t seed);
  /// All cables are plugged in again, and have trained.
  void mend();

 private:
  static sim::Options world_options() {
    auto options = sim::World::default_options();
    options.waits_for_training = false;
    return options;
  }
  mad::TimePoint break_loose(std::mt19937_64& chance, std::size_t events);
  void watch(mad::TimePoint last, Storm& storm);

  base::Fabric fabric_;
  sim::World world_;
  std::vector<std::pair<mad::TimePoint, sm::SweepState>> sweeps_;
  std::optional<Managed> smd_;
  std::optional<mad::TaskGroup> group_;
  std::vector<sim::PortIndex> members_;
  std::vector<sim::Place> cables_;
};

/// Schedules the events of a storm, and returns the time of the last.
mad::TimePoint Stormy::break_loose(std::mt19937_64& chance, std::size_t events) {
  const auto begin = world_.now();
  auto last = begin;
  for (std::size_t i = 0; i < events; ++i) {
    const auto& cable = cables_[chance() % cables_.size()];
    const auto at = begin + std::chrono::microseconds(chance() % 300'000);
    last = std::max(last, at);
    const bool mend = i % 4 == 3;  // every fourth event brings back what is down, if it is
    world_.at(at, [cable, mend](sim::Fabric& now) {
      if (mend) {
        now.faults().link_up(cable);
      } else {
        now.faults().link_down(cable);
      }
    });
  }
  return last;
}

Storm Stormy::play(std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  Storm storm;
  storm.events = 1 + chance() % 20;
  const auto waited = smd_->lines().count("routing.waits");
  const auto last = break_loose(chance, storm.events);
  world_.run_for(last - world_.now() + std::chrono::microseconds(1));
  sweeps_.clear();
  watch(last, storm);
  storm.lifetimes = smd_->lines().count("routing.waits") - waited;
  return storm;
}

void Stormy::watch(mad::TimePoint last, Storm& storm) {
  const auto sm = *world_.fabric().default_port();
  const auto note = [](milliseconds& settled, std::size_t lost, milliseconds after) {
    if (lost != 0) {
      settled = milliseconds(-1);
    } else if (settled < milliseconds(0)) {
      settled = after;
    }
  };
  milliseconds worst{0}, worst_of_members{0}, after{0};
  auto up = links_up(world_.fabric().state());
  // Cables that were mended train meanwhile: each that comes up is an event, too.
  const auto trained = last + world_options().training.longest;
  for (auto since = world_.now(); after <= kLongest; world_.run_for(kStep)) {
    if (const auto now_up = links_up(world_.fabric().state()); std::exchange(up, now_up) != now_up) {
      since = world_.now();
      worst = std::max(worst, std::exchange(storm.settled, milliseconds(-1)));
      worst_of_members = std::max(worst_of_members, std::exchange(storm.members_settled, milliseconds(-1)));
    }
    after = std::chrono::duration_cast<milliseconds>(world_.now() - since);
    const auto settled = std::max(storm.settled, storm.members_settled);
    const bool quiet =
        std::min(storm.settled, storm.members_settled) >= milliseconds(0) && after > settled + kQuiet;
    if (quiet && world_.now() > trained) break;
    if (quiet) {  // nothing happens before the next link has trained
      since += kStep;
      continue;
    }
    const auto lost = unreachable(world_.fabric().state(), sm);
    const auto deaf = unheard(world_.fabric().state(), sm, members_);
    storm.most_lost = std::max(storm.most_lost, lost);
    note(storm.settled, lost, after);
    note(storm.members_settled, deaf, after);
    for (const auto& [time, state] : sweeps_)
      storm.early +=
          state == sm::SweepState::up && lost + deaf != 0 && world_.now() - time <= kStep ? 1U : 0U;
  }
  if (storm.settled >= milliseconds(0)) storm.settled = std::max(storm.settled, worst);
  if (storm.members_settled >= milliseconds(0))
    storm.members_settled = std::max(storm.members_settled, worst_of_members);
}

void Stormy::mend() {
  world_.at(world_.now() + milliseconds(1), [this](sim::Fabric& now) {
    for (const auto& cable : cables_) now.faults().link_up(cable);
  });
  world_.run_for(world_options().training.longest + std::chrono::seconds(5));
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
    const auto storm = Stormy(GetParam()).play(seed);
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

/// The tables that one storm leaves are those that the next one finds.
TEST_P(Storms, OneAfterAnotherLeaveNoPairUnreachableForLongerThanTheFirst) {
  const auto count = number_of("SMD_STORMS", 12);
  const auto first = number_of("SMD_SEED", 1);
  Stormy stormy(GetParam());
  std::size_t late = 0;
  for (auto seed = first; seed < first + count; ++seed) {
    const auto storm = stormy.play(seed);
    std::printf("   %s seed %llu: %zu events, settled after %lld ms, members %lld, %llu lifetimes\n",
                GetParam(), static_cast<unsigned long long>(seed), storm.events,
                static_cast<long long>(storm.settled.count()),
                static_cast<long long>(storm.members_settled.count()),
                static_cast<unsigned long long>(storm.lifetimes));
    const auto limit = kGoal + (storm.lifetimes != 0 ? kLifetime : milliseconds(0));
    const auto settled = std::max(storm.settled, storm.members_settled);
    if (std::min(storm.settled, storm.members_settled) < milliseconds(0) || settled > limit) ++late;
    stormy.mend();
  }
  EXPECT_EQ(late, 0U);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Storms, testing::Values("ft3:8", "dragonfly:4:2:2", "torus:4x4x4:2"));

}  // namespace
}  // namespace smd
