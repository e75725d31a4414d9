// SPDX-License-Identifier: Apache-2.0
// A kernel that sends 128 requests of a subnet manager at once and keeps the others unsent (Linux since
// 2025).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/support/managed_world.h"

namespace smd {
namespace {

using std::chrono::seconds;
using test::Managed;

constexpr double kLifeMs = 200.0 * (3 + 1);  ///< mad.timeout * (mad.retries + 1)

sim::Options kernel_of(const sim::FlowControlPlaces& places) {
  auto options = sim::World::default_options();
  options.kernel = places;
  return options;
}
sim::Options with_kernel() { return kernel_of(sim::kLinuxPlaces); }

/// 30 switches and 200 hosts, some of which say nothing at all.
class TwoHundred : public testing::Test {
 protected:
  static constexpr std::size_t kHosts = 200;

  void silence(std::size_t hosts) {
    std::mt19937_64 chance(7);
    std::vector<std::size_t> all(kHosts);
    for (std::size_t i = 0; i < kHosts; ++i) all[i] = i;
    std::shuffle(all.begin() + 1, all.end(), chance);  // the first is ours
    for (std::size_t i = 0; i < hosts; ++i)
      ASSERT_TRUE(world_.fabric().faults().silent(fmt::format("h{:05}", all[i + 1])));
  }
  sim::World world_{test::spec("ft2:20"), with_kernel()};
};

sm::SweepSummary bring_up_with(const std::string& spec, const sim::Options& options) {
  sim::World world(test::spec(spec), options);
  Managed manager(world, {}, test::once());
  world.run(manager->run());
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  EXPECT_EQ(manager.last().summary.timeouts, 0U);
  return manager.last().summary;
}
double bring_up_ms(const sim::Options& options) { return bring_up_with("ft2:20", options).total_ms; }

TEST_F(TwoHundred, SixtyThatAreSilentFromTheStartHideNoOther) {
  silence(60);
  Managed manager(world_, {}, test::once());
  world_.run(manager->run());
  const auto& summary = manager.last().summary;
  EXPECT_EQ(summary.unresponsive, 60U);
  EXPECT_EQ(summary.cas, kHosts - 60);
  EXPECT_LE(summary.total_ms, bring_up_ms(with_kernel()) + 1.5 * kLifeMs);
  std::printf("   60 of 200 hosts silent: %.0f ms, %zu unresponsive\n", summary.total_ms,
              static_cast<std::size_t>(summary.unresponsive));
}

TEST_F(TwoHundred, SixtyThatFallSilentHideNoOther) {
  config::SubnetConfig config;
  config.sweep.interval = seconds(0);
  Managed manager(world_, config);
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(manager->run());
  world_.run_for(seconds(5));
  ASSERT_EQ(manager.last().summary.state, sm::SweepState::up);
  silence(60);
  manager->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(seconds(10));
  const auto& summary = manager.last().summary;
  EXPECT_EQ(summary.unresponsive, 60U);
  EXPECT_LE(summary.total_ms, bring_up_ms(with_kernel()) + 1.5 * kLifeMs);
  std::printf("   60 of 200 hosts fell silent: %.0f ms, %zu unresponsive\n", summary.total_ms,
              static_cast<std::size_t>(summary.unresponsive));
  world_.run(group.stop());
}

/// Beside 256 at once, which a kernel before 2025 has room for.
TEST(KernelWindow, ABringUpTakesAsManySmpsAndNoLongerThanWithoutFlowControl) {
  for (const auto* spec : {"ft2:20", "ft3:8", "dragonfly:4:2:2", "torus:4x4x4:2"}) {
    for (const auto service : {std::chrono::microseconds(10), std::chrono::microseconds(100)}) {
      auto of_256 = kernel_of({}), of_112 = with_kernel();
      of_256.latency.service = of_112.latency.service = service;
      const auto without = bring_up_with(spec, of_256), with = bring_up_with(spec, of_112);
      std::printf("   %s, %lld us a node: 256 at once %llu SMPs, %.1f ms; 112 at once %llu SMPs, %.1f ms\n",
                  spec, static_cast<long long>(service.count()),
                  static_cast<unsigned long long>(without.smps_get + without.smps_set), without.total_ms,
                  static_cast<unsigned long long>(with.smps_get + with.smps_set), with.total_ms);
      EXPECT_LE(with.total_ms, without.total_ms * 1.5 + 1) << spec;
      EXPECT_LE(with.smps_get + with.smps_set, (without.smps_get + without.smps_set) * 51 / 50) << spec;
    }
  }
}

}  // namespace
}  // namespace smd
