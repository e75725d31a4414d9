// SPDX-License-Identifier: Apache-2.0
// The records that show what the fabric is, held against the fabric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "mad/wire/capability.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "smd/sa/record_kind.h"
#include "smd/sa/registry/subscriptions.h"
#include "smd/sa/server.h"
#include "tests/support/partition_config.h"
#include "tests/support/sa_lab.h"

namespace smd {
namespace {

using test::ask;
using test::Question;
using test::Reply;
using wire::Method;

TEST(SaRecords, NodeRecordsAreTheEndPorts) {
  const test::SaLab lab("rails:2:2:4:2");  // adapters of several ports
  const auto reply = ask(lab.directory(), Question{.attribute = wire::NodeRecordId::kRecord}.with());

  ASSERT_EQ(reply.status, 0);
  ASSERT_EQ(reply.records.size(), lab.directory().end_ports().size());
  std::set<Guid> ports;
  for (std::size_t i = 0; i < reply.records.size(); ++i) {
    const auto id = reply.get<wire::NodeRecordId>(i);
    const auto info = reply.get<wire::NodeInfo>(i, wire::NodeRecordId::kAttributeAt);
    const auto text = reply.get<wire::NodeDescription>(i, wire::NodeRecordId::kDescriptionAt);
    const auto* port = lab.directory().by_lid(id.lid);
    ASSERT_NE(port, nullptr);
    EXPECT_EQ(info.node, port->node->guid());
    EXPECT_EQ(info.port, port->guid);
    EXPECT_EQ(info.local_port, port->port);
    EXPECT_EQ(text.text, port->node->description);
    ports.insert(info.port);
  }
  EXPECT_EQ(ports.size(), reply.records.size());
}

TEST(SaRecords, ComponentsNarrowTheAnswer) {
  const test::SaLab lab("ft2:4");
  const auto switches =
      ask(lab.directory(), Question{.attribute = wire::NodeRecordId::kRecord, .mask = 1U << 4}.with(
                               wire::NodeRecordId{}, wire::NodeInfo{.type = NodeType::switch_}));
  EXPECT_EQ(switches.records.size(), 6U);

  const auto& host = lab.directory().end_ports().back();
  const Question by_guid{.method = Method::get, .attribute = wire::NodeRecordId::kRecord, .mask = 1U << 8};
  const auto one =
      ask(lab.directory(), by_guid.with(wire::NodeRecordId{}, wire::NodeInfo{.port = host.guid}));
  ASSERT_EQ(one.records.size(), 1U);
  EXPECT_EQ(one.get<wire::NodeRecordId>(0).lid, host.lid);

  const auto none = ask(lab.directory(), by_guid.with(wire::NodeRecordId{}, wire::NodeInfo{.port = Guid{9}}));
  EXPECT_EQ(none.status, wire::kSaNoRecords);
  const auto many =
      ask(lab.directory(), Question{.method = Method::get, .attribute = wire::NodeRecordId::kRecord}.with());
  EXPECT_EQ(many.status, wire::kSaTooManyRecords);
}

/// A table without a filter and the sum of what each LID has are the same records.
TEST(SaRecords, EveryKindByLidAddsUpToItsTable) {
  const test::SaLab lab("ft2:4");
  for (const auto& kind : sa::record_kinds()) {
    if (!kind.begins_with_lid) continue;
    const auto whole = ask(lab.directory(), Question{.attribute = kind.attribute, .sm_key = 1}.with());
    const bool vl_tables =
        kind.attribute == wire::SlToVlRecordId::kRecord || kind.attribute == wire::VlArbRecordId::kRecord;
    if (vl_tables) {  // read after the sweep that the lab ends with; sa_vl_tables_test has them
      EXPECT_EQ(whole.status, wire::kStatusBusy) << kind.name;
      continue;
    }
    ASSERT_EQ(whole.status, 0) << kind.name;
    EXPECT_EQ(whole.record_bytes, kind.bytes) << kind.name;
    const bool may_be_empty = kind.attribute == wire::MftRecordId::kRecord;  // nobody has a group
    EXPECT_TRUE(may_be_empty || !whole.records.empty()) << kind.name;
    std::multiset<std::vector<std::uint8_t>> parts;
    for (const auto& port : lab.directory().end_ports()) {
      const auto part =
          ask(lab.directory(), Question{.attribute = kind.attribute, .mask = 1, .sm_key = 1}.with(
                                   wire::NodeRecordId{.lid = port.lid}));
      for (const auto& record : part.records) parts.insert(record);
    }
    EXPECT_EQ(parts, (std::multiset<std::vector<std::uint8_t>>(whole.records.begin(), whole.records.end())))
        << kind.name;
  }
}

TEST(SaRecords, AnyLidOfAPortMeansThePort) {
  config::SubnetConfig config;
  config.lids.lmc = 1;
  const test::SaLab lab("ft2:4", config);
  std::size_t compared = 0;
  for (const auto& kind : sa::record_kinds()) {
    if (!kind.begins_with_lid) continue;
    const Question question{.attribute = kind.attribute, .mask = 1, .sm_key = 1};
    for (const auto& port : lab.directory().end_ports()) {
      if (port.lids() < 2) continue;
      const Lid second{static_cast<std::uint16_t>(port.lid.value() + 1)};
      const auto by_base = ask(lab.directory(), question.with(wire::NodeRecordId{.lid = port.lid}));
      const auto by_second = ask(lab.directory(), question.with(wire::NodeRecordId{.lid = second}));
      EXPECT_EQ(by_second.status, by_base.status) << kind.name;
      EXPECT_EQ(by_second.records, by_base.records) << kind.name;
      compared += by_base.records.size();
    }
  }
  EXPECT_GT(compared, 0U) << "records";
}

/// With bit 31 of the AttributeModifier the bits that are asked for are needed, and others do not matter.
TEST(SaRecords, PortsAreFoundBySomeBitsOfTheirCapabilityMasks) {
  const test::SaLab lab("ft2:4");
  constexpr std::uint32_t kSomeBits = 1U << 31;
  constexpr unsigned kMask = 7, kMask2 = 53;
  const auto found = [&](unsigned component, const wire::PortInfo& wanted, std::uint32_t modifier) {
    const Question question{.attribute = wire::PortInfoRecordId::kRecord,
                            .mask = std::uint64_t{1} << component,
                            .modifier = modifier};
    return ask(lab.directory(), question.with(wire::PortInfoRecordId{}, wanted)).records.size();
  };
  wire::PortInfo wanted;
  wanted.capability_mask = wire::kCapClientReregistration;
  EXPECT_GE(found(kMask, wanted, kSomeBits), 8U);
  EXPECT_EQ(found(kMask, wanted, 0), 0U);

  const auto mask2 = lab.directory().end_ports().back().info().info.capability_mask2;
  ASSERT_NE(mask2, 0);
  wanted.capability_mask2 = static_cast<std::uint16_t>(mask2 & -mask2);
  EXPECT_GE(found(kMask2, wanted, kSomeBits), 8U);
  wanted.capability_mask2 = static_cast<std::uint16_t>(~mask2);
  EXPECT_EQ(found(kMask2, wanted, kSomeBits), 0U);
}

TEST(SaRecords, ALinkLeadsToAnyLidOfAPort) {
  config::SubnetConfig config;
  config.lids.lmc = 1;
  const test::SaLab lab("ft2:4", config);
  const auto host =
      *std::ranges::find_if(lab.directory().end_ports(), [](const auto& port) { return port.lids() == 2; });
  const Question question{.attribute = wire::LinkRecord::kRecord, .mask = 8};
  const auto to = [&](unsigned lid) {
    return ask(lab.directory(),
               question.with(wire::LinkRecord{.to_lid = Lid{static_cast<std::uint16_t>(lid)}}));
  };
  EXPECT_EQ(to(host.lid.value()).records.size(), 1U);
  EXPECT_EQ(to(host.lid.value() + 1U).records, to(host.lid.value()).records);
  EXPECT_TRUE(to(0xBFFF).records.empty());
}

TEST(SaRecords, ForwardingTablesAreWhatTheSwitchesHold) {
  test::SaLab lab("ft2:4");
  const auto reply = ask(lab.directory(), Question{.attribute = wire::LftRecordId::kRecord}.with());
  ASSERT_FALSE(reply.records.empty());
  for (std::size_t i = 0; i < reply.records.size(); ++i) {
    const auto id = reply.get<wire::LftRecordId>(i);
    const auto block = reply.get<wire::LinearForwardingTable>(i, wire::LftRecordId::kAttributeAt);
    const auto* port = lab.directory().by_lid(id.lid);
    ASSERT_NE(port, nullptr);
    for (std::size_t entry = 0; entry < block.ports.size(); ++entry) {
      const auto lid = id.block * 64U + entry;
      EXPECT_EQ(block.ports[entry].value(),
                routing::entry(port->node->lft.row.get(), Lid{static_cast<std::uint16_t>(lid)}));
    }
  }
}

TEST(SaRecords, LinksAreNamedFromBothEnds) {
  const test::SaLab lab("ft2:4");
  const auto reply = ask(lab.directory(), Question{.attribute = wire::LinkRecord::kRecord}.with());
  EXPECT_EQ(reply.records.size(), 2 * (8U + 8U));
  const auto link = reply.get<wire::LinkRecord>(0);
  const auto back = ask(lab.directory(), Question{.attribute = wire::LinkRecord::kRecord, .mask = 0xF}.with(
                                             wire::LinkRecord{.from_lid = link.to_lid,
                                                              .from_port = link.to_port,
                                                              .to_port = link.from_port,
                                                              .to_lid = link.from_lid}));
  EXPECT_EQ(back.records.size(), 1U);
}

TEST(SaRecords, ATableThatNobodyCouldTakeIsNotMade) {
  sa::Records found(std::size_t{1} << 20U);
  const sa::Pattern all({}, 0, {});
  sa::RecordSink emit(found, all);
  for (unsigned i = 0; i < 64; ++i) emit([](std::span<std::uint8_t>) {});
  EXPECT_FALSE(emit.overflows());
  emit([](std::span<std::uint8_t>) {});
  EXPECT_TRUE(emit.overflows());
  EXPECT_EQ(found.count(), 64U);
}

/// So many PortInfoRecords that a table is longer than an answer may be, or just not.
std::shared_ptr<const sm::Snapshot> repeated(const sm::Snapshot& snapshot, std::size_t times) {
  auto big = std::make_shared<sm::Snapshot>(snapshot);
  auto subnet = std::make_shared<sm::Subnet>(*snapshot.subnet);
  subnet->nodes.clear();
  subnet->places = nullptr;
  for (const auto& node : snapshot.subnet->nodes) {
    for (std::size_t i = 0; node->is_switch() && i < times; ++i) subnet->nodes.push_back(node);
  }
  big->subnet = subnet;
  return big;
}

TEST(SaRecords, ATableIsKeptHoweverLongItIsAndSoIsThatItIsTooLong) {
  const test::SaLab lab("ft2:16");
  const auto question = Question{.attribute = wire::PortInfoRecordId::kRecord}.with();
  const std::size_t records = 24 * 17;  // of the switches
  for (const std::size_t bytes : {std::size_t{20} << 20U, std::size_t{70} << 20U}) {
    const sa::Directory directory(repeated(lab.snapshot(), bytes / (records * 72)));
    sa::TableCache tables;
    std::vector<std::uint8_t> out;
    ASSERT_TRUE(sa::answer(&directory, {}, {}, question, {}, tables, out));
    const auto first = wire::decode<wire::MadHeader>(out)->status;
    EXPECT_EQ(first, bytes > sa::kLongestTable ? wire::kSaNoResources : wire::kStatusOk);
    EXPECT_EQ(tables.find({wire::PortInfoRecordId::kRecord}) != nullptr, true);
    const auto length = out.size();
    ASSERT_TRUE(sa::answer(&directory, {}, {}, question, {}, tables, out));
    EXPECT_EQ(wire::decode<wire::MadHeader>(out)->status, first);
    EXPECT_EQ(out.size(), length);
  }
}

TEST(SaRecords, OurOwnActCountIsTheOneOfTheMoment) {
  const test::SaLab lab("ft2:4");
  const auto question = Question{.attribute = wire::SmInfoRecordId::kRecord}.with();
  for (const std::uint32_t count : {7U, 8U}) {
    const auto reply =
        test::reply_of(*sa::answer(&lab.directory(), {}, {}, question, {.lid = {}, .act_count = count}));
    EXPECT_EQ(reply.get<wire::SmInfo>(0, wire::SmInfoRecordId::kAttributeAt).act_count, count);
  }
}

TEST(SaRecords, KeysAreShownToNobody) {
  config::SubnetConfig config;
  config.sm.sm_key = 0x1122334455667788;
  const test::SaLab lab("ft2:4", config);
  const auto sms = ask(lab.directory(), Question{.attribute = wire::SmInfoRecordId::kRecord}.with());
  ASSERT_EQ(sms.records.size(), 1U);
  const auto info = sms.get<wire::SmInfo>(0, wire::SmInfoRecordId::kAttributeAt);
  EXPECT_EQ(info.sm_key, 0U);
  EXPECT_EQ(info.state, wire::SmState::master);
  EXPECT_EQ(info.guid, lab.snapshot().rank.guid);
}

TEST(SaRecords, WhatIsNotServedSaysSo) {
  const test::SaLab lab("ft2:4");
  const auto status = [&](const Question& question) { return ask(lab.directory(), question.with()).status; };

  EXPECT_EQ(status({.method = Method::get, .attribute = 0x0016}), wire::kStatusBadMethodAttribute);
  EXPECT_EQ(status({.method = Method::set, .attribute = wire::NodeRecordId::kRecord}),
            wire::kStatusBadMethodAttribute);
  EXPECT_EQ(status({.attribute = wire::NodeRecordId::kRecord, .class_version = 3}), wire::kStatusBadVersion);
  EXPECT_EQ(status({.attribute = wire::PKeyRecordId::kRecord}), wire::kSaRequestInvalid);  // no SM_Key
  // An answer, and a question with a foreign SM_Key, are no question to us.
  const Question answer{.method = Method::get_table_resp, .attribute = wire::NodeRecordId::kRecord};
  EXPECT_FALSE(sa::answer(&lab.directory(), {}, {}, answer.with()));
  const Question keyed{.attribute = wire::NodeRecordId::kRecord, .sm_key = 5};
  EXPECT_FALSE(sa::answer(&lab.directory(), {}, {.sm_key = 6}, keyed.with()));
  EXPECT_TRUE(sa::answer(&lab.directory(), {}, {.sm_key = 5}, keyed.with()));
  // Before the first sweep.
  const auto busy = sa::answer(nullptr, {}, {}, Question{.attribute = wire::NodeRecordId::kRecord}.with());
  ASSERT_TRUE(busy);
  EXPECT_EQ(test::reply_of(*busy).status, wire::kStatusBusy);
}

/// As OpenSM does; the kernel of a real adapter delivers version 2 only.
TEST(SaRecords, OlderClassVersionsAreAnsweredAsTheOneThatWeSpeak) {
  const test::SaLab lab("ft2:4");
  const auto& directory = lab.directory();
  for (const auto version : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}}) {
    const auto nodes =
        ask(directory, Question{.attribute = wire::NodeRecordId::kRecord, .class_version = version}.with());
    EXPECT_EQ(nodes.status, wire::kStatusOk) << int{version};
    EXPECT_EQ(nodes.records.size(), directory.end_ports().size()) << int{version};
    const Question path{.method = Method::get, .attribute = 0x35, .mask = 1U << 4U, .class_version = version};
    EXPECT_EQ(ask(directory, path.with(wire::PathRecord{
                                 .dgid = {}, .sgid = {}, .dlid = directory.end_ports().back().lid}))
                  .status,
              wire::kStatusOk);
  }
}

