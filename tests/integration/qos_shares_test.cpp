// SPDX-License-Identifier: Apache-2.0
// The shares that decide/qos_shares computes beside those that packets get, one by one, by the tables that
// smd wrote.
#include "smd/decide/qos_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/sim/arbitration/arbitration.h"
#include "smd/decide/qos_kinds.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using config::PortClass;
using test::Managed;

constexpr std::uint32_t kPayload = 2048, kPacket = kPayload + 26;
constexpr std::uint64_t kPackets = 300'000;

struct Weights {
  const char* name;
  config::ArbitrationList high, low;
  std::uint8_t limit = 0;
  std::vector<std::uint8_t> sls{0, 1, 2};
};

config::ArbitrationList list(std::vector<std::pair<unsigned, unsigned>> entries) {
  config::ArbitrationList made;
  for (const auto& [vl, weight] : entries)
    made.push_back({Vl{static_cast<std::uint8_t>(vl)}, static_cast<std::uint8_t>(weight)});
  return made;
}

/// Three senders a class, and the port that all packets pass last.
struct Where {
  const char* name;
  std::vector<const char*> senders;
  sim::Place shared;
  PortClass of;
};

const std::vector<Where> kPlaces{
    {"link", {"h00004", "h00004", "h00004"}, {"h00004", PortNum{1}}, PortClass::ca},
    {"leaf", {"h00001", "h00002", "h00003"}, {"leaf000", PortNum{1}}, PortClass::switch_external},
    {"tree", {"h00004", "h00008", "h00012"}, {"leaf000", PortNum{1}}, PortClass::switch_external},
};

const std::vector<Weights> kWeights{
    {"low alone", {}, list({{0, 64}, {1, 128}, {2, 192}})},
    {"less than a packet", {}, list({{0, 1}, {1, 2}, {2, 64}})},
    {"high, a packet at a time", list({{2, 64}}), list({{0, 64}, {1, 192}})},
    {"high, 24 KiB", list({{2, 255}}), list({{0, 64}, {1, 64}}), 6},
    {"two in high", list({{2, 64}, {1, 128}}), list({{0, 64}, {1, 64}}), 2},
    {"a VL in both", list({{2, 64}}), list({{0, 64}, {1, 64}, {2, 128}}), 1},
    {"an entry twice", {}, list({{0, 64}, {1, 64}, {0, 64}, {2, 32}})},
};

class QosShares : public testing::TestWithParam<Weights> {};

TEST_P(QosShares, AreThoseThatPacketsGet) {
  const auto& weights = GetParam();
  config::SubnetConfig config;
  config.qos.enabled = true;
  config.qos.all.vlarb_high = weights.high;
  config.qos.all.vlarb_low = weights.low;
  config.qos.all.high_limit = weights.limit;
  sim::World world(test::spec("ft2:8"));
  Managed manager(world, config, test::once());
  world.run(manager->run());

  const auto& state = world.fabric().state();
  const sim::Place receiver{"h00000", PortNum{1}};
  sm::VlSet busy;
  for (const auto sl : weights.sls) busy.set(sl);
  for (const auto& place : kPlaces) {
    const auto tables = sm::limited(sm::qos_kind(config.qos, place.of, nullptr),
                                    {.vls = 4, .maps_sls = true, .arbitrates = true, .low = 8, .high = 8});
    const auto computed = sm::vl_shares(tables, busy, kPacket);
    std::vector<sim::DataFlow> flows;
    for (const auto sl : weights.sls) {
      for (const auto* sender : place.senders) {
        auto flow = sim::flow_between(state, {sender, PortNum{1}}, receiver, Sl{sl});
        ASSERT_TRUE(flow);
        flow->payload = kPayload;
        flows.push_back(*flow);
      }
    }
    const auto result = sim::arbitrate(state, flows, {.packets = kPackets});
    for (const auto sl : weights.sls) {
      const auto got = sim::share_of(result, *sim::find_port(state, receiver), Sl{sl});
      EXPECT_NEAR(got, computed[sl], 0.05 * computed[sl])
          << weights.name << ", " << place.name << ", SL " << int{sl};
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfTables, QosShares, testing::ValuesIn(kWeights));

}  // namespace
}  // namespace smd
