// SPDX-License-Identifier: Apache-2.0
// Random sequences of what may happen to three SMs of one fabric: whenever they have come to rest there is
// one master, and all ports belong to it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "tests/support/sm_site.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::SmSite;

constexpr std::array kHosts{"h00000", "h00003", "h00005"};

class Sequence {
 public:
  explicit Sequence(unsigned seed) : random_(seed) {
    for (const auto* host : kHosts) start(host);
    rest();
  }
  void play(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      one_step();
      if (draw(3) == 0) one_step();  // two things at once
      rest();
      check();
    }
  }

 private:
  unsigned draw(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }
  void say(const std::string& what) { said_ += what + "; "; }
  void start(const std::string& host) {
    config::SubnetConfig config;
    config.sm.priority = static_cast<std::uint8_t>(draw(4));
    if (draw(3) == 0) config.ha.quiet = seconds(20);
    if (draw(4) == 0) config.sm.master_priority = 7;
    say(fmt::format("start {} priority {}", host, config.sm.priority));
    site_.start(host, config);
  }
  void one_step() {
    const std::string host = kHosts[draw(kHosts.size())];
    if (!site_.runs(host)) return start(host);
    switch (draw(6)) {
      case 0:
        if (site_.hosts().size() == 1) return;
        say("kill " + host);
        return site_.kill(host);
      case 1:
        if (site_.hosts().size() == 1) return;
        say("leave " + host);
        return site_.leave(host);
      case 2: {
        const auto priority = static_cast<std::uint8_t>(draw(10));
        say(fmt::format("priority {} {}", host, priority));
        return site_[host]->set_priority(priority);
      }
      case 3:
        say("handover " + host);
        site_[host]->hand_over(std::nullopt);  // only the master does
        return;
      case 4:
        say("cut " + host);
        site_.world.fabric().faults().link_down({host, PortNum{1}});
        site_.world.run_for(seconds(4));
        site_.world.fabric().faults().link_up({host, PortNum{1}});
        return;
      default:
        say("resweep " + host);
        return site_[host]->requests().resweep(sm::Resweep::heavy, "test");
    }
  }
  /// Longer than quiet times, patience with a HANDOVER, and some light sweeps.
  void rest() { site_.world.run_for(seconds(80)); }

  void check() {
    const auto masters = site_.masters();
    ASSERT_EQ(masters.size(), 1U) << said_ << '\n' << site_.story();
    const auto& now = site_[masters.front()].last();
    EXPECT_EQ(now.summary.state, sm::SweepState::up) << said_ << now.summary.why << '\n' << site_.story();
    for (const auto& node : now.subnet->nodes) {
      for (const auto& port : node->ports) {
        if (port.known && port.linked() && !node->is_switch())
          EXPECT_EQ(port.info.sm_lid, now.summary.sm_lid) << said_;
      }
    }
    for (const auto& host : site_.hosts()) {
      if (host == masters.front()) continue;
      EXPECT_EQ(site_.state(host), wire::SmState::standby) << said_ << host << '\n' << site_.story();
    }
  }

  std::mt19937 random_;
  SmSite site_{"ft2:4"};
  std::string said_;
};

TEST(SmSequences, WheneverTheyHaveComeToRestThereIsOneMaster) {
  // SMD_COUNT: a build on which everything takes ten times as long.
  const unsigned few = std::getenv("SMD_COUNT") != nullptr ? 10 : 50;
  const unsigned seeds = std::getenv("SMD_LONG") != nullptr ? 1000 : few;
  for (unsigned seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Sequence(seed).play(5);
  }
}

}  // namespace
}  // namespace smd