/// Bit 8 says that all optional records are there: 0x16 (RandomForwardingTableRecord) and 0x3B
/// (ServiceAssociationRecord) are not.
TEST(SaRecords, TheCapabilityMaskNamesWhatIsServed) {
  const test::SaLab lab("ft2:4");
  const auto bytes =
      *sa::answer(&lab.directory(), {}, {},
                  Question{.method = Method::get, .attribute = wire::ClassPortInfo::kAttribute}.with());
  const auto info = *wire::decode<wire::ClassPortInfo>(std::span(bytes).subspan(wire::kSaDataOffset));
  EXPECT_EQ(info.capability_mask, 0x2602U);
  EXPECT_EQ(info.redirect_qp, 1U);
  EXPECT_EQ(info.redirect_qkey, 0x80010000U);
  EXPECT_EQ(info.trap_qkey, 0x80010000U);
  for (const auto attribute : {std::uint16_t{0x16}, std::uint16_t{0x3B}}) {
    const Question question{.method = Method::get, .attribute = attribute};
    EXPECT_EQ(ask(lab.directory(), question.with()).status, wire::kStatusBadMethodAttribute);
  }
}

TEST(SaRecords, AClientAsksOverTheFabric) {
  test::SaLab lab("ft2:4");
  const auto snapshot = lab.directory().snapshot();
  const auto served = lab.world().transport(sim::Interface::gsi);
  sm::InlineCompute compute;
  sm::Published<sa::Registry> registry;
  sa::Server server(sa::ServerParts{.executor = lab.world().io().get_executor(),
                                    .gsi = *served,
                                    .compute = compute,
                                    .indexing = compute,
                                    .source = [&] { return std::make_shared<const sm::Snapshot>(snapshot); },
                                    .registry = registry,
                                    .store = nullptr,
                                    .log = {},
                                    .clock = lab.world().clock(),
                                    .wall = [] { return std::int64_t{1}; }},
                    {});
  const auto* other = &lab.directory().end_ports().back();
  const auto client = lab.world().transport(lab.place_of(*other), sim::Interface::gsi);
  std::vector<std::vector<std::uint8_t>> came;
  client->on_receive([&](std::span<mad::Received> batch) {
    for (auto& received : batch) came.push_back(received.bytes);
  });

  const auto question = Question{.method = Method::get, .attribute = wire::ClassPortInfo::kAttribute}.with();
  const mad::LidRoute to{.lid = snapshot.decided.lids->sm_lid, .qp = 1, .qkey = 0x80010000};
  ASSERT_TRUE(client->send(question, to, std::chrono::seconds(1)));
  lab.world().run_for(std::chrono::seconds(1));

  ASSERT_EQ(came.size(), 1U);
  const auto info = *wire::decode<wire::ClassPortInfo>(std::span(came[0]).subspan(wire::kSaDataOffset));
  EXPECT_EQ(info.class_version, wire::kSaClassVersion);
  lab.world().run(server.stop());
}

