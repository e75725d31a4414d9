// SPDX-License-Identifier: Apache-2.0
// What a node tells of its counters, and what moves them.
#include "mad/sim/agents/pma.h"

#include <gtest/gtest.h>

#include "mad/wire/class_port_info.h"
#include "mad/wire/modifier.h"
#include "mad/wire/performance_lanes.h"
#include "mad/wire/performance_optional.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

struct Performance : testing::Test {
  sim::World world{two_leaves()};
  Asker smi{world};
  sim::Faults faults = world.fabric().faults();
  std::unique_ptr<sim::Transport> gsi = world.transport({"h0"}, sim::Interface::gsi);
  std::vector<mad::Received> inbox;
  std::uint64_t tid = 1;

  void SetUp() override {
    bring_up_two_leaves(smi);
    gsi->on_receive([this](std::span<mad::Received> mads) {
      for (auto& mad : mads) inbox.push_back(std::move(mad));
    });
  }

  template <class A>
  Answer<A> ask(Lid lid, wire::Method method, const A& value, std::uint16_t attribute = A::kAttribute) {
    std::vector<std::uint8_t> mad(wire::kMadBytes);
    const wire::MadHeader header{
        .mgmt_class = wire::MgmtClass::perf, .method = method, .tid = Tid{tid++}, .attribute = attribute};
    wire::encode(header, mad);
    wire::encode(value, std::span(mad).subspan(wire::kPerformanceData, wire::kPerformanceBytes));
    inbox.clear();
    EXPECT_TRUE(gsi->send(mad, mad::LidRoute{.lid = lid, .qkey = sim::kQKey}, std::chrono::seconds(1)));
    world.run_for(std::chrono::milliseconds(1));
    if (inbox.empty()) return {};
    const auto& bytes = inbox.front().bytes;
    const auto answered = wire::decode<wire::MadHeader>(bytes);
    EXPECT_EQ(answered->method, wire::Method::get_resp);
    return {.status = answered->status,
            .value = *wire::decode<A>(std::span(bytes).subspan(wire::kPerformanceData)),
            .smp = {}};
  }
  template <class A>
  A get(Lid lid, unsigned port) {
    A value;
    value.port = PortNum{static_cast<std::uint8_t>(port)};
    const auto answer = ask(lid, wire::Method::get, value);
    EXPECT_TRUE(answer.good());
    return answer.value;
  }
};

TEST_F(Performance, ClassPortInfoSaysWhatTheAgentCan) {
  const auto info = ask(Lid{2}, wire::Method::get, wire::ClassPortInfo{});
  ASSERT_TRUE(info.good());
  EXPECT_EQ(info.value.capability_mask, 0x1300);
  EXPECT_EQ(info.value.capability_mask2, wire::kPm2ErrorsExtended);
}

