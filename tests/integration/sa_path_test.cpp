// SPDX-License-Identifier: Apache-2.0
// PathRecords follow the tables that are installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "mad/wire/capability.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "mad/wire/sa/trace_record.h"
#include "smd/sa/path/limits.h"
#include "smd/sa/path/trace.h"
#include "tests/support/sa_lab.h"

namespace smd {
namespace {

using test::ask;
using test::Question;
using Path = wire::PathRecord;
using wire::Method;

constexpr std::uint64_t bit(unsigned component) { return std::uint64_t{1} << component; }
constexpr std::uint64_t kEnds = bit(Path::kSgid) | bit(Path::kDgid);

TEST(SaPath, EveryPairOfEndPortsHasOneThatDelivers) {
  for (const auto* text : {"ft2:4", "torus:3x3:1", "rails:2:2:4:2"}) {
    test::SaLab lab(text);
    const auto& directory = lab.directory();
    for (const auto& from : directory.end_ports()) {
      for (const auto& to : directory.end_ports()) {
        // Two spines need not have a path: it would go down and up again.
        if (from.node->is_switch() && to.node->is_switch()) continue;
        const auto reply =
            ask(directory, Question{.method = Method::get, .attribute = Path::kRecord, .mask = kEnds}.with(
                               Path{.dgid = directory.gid_of(to), .sgid = directory.gid_of(from)}));
        ASSERT_EQ(reply.status, 0) << fmt::format("{} {} {}", text, from.guid, to.guid);
        const auto path = reply.get<Path>(0);
        EXPECT_EQ(path.slid, from.lid);
        EXPECT_EQ(path.dlid, to.lid);
        EXPECT_TRUE(path.reversible);
        EXPECT_GT(rate_mbps(path.rate), 0U);
        if (from.node->is_switch() || to.node->is_switch()) continue;
        EXPECT_TRUE(lab.world().fabric().walk(lab.place_of(from), path.dlid).delivered());
      }
    }
  }
}

/// The smallest MTU and the slowest rate of some ports.
struct Narrowest {
  Mtu mtu = Mtu::m4096;
  StaticRate rate;
  void add(const sm::Port& port, Mtu its) {
    if (its != Mtu::none) mtu = std::min(mtu, its);
    const auto own = static_rate(wire::link_width(port.info), wire::link_speed(port.info, port.mlnx));
    if (own.code != 0 && (rate.code == 0 || own.mbps < rate.mbps)) rate = own;
  }
};

TEST(SaPath, IsTheSameByTheLinksAloneAndByTheNodes) {
  for (const auto* text : {"ft2:4", "torus:3x3:1", "rails:2:2:4:2", "random:10:4:2:9"}) {
    const test::SaLab lab(text);
    const auto& directory = lab.directory();
    for (const auto& from : directory.end_ports()) {
      for (const auto& to : directory.end_ports()) {
        const auto trip = sa::round_trip(directory, from, to, from.lid, to.lid);
        const auto steps = sa::steps_between(directory, from, to, to.lid);
        const bool same = from.place == to.place;
        ASSERT_EQ(trip.there.has_value(), same || !steps.empty()) << text;
        ASSERT_EQ(trip.back, same || !sa::steps_between(directory, to, from, from.lid).empty()) << text;
        if (!trip.there) continue;
        Narrowest narrowest;
        for (const auto& step : steps) {
          for (const auto* end : {&step.from->ports[step.out.value()], &step.to->ports[step.in.value()]})
            narrowest.add(*end, end->info.neighbor_mtu);
        }
        for (const auto* end : {&from, &to}) {
          const auto& info = end->info().info;
          if (end->node->is_switch() || same)
            narrowest.add(end->info(), end->node->is_switch() ? info.mtu_cap : info.neighbor_mtu);
        }
        EXPECT_EQ(trip.there->mtu, narrowest.mtu);
        EXPECT_EQ(trip.there->rate.code, narrowest.rate.code);
      }
    }
  }
}

TEST(SaPath, WhatIsProvenIsNotWalkedAndWhatIsInstalledCounts) {
  const test::SaLab lab("ft2:4");
  EXPECT_TRUE(lab.directory().all_is_proven());
  const auto& ports = lab.directory().end_ports();
  const auto is_host = [](const sa::EndPort& port) { return !port.node->is_switch(); };
  const auto& from = *std::ranges::find_if(ports, is_host);
  const auto& to = *std::ranges::find_if(ports.rbegin(), ports.rend(), is_host);

  auto subnet = std::make_shared<sm::Subnet>(*lab.snapshot().subnet);
  for (auto& node : subnet->nodes) {
    if (node->guid() != from.info().peer->node) continue;
    auto leaf = std::make_shared<sm::Node>(*node);
    auto row = std::make_shared<routing::LftRow>(*leaf->lft.row);
    row->at(to.lid.value()) = routing::kNoRoute;
    leaf->lft.row = std::move(row);
    node = std::move(leaf);
  }
  auto snapshot = std::make_shared<sm::Snapshot>(lab.snapshot());
  snapshot->subnet = std::move(subnet);
  const sa::Directory directory(std::move(snapshot), &lab.directory());
  EXPECT_FALSE(directory.all_is_proven());
  const auto& changed = directory.end_ports();
  const auto trip = sa::round_trip(directory, changed[from.place], changed[to.place], from.lid, to.lid);
  EXPECT_FALSE(trip.there);
  EXPECT_TRUE(trip.back);
}

TEST(SaPath, AnswersFromKeptTablesAndInUsedMemoryAreTheSame) {
  const test::SaLab lab("ft2:4");
  const auto& directory = lab.directory();
  const auto& ports = directory.end_ports();
  const auto table = Question{.attribute = wire::NodeRecordId::kRecord}.with();
  const auto path = Question{.method = Method::get, .attribute = Path::kRecord, .mask = kEnds}.with(
      Path{.dgid = directory.gid_of(ports.back()), .sgid = directory.gid_of(ports[6])});
  const auto none = Question{.method = Method::get, .attribute = Path::kRecord, .mask = kEnds}.with(Path{});
  sa::TableCache tables;
  std::vector<std::uint8_t> out;
  for (const auto& question : {table, path, table, none, path, table}) {
    ASSERT_TRUE(sa::answer(&directory, {}, {}, question, {}, tables, out));
    EXPECT_EQ(out, *sa::answer(&directory, {}, {}, question));
  }
}

TEST(SaPath, AllPathsOfALeafAtOnce) {
  const test::SaLab lab("ft2:4");
  const auto& directory = lab.directory();
  Path from;
  from.slid = directory.end_ports().back().lid;
  const auto reply =
      ask(directory, Question{.attribute = Path::kRecord, .mask = bit(Path::kSlid)}.with(from));
  EXPECT_EQ(reply.records.size(), directory.end_ports().size());
  const auto world = ask(directory, Question{.attribute = Path::kRecord}.with());
  const auto all = directory.end_ports().size() * directory.end_ports().size();
  EXPECT_EQ(world.records.size(), all - 2) << "all but the two between the spines";
}

TEST(SaPath, OneQuestionAsksForManyPairs) {
  const test::SaLab lab("ft2:4");
  const auto& directory = lab.directory();
  using Multi = wire::MultiPathRecord;
  Multi asked{.sources = 2, .destinations = 3};
  Question question{.method = Method::get_multi,
                    .attribute = Multi::kRecord,
                    .mask = bit(Multi::kSources) | bit(Multi::kDestinations)};
  auto bytes = question.with(asked);
  const auto& ports = directory.end_ports();
  for (std::size_t i = 0; i < 5; ++i) {
    const auto gid = directory.gid_of(ports[ports.size() - 1 - i]);
    std::ranges::copy(gid.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(wire::kSaDataOffset +
                                                                             Multi::kGidsAt + i * 16));
  }
  const auto reply = ask(directory, bytes);
  ASSERT_EQ(reply.status, 0);
  EXPECT_EQ(reply.method, Method::get_multi_resp);
  ASSERT_EQ(reply.records.size(), 6U);
  EXPECT_EQ(reply.get<Path>(5).sgid, directory.gid_of(ports[ports.size() - 2]));
  EXPECT_EQ(reply.get<Path>(5).dgid, directory.gid_of(ports[ports.size() - 5]));
  EXPECT_EQ(reply.attribute, Path::kRecord);

  asked.paths = 4;
  question.mask |= bit(Multi::kPaths);
  auto some = question.with(asked);
  std::copy(bytes.begin() + wire::kSaDataOffset + Multi::kGidsAt, bytes.end(),
            some.begin() + wire::kSaDataOffset + Multi::kGidsAt);
  EXPECT_EQ(ask(directory, some).records.size(), 4U) << "NumbPath of all pairs together";
  asked.sl = Sl{9};
  question.mask |= bit(Multi::kSl);
  some = question.with(asked);
  std::copy(bytes.begin() + wire::kSaDataOffset + Multi::kGidsAt, bytes.end(),
            some.begin() + wire::kSaDataOffset + Multi::kGidsAt);
  EXPECT_EQ(ask(directory, some).status, 0) << "no path is an answer too";
  EXPECT_EQ(ask(directory, some).records.size(), 0U);

  bytes[wire::kSaDataOffset + Multi::kGidsAt + 15] ^= 0x7f;
  EXPECT_EQ(ask(directory, bytes).status, wire::kSaInvalidGid);
  question.mask = 0;
  EXPECT_EQ(ask(directory, question.with(asked)).status, wire::kSaInsufficientComponents);
  question.mask = bit(Multi::kSources) | bit(Multi::kDestinations) | bit(Multi::kServiceIdLow);
  EXPECT_EQ(ask(directory, question.with(asked)).status, wire::kSaInsufficientComponents)
      << "half of a ServiceID";
  asked.sources = 200;
  question.mask = bit(Multi::kSources) | bit(Multi::kDestinations);
  EXPECT_EQ(ask(directory, question.with(asked)).status, wire::kSaRequestInvalid);
}

TEST(SaPath, ATraceNamesTheNodesOfTheWay) {
  const test::SaLab lab("ft2:4");
  const auto& directory = lab.directory();
  const auto& from = directory.end_ports().back();
  const auto& to = directory.end_ports()[6];
  ASSERT_FALSE(to.node->is_switch());
  Question question{
      .method = Method::get_trace_table, .attribute = wire::TraceRecord::kRecord, .mask = kEnds};
  const auto bytes = question.with(Path{.dgid = directory.gid_of(to), .sgid = directory.gid_of(from)});

  const auto reply = ask(directory, bytes);

  ASSERT_EQ(reply.status, 0);
  EXPECT_EQ(reply.method, Method::get_table_resp);
  const auto nodes = reply.records.size();
  ASSERT_GE(nodes, 3U);
  EXPECT_EQ(reply.get<wire::TraceRecord>(0).node, from.node->guid());
  EXPECT_EQ(reply.get<wire::TraceRecord>(0).exit, from.guid);
  EXPECT_EQ(reply.get<wire::TraceRecord>(0).entry_port, PortNum{0});
  EXPECT_EQ(reply.get<wire::TraceRecord>(nodes - 1).entry, to.guid);
  for (std::size_t i = 1; i < nodes; ++i) {
    const auto before = reply.get<wire::TraceRecord>(i - 1), now = reply.get<wire::TraceRecord>(i);
    const auto& out = directory.subnet().find(before.node)->ports[before.exit_port.value()];
    EXPECT_EQ(out.peer, (sm::PeerPort{now.node, now.entry_port}));
  }
  question.mask = bit(Path::kSgid);
  EXPECT_EQ(ask(directory, question.with(Path{.dgid = {}, .sgid = directory.gid_of(from)})).status,
            wire::kSaInsufficientComponents);
}

TEST(SaPath, IsToldNoFasterThanOldKernelsUnderstand) {
  const test::SaLab lab("ft2:4");
  const auto& directory = lab.directory();
  const auto& ports = directory.end_ports();
  const auto bytes = Question{.method = Method::get, .attribute = Path::kRecord, .mask = kEnds}.with(
      Path{.dgid = directory.gid_of(ports.back()), .sgid = directory.gid_of(ports[6])});
  const auto rate = [&](std::uint8_t most) {
    return test::reply_of(*sa::answer(&directory, {}, {.max_rate = most}, bytes)).get<Path>(0).rate;
  };
  const auto own = rate(0);
  ASSERT_GT(rate_mbps(own), 10'000U);
  EXPECT_EQ(rate(3), 3);  // 10 Gb/s
  EXPECT_EQ(rate(own), own);
}

TEST(SaPath, AnotherSubnetIsReachedByItsRouter) {
  const test::SaLab lab("ft2:4");
  const auto& directory = lab.directory();
  const auto& ports = directory.end_ports();
  const auto& router = ports[7];
  const auto far = *base::parse_gid("fec0:0:0:2::1234");
  const auto bytes = Question{.method = Method::get, .attribute = Path::kRecord, .mask = kEnds}.with(
      Path{.dgid = far, .sgid = directory.gid_of(ports[6])});
  const auto ask_by = [&](std::vector<config::PrefixRoute> routes) {
    return test::reply_of(*sa::answer(&directory, {}, {.prefix_routes = std::move(routes)}, bytes));
  };
  EXPECT_EQ(ask_by({}).status, wire::kSaInvalidGid);
  EXPECT_EQ(ask_by({{.prefix = 0xfec0000000000003U, .router = router.guid}}).status, wire::kSaInvalidGid);
  const auto reply = ask_by({{.prefix = far.prefix(), .router = router.guid}, {}});
  ASSERT_EQ(reply.status, 0);
  const auto path = reply.get<Path>(0);
  EXPECT_EQ(path.dgid, far);
  EXPECT_EQ(path.dlid, router.lid);
  EXPECT_EQ(path.hop_limit, 255);
  EXPECT_EQ(ask_by({{}}).status, wire::kSaInvalidGid) << "no router is there";
}

TEST(SaPath, IndependentPathsShareAsFewLinksAsTheyCan) {
  config::SubnetConfig config;
  config.lids.lmc = 2;
  const test::SaLab lab("ft2:8", config);
  const auto& directory = lab.directory();
  using Multi = wire::MultiPathRecord;
  const auto& ports = directory.end_ports();
  const auto& from = ports.back();
  const auto& to =
      *std::ranges::find_if(ports, [](const sa::EndPort& port) { return !port.node->is_switch(); });
  auto bytes = Question{.method = Method::get_multi,
                        .attribute = Multi::kRecord,
                        .mask = bit(Multi::kSources) | bit(Multi::kDestinations) | bit(Multi::kIndependence) |
                                bit(Multi::kPaths)}
                   .with(Multi{.paths = 3, .independence = 1, .sources = 1, .destinations = 1});
  for (const auto& [port, at] : {std::pair{&from, 0}, std::pair{&to, 16}}) {
    std::ranges::copy(directory.gid_of(*port).bytes,
                      bytes.begin() + static_cast<std::ptrdiff_t>(wire::kSaDataOffset + Multi::kGidsAt) + at);
  }
  const auto reply = ask(directory, bytes);

  ASSERT_EQ(reply.records.size(), 3U);
  std::set<Guid> spines;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto steps = sa::steps_between(directory, from, to, reply.get<Path>(i).dlid);
    ASSERT_EQ(steps.size(), 4U);
    spines.insert(steps[1].to->guid());
  }
  EXPECT_EQ(spines.size(), 3U) << "each by another spine";
}

TEST(SaPath, LidsOfALmcAreSpread) {
  config::SubnetConfig config;
  config.lids.lmc = 2;
  const test::SaLab lab("ft2:4", config);
  const auto& directory = lab.directory();
  const auto& from = directory.end_ports().back();
  const auto& to = directory.end_ports()[directory.end_ports().size() - 2];
  const Path asked{.dgid = directory.gid_of(to), .sgid = directory.gid_of(from), .paths = 4};
  const auto reply =
      ask(directory, Question{.attribute = Path::kRecord, .mask = kEnds | bit(Path::kPaths)}.with(asked));
  ASSERT_EQ(reply.records.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(reply.get<Path>(i).slid.value() - from.lid.value(), i);
    EXPECT_EQ(reply.get<Path>(i).dlid.value() - to.lid.value(), i);
  }
  const auto all = ask(directory, Question{.attribute = Path::kRecord, .mask = kEnds}.with(asked));
  EXPECT_EQ(all.records.size(), 16U);
}

TEST(SaPath, WhatCannotBeHadIsRefused) {
  const test::SaLab lab("ft2:4");
  const auto& directory = lab.directory();
  const auto& from = directory.end_ports().back();
  const auto& to = directory.end_ports()[directory.end_ports().size() - 2];
  const Path ends{.dgid = directory.gid_of(to), .sgid = directory.gid_of(from)};
  const auto status = [&](std::uint64_t mask, const Path& path) {
    return ask(directory,
               Question{.method = Method::get, .attribute = Path::kRecord, .mask = kEnds | mask}.with(path))
        .status;
  };
  auto path = ends;
  path.dgid = Gid::of(kDefaultSubnetPrefix, Guid{77});
  EXPECT_EQ(status(0, path), wire::kSaInvalidGid);
  path = ends;
  path.pkey = PKey{0x8123};
  EXPECT_EQ(status(bit(Path::kPKey), path), wire::kSaNoRecords);
  path.pkey = PKey{0x7FFF};  // the default partition, whichever membership
  EXPECT_EQ(status(bit(Path::kPKey), path), wire::kStatusOk);
  path = ends;
  path.sl = Sl{3};
  EXPECT_EQ(status(bit(Path::kSl), path), wire::kSaNoRecords);
  path = ends;
  path.dlid = from.lid;  // not the port of the GID
  EXPECT_EQ(status(bit(Path::kDlid), path), wire::kSaRequestInvalid);
  path.dlid = Lid{999};
  EXPECT_EQ(status(bit(Path::kDlid), path), wire::kSaNoRecords);
}

TEST(SaPath, AGetThatNamesNoEndsIsGivenTheFirstPath) {
  const test::SaLab lab("ft2:4");
  const auto& ports = lab.directory().end_ports();
  const Question question{.method = Method::get, .attribute = Path::kRecord, .mask = bit(Path::kDlid)};
  const auto reply =
      ask(lab.directory(), question.with(Path{.dgid = {}, .sgid = {}, .dlid = ports.back().lid}));
  ASSERT_EQ(reply.status, wire::kStatusOk);
  EXPECT_EQ(reply.get<Path>(0).slid, ports.front().lid);
  EXPECT_EQ(reply.get<Path>(0).dlid, ports.back().lid);
}

/// All pairs of a large fabric take minutes: others would wait.
TEST(SaPath, AGetThatNothingMeetsDoesNotLookAtAllPairs) {
  const test::SaLab lab("ft2:24");
  ASSERT_GT(lab.directory().end_ports().size() * lab.directory().end_ports().size(), 65'536U);
  const Question question{.method = Method::get, .attribute = Path::kRecord, .mask = bit(Path::kSl)};
  EXPECT_EQ(ask(lab.directory(), question.with(Path{.dgid = {}, .sgid = {}, .sl = Sl{3}})).status,
            wire::kSaNoResources);
}

TEST(SaPath, LimitsOfMtuAndRate) {
  using wire::Selector;
  const auto mtu = [](Selector how, Mtu value) {
    return sa::limited(Mtu::m2048, sa::Limit<Mtu>{how, value});
  };
  EXPECT_EQ(mtu(Selector::greater, Mtu::m1024), Mtu::m2048);
  EXPECT_EQ(mtu(Selector::greater, Mtu::m2048), std::nullopt);
  EXPECT_EQ(mtu(Selector::less, Mtu::m4096), Mtu::m2048);
  EXPECT_EQ(mtu(Selector::less, Mtu::m1024), Mtu::m512);
  EXPECT_EQ(mtu(Selector::less, Mtu::m256), std::nullopt);
  EXPECT_EQ(mtu(Selector::exactly, Mtu::m512), Mtu::m512);
  EXPECT_EQ(mtu(Selector::exactly, Mtu::m4096), std::nullopt);
  EXPECT_EQ(mtu(Selector::largest, Mtu::m256), Mtu::m2048);

  const auto hdr = static_rate(LinkWidth::x4, LinkSpeed::hdr);  // 200 Gb/s
  const auto rate = [&](Selector how, std::uint8_t code) {
    const auto left = sa::limited(hdr, sa::Limit<std::uint8_t>{how, code});
    return left ? left->mbps : 0;
  };
  EXPECT_EQ(hdr.mbps, 200'000U);
  EXPECT_EQ(rate(Selector::less, 17), 168'000U);
  EXPECT_EQ(rate(Selector::exactly, 16), 100'000U);
  EXPECT_EQ(rate(Selector::exactly, 21), 0U);
  EXPECT_EQ(rate(Selector::greater, 16), 200'000U);
  EXPECT_EQ(rate(Selector::exactly, 63), 0U);  // no rate at all
}

TEST(SaPath, EveryWidthAndSpeedHasARate) {
  for (const auto width : {LinkWidth::x1, LinkWidth::x2, LinkWidth::x4, LinkWidth::x8, LinkWidth::x12}) {
    for (auto speed = LinkSpeed::sdr; speed <= LinkSpeed::xdr;
         speed = static_cast<LinkSpeed>(static_cast<int>(speed) + 1)) {
      const auto rate = static_rate(width, speed);
      const auto mbps = lanes(width) * lane_mbps(speed);
      // 12 lanes of XDR are the one pair that is faster than the fastest code.
      EXPECT_EQ(rate.mbps, std::min(mbps, 1'600'000U)) << to_string(width) << to_string(speed);
      EXPECT_EQ(rate_mbps(rate.code), rate.mbps);
    }
  }
  EXPECT_EQ(static_rate(LinkWidth::unknown, LinkSpeed::edr).code, 0);
}

}  // namespace
}  // namespace smd