/// Two tenants, and all hosts limited members of the default partition: who asks without the SM_Key sees its
/// own partition, the SM and itself.
class SaTenants : public testing::Test {
 protected:
  static config::SubnetConfig config() {
    auto everybody = test::partition("Default", 0x7fff, {"SELF"}, {"ALL"});
    return test::with_partitions({everybody, test::partition("a", 0x10, {"h00001", "h00002"}),
                                  test::partition("b", 0x20, {"h00005", "h00006"})});
  }
  const sa::EndPort& host(std::string_view name) const {
    return *std::ranges::find_if(lab_.directory().end_ports(),
                                 [&](const sa::EndPort& port) { return port.node->description == name; });
  }
  Reply ask_as(std::string_view name, const std::vector<std::uint8_t>& question) const {
    return test::reply_of(
        *sa::answer(&lab_.directory(), {}, {.sm_key = 1}, question, {.lid = host(name).lid}));
  }
  std::size_t count(std::string_view name, std::uint16_t attribute, std::uint64_t sm_key = 0) const {
    return ask_as(name, Question{.attribute = attribute, .sm_key = sm_key}.with()).records.size();
  }
  std::uint16_t path(std::string_view who, std::string_view from, std::string_view to) const {
    wire::PathRecord asked{};
    asked.dlid = host(to).lid;
    asked.slid = host(from).lid;
    const auto mask = std::uint64_t{1} << wire::PathRecord::kDlid | std::uint64_t{1}
                                                                        << wire::PathRecord::kSlid;
    return ask_as(who,
                  Question{.method = Method::get, .attribute = wire::PathRecord::kRecord, .mask = mask}.with(
                      asked))
        .status;
  }