TEST_F(Performance, CountersAreShownAsFarAsTheirFieldsGo) {
  const sim::Place h1{"h1", PortNum{1}};
  faults.set_counter(h1, sim::Counter::symbol_errors, 70'000);
  faults.set_counter(h1, sim::Counter::link_integrity_errors, 9);
  faults.set_counter(h1, sim::Counter::transmit_wait, 5'000'000'000);
  faults.set_counter(h1, sim::Counter::transmit_data, 5'000'000'000);
  const auto narrow = get<wire::PortCounters>(Lid{2}, 1);
  EXPECT_EQ(narrow.symbol_errors, 65'535);
  EXPECT_EQ(narrow.link_integrity_errors, 9);
  EXPECT_EQ(narrow.transmit_wait, 0xFFFF'FFFFU);
  EXPECT_EQ(narrow.transmit_data, 0xFFFF'FFFFU);
  EXPECT_GE(get<wire::PortCountersExtended>(Lid{2}, 1).transmit_data, 5'000'000'000U);
}

TEST_F(Performance, ASetWritesWhatItSelectsAndNothingElse) {
  const sim::Place h1{"h1", PortNum{1}};
  faults.set_counter(h1, sim::Counter::symbol_errors, 7);
  faults.set_counter(h1, sim::Counter::link_downed, 8);
  faults.set_counter(h1, sim::Counter::transmit_wait, 9);
  wire::PortCounters zero{.port = PortNum{1}, .select = 1, .select2 = 1};
  ASSERT_TRUE(ask(Lid{2}, wire::Method::set, zero).good());
  const auto after = get<wire::PortCounters>(Lid{2}, 1);
  EXPECT_EQ(after.symbol_errors, 0);
  EXPECT_EQ(after.link_downed, 8);
  EXPECT_EQ(after.transmit_wait, 0U);
}

TEST_F(Performance, TrafficMovesTheCountersOfEveryPortOnItsWay) {
  const auto before = get<wire::PortCountersExtended>(Lid{12}, 1);
  constexpr unsigned kQuestions = 10;
  for (unsigned i = 0; i < kQuestions; ++i) get<wire::PortCounters>(Lid{2}, 1);
  const auto after = get<wire::PortCountersExtended>(Lid{12}, 1);
  EXPECT_EQ(after.transmit_packets - before.transmit_packets, kQuestions);
  EXPECT_EQ(after.receive_packets - before.receive_packets, kQuestions);
  EXPECT_EQ(after.unicast_transmitted - before.unicast_transmitted, kQuestions);
  EXPECT_EQ(after.transmit_data - before.transmit_data, kQuestions * 72U);
}

TEST_F(Performance, AllPortsAreOneSum) {
  faults.set_counter({"leaf1", PortNum{1}}, sim::Counter::symbol_errors, 3);
  faults.set_counter({"leaf1", PortNum{2}}, sim::Counter::symbol_errors, 4);
  EXPECT_EQ(get<wire::PortCounters>(Lid{12}, 255).symbol_errors, 7);
}

TEST_F(Performance, WhatItDoesNotKnowItSays) {
  const wire::PortCounters nowhere{.port = PortNum{9}};
  EXPECT_EQ(ask(Lid{2}, wire::Method::get, nowhere).status, wire::kStatusBadField);
  EXPECT_EQ(ask(Lid{2}, wire::Method::get, wire::PortCounters{}, 0x7777).status,
            wire::kStatusBadMethodAttribute);
  EXPECT_EQ(ask(Lid{2}, wire::Method::get_table, wire::PortCounters{}).status, wire::kStatusBadMethod);
}

TEST_F(Performance, ErrorsAndDiscardsHaveDetailsAndNothingIsSampled) {
  const sim::Place leaf{"leaf1", PortNum{1}};
  faults.set_counter(leaf, sim::Counter::receive_errors, 5);
  faults.set_counter(leaf, sim::Counter::transmit_discards, 6);

  EXPECT_EQ(get<wire::PortReceiveErrorDetails>(Lid{12}, 1).local_physical, 5);
  EXPECT_EQ(get<wire::PortTransmitDiscardDetails>(Lid{12}, 1).inactive, 6);
  const auto samples = get<wire::PortSamplesControl>(Lid{12}, 1);
  EXPECT_EQ(samples.status, 0);
  EXPECT_EQ(samples.option_mask, 0x01FF'0000'1FFF'FFC0ULL);
}

TEST_F(Performance, ErrorsHave64BitsInTheExtendedCounters) {
  faults.set_counter({"h1", PortNum{1}}, sim::Counter::symbol_errors, 70'000'000'000);
  faults.set_counter({"h1", PortNum{1}}, sim::Counter::transmit_wait, 9);
  const auto wide = get<wire::PortCountersExtended>(Lid{2}, 1);
  EXPECT_EQ(wide.symbol_errors, 70'000'000'000U);
  EXPECT_EQ(wide.transmit_wait, 9U);

  wire::PortCountersExtended zero{.port = PortNum{1}, .select2 = 1};
  ASSERT_TRUE(ask(Lid{2}, wire::Method::set, zero).good());

  EXPECT_EQ(get<wire::PortCountersExtended>(Lid{2}, 1).symbol_errors, 0U);
  EXPECT_EQ(get<wire::PortCountersExtended>(Lid{2}, 1).transmit_wait, 9U);
}

TEST_F(Performance, DataIsCountedBySl) {
  constexpr std::uint32_t kWords = 72;
  const sim::DataPacket packet{.dlid = Lid{2}, .sl = Sl{3}};
  const auto before = get<wire::PortCounters>(Lid{12}, 1);
  ASSERT_TRUE(world.fabric().send_data({"h0"}, packet).delivered());
  ASSERT_TRUE(world.fabric().send_data({"h0"}, packet).delivered());

  EXPECT_EQ(get<wire::PortTransmitDataSl>(Lid{12}, 1).counters[3], 2 * kWords);
  EXPECT_EQ(get<wire::PortReceiveDataSl>(Lid{2}, 1).counters[3], 2 * kWords);
  EXPECT_GT(get<wire::PortReceiveDataSl>(Lid{12}, 3).counters[0], 0U);  // the questions
  EXPECT_EQ(get<wire::PortCounters>(Lid{12}, 1).transmit_packets - before.transmit_packets,
            2U + 1U);  // one is the question to h1

  wire::PortTransmitDataSl zero{.port = PortNum{1}, .select = 1U << 3U};
  ASSERT_TRUE(ask(Lid{12}, wire::Method::set, zero).good());
  EXPECT_EQ(get<wire::PortTransmitDataSl>(Lid{12}, 1).counters[3], 0U);
}

TEST_F(Performance, WhatABadCableSpoilsShowsInTheCountersOfExtendedSpeeds) {
  faults.link_loss({"leaf1", PortNum{1}}, 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(Lid{2}, wire::Method::get, wire::PortCounters{}).none());
  faults.link_loss({"leaf1", PortNum{1}}, 0);
  faults.set_counter({"h1", PortNum{1}}, sim::Counter::fec_corrected_lane0 + 3, 80'000);

  const auto h1 = get<wire::PortExtendedSpeedsCounters>(Lid{2}, 1);
  EXPECT_EQ(h1.error_detection[0], 3U);
  EXPECT_EQ(h1.fec_corrected[3], 80'000U);

  wire::PortExtendedSpeedsCounters zero{.port = PortNum{1}, .select = 1U << 17U};
  ASSERT_TRUE(ask(Lid{2}, wire::Method::set, zero).good());
  EXPECT_EQ(get<wire::PortExtendedSpeedsCounters>(Lid{2}, 1).fec_corrected[3], 0U);
  EXPECT_EQ(get<wire::PortExtendedSpeedsCounters>(Lid{2}, 1).error_detection[0], 3U);
}

TEST_F(Performance, MulticastIsCountedAlongItsTree) {
  const auto masks = [&](const mad::DirectedPath& way, std::uint16_t mask) {
    wire::MulticastForwardingTable table;
    table.masks[5] = mask;
    ASSERT_TRUE(smi.set(way, table, wire::mft_modifier(0, 0)).good());
  };
  masks(path({1}), 0b1010);
  masks(path({1, 3}), 0b0110);
  masks(path({1, 3, 2}), 0b1110);
  const auto before = get<wire::PortCountersExtended>(Lid{12}, 3);

  const auto send = [&] {
    std::vector<std::uint8_t> mad(wire::kMadBytes);
    wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa, .method = wire::Method::report}, mad);
    ASSERT_TRUE(gsi->send(mad, mad::LidRoute{.lid = Lid{0xC005}, .sl = Sl{2}, .qkey = sim::kQKey}, {}));
    world.run_for(std::chrono::milliseconds(1));
  };
  send();

  const auto leaf1 = get<wire::PortCountersExtended>(Lid{12}, 3);
  EXPECT_EQ(leaf1.multicast_received, 1U);
  EXPECT_EQ(leaf1.multicast_transmitted, 0U);
  EXPECT_GE(leaf1.receive_data - before.receive_data, 72U);
  for (const unsigned port : {1U, 2U})
    EXPECT_EQ(get<wire::PortCountersExtended>(Lid{12}, port).multicast_transmitted, 1U) << port;
  EXPECT_EQ(get<wire::PortCountersExtended>(Lid{2}, 1).multicast_received, 1U);
  EXPECT_EQ(get<wire::PortReceiveDataSl>(Lid{2}, 1).counters[2], 72U);

  // A port that enforces another partition lets none of it pass.
  faults.set_p_key({"leaf1", PortNum{1}}, 0, PKey{0x8001});
  smi.change<wire::PortInfo>(path({1, 3, 2}), 1,
                             [](wire::PortInfo& info) { info.partition_enforce_out = true; });
  send();
  EXPECT_EQ(get<wire::PortCountersExtended>(Lid{12}, 1).multicast_transmitted, 1U);
  EXPECT_EQ(get<wire::PortCountersExtended>(Lid{12}, 1).transmit_constraint_errors, 1U);
  EXPECT_EQ(get<wire::PortCountersExtended>(Lid{12}, 2).multicast_transmitted, 2U);
}

TEST_F(Performance, DatagramsAreCountedByVlAndOperationCode) {
  constexpr std::uint32_t kWords = 72;
  faults.set_sl_to_vl({"leaf1", PortNum{1}}, PortNum{3}, Sl{3}, Vl{0});
  const sim::DataPacket packet{.dlid = Lid{2}, .sl = Sl{3}};
  ASSERT_TRUE(world.fabric().send_data({"h0"}, packet).delivered());
  ASSERT_TRUE(world.fabric().send_data({"h0"}, packet).delivered());

  const auto asked = [&](std::uint8_t op_code) {
    return ask(Lid{2}, wire::Method::get, wire::PortVlOpPackets{.op_code = op_code, .port = PortNum{1}})
        .value;
  };
  EXPECT_EQ(asked(0x64).counters[0], 2U + 1U);  // one is the question
  EXPECT_EQ(asked(0x04).counters[0], 0U);
  const auto data =
      ask(Lid{2}, wire::Method::get, wire::PortVlOpData{.op_code = 0x64, .port = PortNum{1}}).value;
  EXPECT_EQ(data.counters[0], 5 * kWords);
  const wire::PortOpReceiveCounters all{.op_code = 0x64, .port = PortNum{1}};
  EXPECT_EQ(ask(Lid{2}, wire::Method::get, all).value.packets, 6U);

  const wire::PortOpReceiveCounters other{.op_code = 0, .port = PortNum{1}, .select = 3};
  EXPECT_EQ(ask(Lid{2}, wire::Method::set, other).value.packets, 0U);
  EXPECT_EQ(ask(Lid{2}, wire::Method::get, all).value.packets, 8U);  // that Set was one of other packets
}

/// Reads the attribute of a leaf's port 1, sets its first counter by a command, reads, clears and reads it.
template <class A, class Read>
void shown_set_and_cleared(Performance& lab, sim::Counter counter, std::uint64_t most, Read read) {
  SCOPED_TRACE(A::kName);
  EXPECT_EQ(read(lab.get<A>(Lid{12}, 1)), 0U);
  lab.faults.set_counter({"leaf1", PortNum{1}}, counter, most + 2);
  EXPECT_EQ(read(lab.get<A>(Lid{12}, 1)), most);
  const A clear{.port = PortNum{1}, .select = 0xFFFF};
  EXPECT_TRUE(lab.ask(Lid{12}, wire::Method::set, clear).good());
  EXPECT_EQ(read(lab.get<A>(Lid{12}, 1)), 0U);
}

TEST_F(Performance, CountersOfFlowControlAndCongestionAreShownAndCleared) {
  using sim::Counter;
  constexpr std::uint64_t k16 = 0xFFFF, k32 = 0xFFFF'FFFF;
  const auto lane = [](const auto& value) { return value.counters[14]; };
  const auto by_lane = [&]<class A>(A, Counter first, std::uint64_t most) {
    shown_set_and_cleared<A>(*this, first + 14, most, lane);
  };
  by_lane(wire::PortVlFlowUpdateErrors{}, Counter::flow_update_errors0, 3);
  by_lane(wire::PortVlWaits{}, Counter::vl_waits0, k16);
  by_lane(wire::SwitchPortVlCongestion{}, Counter::vl_congestion0, k16);
  by_lane(wire::PortSlFecn{}, Counter::sl_fecn0, k32);
  by_lane(wire::PortSlBecn{}, Counter::sl_becn0, k32);
  by_lane(wire::PortVlTimeCongested{}, Counter::vl_time_congested0, k32);
  shown_set_and_cleared<wire::PortFlowControlCounters>(*this, Counter::flow_packets_received, k32,
                                                       [](const auto& value) { return value.received; });
  shown_set_and_cleared<wire::PortReceiveCongestion>(*this, Counter::becn_received, k32,
                                                     [](const auto& value) { return value.becn; });
  shown_set_and_cleared<wire::PortTransmitCongestion>(*this, Counter::transmit_time_congested, k32,
                                                      [](const auto& value) { return value.time; });
}

TEST_F(Performance, WhatASwitchThrowsAwayHasItsReason) {
  const sim::DataPacket packet{.dlid = Lid{2}, .sl = Sl{3}};
  const auto leaf1_sends_it_to = [&](unsigned port) {
    faults.set_lft_entry("leaf1", Lid{2}, PortNum{static_cast<std::uint8_t>(port)});
    world.fabric().send_data({"h0"}, packet);
  };
  leaf1_sends_it_to(255);
  leaf1_sends_it_to(3);
  faults.set_sl_to_vl({"leaf1", PortNum{1}}, PortNum{3}, Sl{3}, Vl{15});
  leaf1_sends_it_to(1);

  const auto details = get<wire::PortReceiveErrorDetails>(Lid{12}, 3);
  EXPECT_EQ(details.dlid_mapping, 1);
  EXPECT_EQ(details.looping, 1);
  EXPECT_EQ(details.vl_mapping, 1);
  EXPECT_EQ(get<wire::PortCounters>(Lid{12}, 3).switch_relay_errors, 3);
}

TEST_F(Performance, EachCounterHasANameOfItsOwn) {
  for (unsigned i = 0; i < sim::kCounters; ++i) {
    const auto counter = static_cast<sim::Counter>(i);
    EXPECT_EQ(sim::counter_of(sim::name_of(counter)), counter) << sim::name_of(counter);
  }
  EXPECT_EQ(sim::name_of(sim::Counter::vl_time_congested0 + 14), "PortVLXmitTimeCong14");
  EXPECT_EQ(sim::counter_of("PortVLXmitTimeCong15"), std::nullopt);
}

TEST_F(Performance, WhatIsNotModelledIsRefused) {
  const auto status = [&](Lid lid, std::uint16_t attribute) {
    return ask(lid, wire::Method::get, wire::PortCounters{.port = PortNum{1}}, attribute).status;
  };
  EXPECT_EQ(status(Lid{2}, 0x11), wire::kStatusBadMethodAttribute);
  EXPECT_EQ(status(Lid{2}, wire::SwitchPortVlCongestion::kAttribute), wire::kStatusBadMethodAttribute);
  EXPECT_EQ(status(Lid{12}, wire::SwitchPortVlCongestion::kAttribute), wire::kStatusOk);
}

TEST_F(Performance, AMadWithAForeignPartitionIsRefusedAndTheViolationCounted) {
  wire::PortCounters value;
  value.port = PortNum{1};
  ASSERT_TRUE(ask(Lid{2}, wire::Method::get, value).good());
  faults.set_p_key({"h1"}, 0, PKey{0x8001});

  EXPECT_TRUE(ask(Lid{2}, wire::Method::get, value).none());

  EXPECT_EQ(world.fabric().port_info({"h1", PortNum{1}})->p_key_violations, 1);
  faults.set_p_key({"h1"}, 1, PKey{0x7FFF});  // a limited member talks to a full one
  EXPECT_TRUE(ask(Lid{2}, wire::Method::get, value).good());
}

}  // namespace
}  // namespace smd::test
