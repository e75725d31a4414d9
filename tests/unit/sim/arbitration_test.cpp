// SPDX-License-Identifier: Apache-2.0
// Data packets by the tables that the ports of a fabric hold.
#include "mad/sim/arbitration/arbitration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "mad/base/random.h"
#include "mad/sim/arbitration/print.h"
#include "mad/sim/state/tables.h"
#include "tests/support/data_network.h"
#include "tests/support/routed_state.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

using sim::DataFlow;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr sim::SimulationSettings kSome{.packets = 20'000, .warm_up = 2000};

wire::VlArbitration block(Weights weights) {
  wire::VlArbitration table;
  std::ranges::copy(entries(weights), table.entries.begin());
  return table;
}

/// Of each sender to the receiver, sender i by SL i modulo `sls`.
std::vector<DataFlow> incast(const RoutedState& state, std::initializer_list<const char*> senders,
                             const char* receiver, unsigned sls) {
  std::vector<DataFlow> flows;
  for (const auto* sender : senders) {
    const Sl sl{static_cast<std::uint8_t>(flows.size() % sls)};
    flows.push_back(*sim::flow_between(state, sender, receiver, sl, kDefaultPKey));
  }
  return flows;
}

void expect_share(const sim::Arbitration& result, unsigned sl, double expected) {
  const auto receiver = result.receivers.front().receiver;
  EXPECT_NEAR(share_of(result, receiver, Sl{static_cast<std::uint8_t>(sl)}), expected, 0.05 * expected)
      << "SL " << sl;
}

TEST(Arbitration, ATreeSharesByTheTablesOfItsPorts) {
  RoutedState state("ft2:8");
  state.arbitrate(block({{0, 64}, {1, 128}, {2, 192}}), {}, 0);
  const auto flows = incast(
      state, {"h00004", "h00005", "h00006", "h00008", "h00009", "h00010", "h00012", "h00013", "h00014"},
      "h00000", 3);
  const auto result = arbitrate(state, flows, kSome);

  EXPECT_EQ(result.ending, sim::Ending::counted);
  expect_share(result, 0, 1.0 / 6);
  expect_share(result, 1, 2.0 / 6);
  expect_share(result, 2, 3.0 / 6);
  for (const auto& flow : result.flows) EXPECT_EQ(flow.way.end, state.port("h00000"));
  const auto last = std::ranges::find(result.links, state.port("leaf000", 1), &sim::LinkShare::out);
  EXPECT_GT(last->load, 0.99);
}

TEST(Arbitration, HighTableAndLimitAreThoseOfThePort) {
  RoutedState state("ft2:8");
  state.arbitrate(block({{0, 64}, {1, 64}}), block({{2, 255}}), 2);
  const auto flows = incast(state, {"h00001", "h00002", "h00003"}, "h00000", 3);

  expect_share(arbitrate(state, flows, kSome), 2, 4.0 / 5);  // two times 4 KB are four packets of 2,074 bytes
  state.at("leaf000", 1).info.vl_high_limit = 0;
  expect_share(arbitrate(state, flows, kSome), 2, 0.5);
  state.at("leaf000", 1).info.vl_arb_high_cap = 0;  // the table ends before its first entry
  EXPECT_LT(share_of(arbitrate(state, flows, kSome), state.port("h00000"), Sl{2}), 0.01);
}

TEST(Arbitration, EachHopHasTheVlOfItsPorts) {
  RoutedState state("ft2:8");
  const auto flow = DataFlow{.from = state.port("h00004"), .to = state.lid("h00000"), .sl = Sl{3}};
  const auto up = state.lid("h00000").value() % 4 + 5U;  // port of leaf001 towards the spine
  sim::set_sl_to_vl_row(*state, state.port("leaf001", up), PortNum{1}, 0x1111'1111'1111'1111);
  const std::vector flows{flow};
  const auto result = arbitrate(state, flows, kSome);

  std::vector<int> vls;
  for (const auto& hop : result.flows[0].way.hops) {
    if (hop.vl) vls.push_back(hop.vl->value());
  }
  EXPECT_THAT(vls, ElementsAre(3, 1, 3, 3));
  const auto link = std::ranges::find(result.links, state.port("leaf001", up), &sim::LinkShare::out);
  EXPECT_EQ(link->vl, Vl{1});
}

TEST(Arbitration, ABlockedReceiverHoldsItsVlAlone) {
  RoutedState state("ft2:8");
  state.arbitrate(block({{0, 64}, {1, 64}}), {}, 0);
  auto flows = incast(state, {"h00004", "h00005"}, "h00000", 2);
  const sim::BlockedReceiver blocked{.port = state.port("h00000"), .vl = Vl{1}};
  const auto result = arbitrate(state, flows, {.packets = 1000}, std::span(&blocked, 1));

  EXPECT_EQ(result.flows[0].received.packets, 1000U);
  EXPECT_EQ(result.flows[1].received.packets, 0U);
  for (const auto& at : result.held) EXPECT_EQ(at.vl, Vl{1});
  EXPECT_THAT(to_text(state, flows, result), HasSubstr("\nblocked: leaf000 port 1 VL 1"));
}

TEST(Arbitration, PacketsAreNoLargerThanTheMtuOfTheirWay) {
  RoutedState state("ft2:8");
  auto flows = incast(state, {"h00004"}, "h00000", 1);
  state.at("leaf000", 1).info.neighbor_mtu = Mtu::m1024;
  EXPECT_EQ(arbitrate(state, flows, {.packets = 10}).flows[0].received.bytes, 10U * (1024 + 26));
  flows[0].payload = 300;
  EXPECT_EQ(arbitrate(state, flows, {.packets = 10}).flows[0].received.bytes, 10U * (300 + 26));
}

TEST(Arbitration, AFlowThatDoesNotArriveIsNotSimulated) {
  RoutedState state("ft2:8");
  auto flows = incast(state, {"h00004", "h00005", "h00006"}, "h00000", 3);
  flows[0].pkey = PKey{0x8001};
  flows[1].to = Lid{999};
  const auto result = arbitrate(state, flows, {.packets = 10});

  EXPECT_EQ(result.flows[0].way.fate, sim::Fate::no_p_key);
  EXPECT_EQ(result.flows[1].way.fate, sim::Fate::no_route);
  EXPECT_FALSE(result.flows[0].simulated);
  EXPECT_EQ(result.flows[2].received.packets, 10U);
  EXPECT_THAT(to_text(state, flows, result),
              HasSubstr("not simulated: h00004: P_Key 0x8001 is not in the P_Key table of h00004"));
}

TEST(Arbitration, RatesAreThoseOfTheLinks) {
  RoutedState state{two_leaves()};
  EXPECT_EQ(data_mbps(state.at("h0", 1)), 100'000U);
  FabricBuilder slow;
  const auto sw = slow.add_switch("sw", 3), a = slow.add_ca("a"), b = slow.add_ca("b"), c = slow.add_ca("c");
  slow.link(a, 1, sw, 1, LinkSpeed::hdr);
  slow.link(b, 1, sw, 2, LinkSpeed::hdr, LinkWidth::x1);
  slow.link(c, 1, sw, 3, LinkSpeed::qdr);
  RoutedState mixed(slow.fabric());
  mixed.arbitrate(block({{0, 64}, {1, 64}}), {}, 0);
  const auto flows = incast(mixed, {"a", "c"}, "b", 2);
  const auto result = arbitrate(mixed, flows, kSome);

  EXPECT_EQ(data_mbps(mixed.at("c", 1)), 32'000U);
  EXPECT_EQ(data_mbps(mixed.at("b", 1)), 50'000U);
  expect_share(result, 0, 0.5);
  EXPECT_NEAR(static_cast<double>(result.elapsed), 20'000.0 * 2074 * 160, 1e7);
}

TEST(Arbitration, ARingIsADeadlockWhoseLinksAreNamed) {
  RoutedState state("torus:5:1");
  const char* hosts[] = {"ht00-00", "ht01-00", "ht02-00", "ht03-00", "ht04-00"};
  std::vector<DataFlow> flows;
  for (unsigned at = 0; at < 5; ++at) {
    const auto to = state.lid(hosts[(at + 3) % 5]);
    flows.push_back({.from = state.port(hosts[at]), .to = to});
    for (unsigned hop = 0; hop < 3; ++hop)
      state->nodes[(at + hop) % 5].sw->lft[to.value()] = 1;  // the long way
  }
  const auto result = arbitrate(state, flows, kSome);

  EXPECT_EQ(result.ending, sim::Ending::nothing_moves);
  ASSERT_EQ(result.loops.size(), 1U);
  EXPECT_EQ(result.loops[0].size(), 5U);
  EXPECT_THAT(
      to_text(state, flows, result),
      HasSubstr("\ndeadlock: t00 port 1 VL 0 -> t01 port 1 VL 0 -> t02 port 1 VL 0 -> t03 port 1 VL 0 -> "
                "t04 port 1 VL 0 -> t00 port 1 VL 0"));
}

TEST(Arbitration, IsPrintedAsOneJsonObject) {
  RoutedState state("ft2:4");
  state->nodes[state->ports[state.port("h00001")].node].name = "a\"b\n\xe9";
  const std::vector<DataFlow> flows{
      {.from = state.port("h00000"), .to = state->ports[state.at("leaf000", 2).peer].info.lid}};
  const auto json = to_json(state, flows, arbitrate(state, flows, {.packets = 10, .warm_up = 0}));

  EXPECT_THAT(json, HasSubstr(R"({"ending":"counted","elapsed_ps":)"));
  EXPECT_THAT(
      json,
      HasSubstr(
          R"("receivers":[{"node":"a\"b\u000a\u00e9","port":1,"sl":0,"vl":0,"packets":10,"bytes":20740,"share":1.000000}])"));
  EXPECT_THAT(json, HasSubstr(R"("blocked":[],"deadlocks":[],"behind":[]})"));
}

TEST(Arbitration, SharesAreAskedByPlace) {
  RoutedState state("ft2:8");
  const auto flows = incast(state, {"h00001", "h00002"}, "h00000", 2);
  const auto result = arbitrate(state, flows, kSome);
  const auto receiver = state.port("h00000"), down = state.port("leaf000", 1);

  EXPECT_NEAR(share_of(result, receiver, Sl{1}), 0.5, 0.01);  // tables that were never written
  EXPECT_NEAR(share_of(result, {.out = down, .vl = Vl{1}}), 0.5, 0.01);
  EXPECT_EQ(share_of(result, receiver, Sl{9}), 0.0);
  EXPECT_EQ(share_of(result, {.out = receiver, .vl = Vl{1}}), 0.0);
  EXPECT_FALSE(sim::flow_between(state, {"leaf000", PortNum{1}}, "h00000", Sl{}));
  EXPECT_FALSE(sim::flow_between(state, "h00000", "nowhere", Sl{}));
}

/// Whatever an SM writes into the tables: the simulation ends, and says of each flow what became of it.
RC_GTEST_PROP(ArbitrationOfAnyTables, Ends, (std::uint64_t seed)) {
  base::Random random(seed);
  RoutedState state("torus:3x3:2");
  const auto any = [&](unsigned bound) { return static_cast<std::uint8_t>(random.below(bound)); };
  for (sim::PortIndex at = 0; at < state->ports.size(); ++at) {
    auto& port = state->ports[at];
    port.tables = std::make_unique<sim::PortTables>();
    port.tables->vl_arb.resize(4);
    for (auto& each : port.tables->vl_arb) {
      for (auto& entry : each.entries)
        entry = {.vl = Vl{any(16)}, .weight = any(random.chance(1, 3) ? 1 : 256)};
    }
    port.info.vl_high_limit = any(256);
    port.info.vl_arb_low_cap = any(65);
    port.info.vl_arb_high_cap = any(65);
    port.info.neighbor_mtu = Mtu{any(random.chance(1, 10) ? 16 : 6)};
    sim::set_sl_to_vl_row(*state, at, PortNum{any(3)}, random.chance(1, 2) ? random.next() : 0);
  }
  std::vector<DataFlow> flows(random.below(20));
  const auto& ports = state->ports;
  for (auto& flow : flows) {
    do {
      flow.from = static_cast<sim::PortIndex>(random.below(ports.size()));
    } while (!sim::is_end_port(state, flow.from));
    flow.to = Lid{static_cast<std::uint16_t>(random.below(30))};
    flow.sl = Sl{any(16)};
    flow.payload = any(2) * 100U;
  }
  const auto result = arbitrate(state, flows, {.packets = 300, .warm_up = 10});

  for (const auto& flow : result.flows) RC_ASSERT(flow.simulated || flow.received.packets == 0U);
  for (const auto& link : result.links) RC_ASSERT(link.lane.most_used <= link.lane.credits);
  if (result.ending == sim::Ending::nothing_moves && !result.links.empty())
    RC_ASSERT(!result.held.empty() || !result.loops.empty());
}

TEST(Arbitration, NothingIsSimulatedWithoutFlows) {
  RoutedState state("ft2:4");
  const auto result = sim::arbitrate(state, {});

  EXPECT_EQ(result.ending, sim::Ending::nothing_moves);
  EXPECT_THAT(result.links, IsEmpty());
}

}  // namespace
}  // namespace smd::test