  test::SaLab lab_{"ft2:4", config()};
};

TEST_F(SaTenants, SeeRecordsOfTheirPartitionAlone) {
  EXPECT_EQ(count("h00001", wire::NodeRecordId::kRecord), 3U) << "the SM's port, itself, h00002";
  EXPECT_EQ(count("h00003", wire::NodeRecordId::kRecord), 2U) << "limited members do not see each other";
  EXPECT_EQ(count("h00001", wire::NodeRecordId::kRecord, 1), lab_.directory().end_ports().size());
  EXPECT_EQ(count("h00001", wire::SwitchInfoRecordId::kRecord), 0U);
  EXPECT_EQ(count("h00001", wire::LftRecordId::kRecord), 0U);
  EXPECT_GT(count("h00001", wire::LftRecordId::kRecord, 1), 0U);
  for (const auto attribute :
       {wire::PortInfoRecordId::kRecord, wire::LinkRecord::kRecord, wire::GuidInfoRecordId::kRecord})
    EXPECT_LT(count("h00001", attribute), count("h00001", attribute, 1)) << attribute;
}

/// Whole tables are kept for the next one that asks.
TEST_F(SaTenants, DoNotGetTheTableOfAnother) {
  sa::TableCache tables;
  const auto nodes = [&](std::string_view name, std::uint64_t sm_key = 0) {
    std::vector<std::uint8_t> out;
    const auto question = Question{.attribute = wire::NodeRecordId::kRecord, .sm_key = sm_key}.with();
    EXPECT_TRUE(
        sa::answer(&lab_.directory(), {}, {.sm_key = 1}, question, {.lid = host(name).lid}, tables, out));
    return test::reply_of(out);
  };
  const auto all = lab_.directory().end_ports().size();
  EXPECT_EQ(nodes("h00001", 1).records.size(), all);
  EXPECT_EQ(nodes("h00001").records.size(), 3U);
  EXPECT_EQ(nodes("h00005").records.size(), 3U);
  EXPECT_NE(nodes("h00001").records, nodes("h00005").records);
  EXPECT_EQ(nodes("h00003").records.size(), 2U);
  EXPECT_NE(nodes("h00003").records, nodes("h00004").records) << "each sees itself";
  EXPECT_EQ(nodes("h00001", 1).records.size(), all);
}

