// SPDX-License-Identifier: Apache-2.0
// SLtoVLMappingTableRecord and VLArbitrationTableRecord, held against the tables that a subnet is given here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/sa/records.h"
#include "tests/support/sa_lab.h"

namespace smd {
namespace {

using test::ask;
using test::Question;
using wire::Method;
using SlToVlId = wire::SlToVlRecordId;
using VlArbId = wire::VlArbRecordId;

wire::SlToVl sl_to_vl(std::size_t port, std::size_t in) {
  wire::SlToVl table;
  table.vls[3] = Vl{static_cast<std::uint8_t>(port)};
  table.vls[4] = Vl{static_cast<std::uint8_t>(in)};
  return table;
}

wire::VlArbitration arbitration(std::size_t port, std::size_t part) {
  wire::VlArbitration table;
  table.entries[part] = {Vl{static_cast<std::uint8_t>(port)}, 7};
  return table;
}

/// ft2:4 as it is when all VL tables are read; what each port's tables hold tells ports and tables apart.
class SaVlTables : public testing::Test {
 protected:
  SaVlTables() : lab_("ft2:4"), subnet_(*lab_.snapshot().subnet) {
    for (auto& node : subnet_.nodes) {
      auto changed = std::make_shared<sm::Node>(*node);
      for (std::size_t p = 0; p < changed->ports.size(); ++p) read(*changed, p);
      node = std::move(changed);
    }
    subnet_.index();
  }

  static void read(sm::Node& node, std::size_t p) {
    read_table<wire::SlToVl>(node, p, sl_to_vl);
    read_table<wire::VlArbitration>(node, p, arbitration);
  }
  template <class A>
  static void read_table(sm::Node& node, std::size_t p, A (*content)(std::size_t, std::size_t)) {
    auto held = std::make_shared<sm::HeldBlocks<A>>();
    held->known = sm::TableKind<A>::blocks(node, PortNum{static_cast<std::uint8_t>(p)});
    if (held->known.empty()) return;
    held->asked = held->known;
    held->row.resize(std::max<std::size_t>(4, node.ports.size()));
    held->known.for_each([&](std::size_t block) { held->row[block] = content(p, block); });
    node.ports[p].held<A>() = std::move(held);
  }

  /// The first switch, to be changed.
  sm::Node& a_switch() {
    const auto found =
        std::ranges::find_if(subnet_.nodes, [](const auto& node) { return node->is_switch(); });
    auto node = std::make_shared<sm::Node>(**found);
    *found = node;
    return *node;
  }
  sa::Directory directory() const {
    auto snapshot = std::make_shared<sm::Snapshot>(lab_.snapshot());
    snapshot->subnet = std::make_shared<const sm::Subnet>(subnet_);
    return sa::Directory(snapshot);
  }