TEST_F(SaTenants, SeePathsBetweenPortsOfTheirPartitionAlone) {
  EXPECT_EQ(path("h00001", "h00001", "h00002"), 0U);
  EXPECT_EQ(path("h00001", "h00002", "h00001"), 0U);
  EXPECT_EQ(path("h00005", "h00005", "h00006"), 0U);
  EXPECT_NE(path("h00001", "h00005", "h00006"), 0U);
  EXPECT_NE(path("h00001", "h00001", "h00005"), 0U);
}

/// Its keys are those that it had: the directory does not know it any more.
TEST_F(SaTenants, AreToldOfAPortThatIsGoneIfItWasInTheirPartition) {
  sa::Registry registry;
  for (const auto* name : {"h00002", "h00003", "h00005"}) {
    const sa::SubscriptionKey key{.port = host(name).guid,
                                  .lid_begin = Lid{0xffff},
                                  .is_generic = 1,
                                  .type = 0xffff,
                                  .trap = 0xffff,
                                  .producer = 0xffffff};
    registry.put_subscription(key, {});
  }
  const auto& sm = *std::ranges::find(lab_.directory().end_ports(), lab_.snapshot().decided.lids->sm_lid,
                                      &sa::EndPort::lid);
  auto event = sa::event_of(sm, lab_.directory().gid_of(sm), sa::kPortOut,
                            Gid::of(lab_.directory().prefix(), Guid{0x99}));
  EXPECT_EQ(sa::addressees(lab_.directory(), registry, event).size(), 3U) << "its keys are not known";
  event.keys = host("h00001").info().held<wire::PKeyTable>();
  const auto told = sa::addressees(lab_.directory(), registry, event);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().who.port, host("h00002").guid);
}

}  // namespace
}  // namespace smd