  test::SaLab lab_;
  sm::Subnet subnet_;
};

constexpr Question kOneSlToVl{.method = Method::get, .attribute = SlToVlId::kRecord, .mask = 7};
constexpr Question kOneVlArb{.method = Method::get, .attribute = VlArbId::kRecord, .mask = 7};

TEST_F(SaVlTables, OfASwitchThereIsATableForEachPairOfItsPorts) {
  const auto lid = a_switch().ports[0].info.lid;
  const auto reply =
      ask(directory(), kOneSlToVl.with(SlToVlId{.lid = lid, .in = PortNum{2}, .out = PortNum{3}}));
  ASSERT_EQ(reply.status, 0);
  EXPECT_EQ(reply.record_bytes, 16U);
  EXPECT_EQ(reply.get<SlToVlId>(0), (SlToVlId{.lid = lid, .in = PortNum{2}, .out = PortNum{3}}));
  EXPECT_EQ(reply.get<wire::SlToVl>(0, SlToVlId::kAttributeAt), sl_to_vl(3, 2));

  const Question of_one{.attribute = SlToVlId::kRecord, .mask = 1};
  EXPECT_EQ(ask(directory(), of_one.with(SlToVlId{.lid = lid})).records.size(), 5U * 5);
  const Question by_in{.attribute = SlToVlId::kRecord, .mask = 3};
  EXPECT_EQ(ask(directory(), by_in.with(SlToVlId{.lid = lid, .in = PortNum{4}})).records.size(), 5U);
  const Question by_out{.attribute = SlToVlId::kRecord, .mask = 5};
  EXPECT_EQ(ask(directory(), by_out.with(SlToVlId{.lid = lid, .out = PortNum{4}})).records.size(), 5U);
  EXPECT_EQ(
      ask(directory(), kOneSlToVl.with(SlToVlId{.lid = lid, .in = PortNum{2}, .out = PortNum{9}})).status,
      wire::kSaNoRecords);
}

TEST_F(SaVlTables, AnAdaptersPortsAreNotAskedFor) {
  const auto made = directory();
  const auto& host = made.end_ports().back();
  ASSERT_FALSE(host.node->is_switch());
  const auto table =
      ask(made, kOneSlToVl.with(SlToVlId{.lid = host.lid, .in = PortNum{7}, .out = PortNum{9}}));
  ASSERT_EQ(table.status, 0);
  EXPECT_EQ(table.get<SlToVlId>(0), (SlToVlId{.lid = host.lid}));
  EXPECT_EQ(table.get<wire::SlToVl>(0, SlToVlId::kAttributeAt), sl_to_vl(1, 0));

  const auto turns = ask(made, kOneVlArb.with(VlArbId{.lid = host.lid, .port = PortNum{0}, .block = 3}));
  ASSERT_EQ(turns.status, 0);
  EXPECT_EQ(turns.record_bytes, 72U);
  EXPECT_EQ(turns.get<VlArbId>(0), (VlArbId{.lid = host.lid, .port = host.port, .block = 3}));
  EXPECT_EQ(turns.get<wire::VlArbitration>(0, VlArbId::kAttributeAt), arbitration(1, 2));
}

TEST_F(SaVlTables, ABlockBehindTheLastTurnIsEmpty) {
  const auto lid = a_switch().ports[0].info.lid;
  const Question of_port{.attribute = VlArbId::kRecord, .mask = 3};
  const auto reply = ask(directory(), of_port.with(VlArbId{.lid = lid, .port = PortNum{2}}));
  ASSERT_EQ(reply.records.size(), 4U);
  const auto has = sm::TableKind<wire::VlArbitration>::blocks(a_switch(), PortNum{2});
  for (std::size_t part = 0; part < 4; ++part) {
    EXPECT_EQ(reply.get<VlArbId>(part).block, part + 1);
    EXPECT_EQ(reply.get<wire::VlArbitration>(part, VlArbId::kAttributeAt),
              has.test(part) ? arbitration(2, part) : wire::VlArbitration{});
  }
  EXPECT_EQ(ask(directory(), kOneVlArb.with(VlArbId{.lid = lid, .port = PortNum{2}, .block = 5})).status,
            wire::kSaNoRecords);
}

TEST_F(SaVlTables, APortWithoutALinkTellsNothingApart) {
  auto& node = a_switch();
  const auto lid = node.ports[0].info.lid;
  node.ports[3].info.port_state = PortState::down;
  node.ports[3].tables = {};
  const auto made = directory();
  const auto out = ask(made, kOneSlToVl.with(SlToVlId{.lid = lid, .in = PortNum{2}, .out = PortNum{3}}));
  ASSERT_EQ(out.status, 0);
  EXPECT_EQ(out.get<wire::SlToVl>(0, SlToVlId::kAttributeAt), wire::SlToVl{});
  const auto turns = ask(made, kOneVlArb.with(VlArbId{.lid = lid, .port = PortNum{3}, .block = 1}));
  ASSERT_EQ(turns.status, 0);
  EXPECT_EQ(turns.get<wire::VlArbitration>(0, VlArbId::kAttributeAt), wire::VlArbitration{});
}

TEST_F(SaVlTables, WhatIsNotReadYetIsBusyAndWhatWasRefusedIsNotThere) {
  auto& node = a_switch();
  const auto lid = node.ports[0].info.lid;
  const auto asked = kOneSlToVl.with(SlToVlId{.lid = lid, .in = PortNum{2}, .out = PortNum{3}});
  const auto other = kOneSlToVl.with(SlToVlId{.lid = lid, .in = PortNum{2}, .out = PortNum{4}});
  const Question all{.attribute = SlToVlId::kRecord, .mask = 1};

  const auto read = node.ports[3].tables;
  node.ports[3].tables = {};
  EXPECT_EQ(ask(directory(), asked).status, wire::kStatusBusy);
  EXPECT_EQ(ask(directory(), other).status, 0);
  EXPECT_EQ(ask(directory(), all.with(SlToVlId{.lid = lid})).status, wire::kStatusBusy)
      << "a part of a table is not told as if it were the whole";
  const Question turns{.attribute = VlArbId::kRecord, .mask = 1};
  EXPECT_EQ(ask(directory(), turns.with(VlArbId{.lid = lid})).status, wire::kStatusBusy);

  node.ports[3].tables = read;
  auto refused = std::make_shared<sm::HeldBlocks<wire::SlToVl>>(*node.ports[3].held<wire::SlToVl>());
  refused->known.reset(2);
  node.ports[3].held<wire::SlToVl>() = refused;
  EXPECT_EQ(ask(directory(), asked).status, wire::kSaNoRecords);
}

TEST_F(SaVlTables, OtherPartitionsAreShownToWhoShowsTheSmKey) {
  const auto lonely =
      *std::ranges::find_if(subnet_.nodes, [](const auto& node) { return !node->is_switch(); });
  for (auto& node : subnet_.nodes) {
    if (node->guid() != lonely->guid()) continue;
    auto changed = std::make_shared<sm::Node>(*node);
    auto keys = std::make_shared<sm::HeldBlocks<wire::PKeyTable>>();
    keys->row.resize(1);
    keys->row[0].keys[0] = PKey{0x8001};
    keys->known.set(0);
    changed->ports[1].held<wire::PKeyTable>() = keys;
    node = std::move(changed);
  }
  const auto made = directory();
  const auto* port = made.by_guid(lonely->ports[1].guid);
  const auto& other = made.end_ports().back();
  ASSERT_NE(port, &other);
  const auto status = [&](Lid from, std::uint64_t sm_key) {
    auto question = kOneSlToVl;
    question.sm_key = sm_key;
    const auto bytes = question.with(SlToVlId{.lid = port->lid});
    return test::reply_of(*sa::answer(&made, {}, {.sm_key = 1}, bytes, {.lid = from})).status;
  };

  EXPECT_EQ(status(port->lid, 0), 0);
  EXPECT_EQ(status(other.lid, 0), wire::kSaNoRecords);
  EXPECT_EQ(status(other.lid, 1), 0);
}

}  // namespace
}  // namespace smd
