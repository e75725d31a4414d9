// SPDX-License-Identifier: Apache-2.0
// Classes and layers combined: SLs, VLs and weights.
#include "smd/decide/qos_lanes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "smd/decide/qos_kinds.h"
#include "smd/decide/qos_shares.h"

namespace smd::sm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kPacket = 4096 + 26;

std::vector<QosPart::Class> classes_of(const std::vector<unsigned>& shares, std::size_t high = 0) {
  std::vector<QosPart::Class> classes;
  for (const auto share : shares)
    classes.push_back({.sl = Sl{static_cast<std::uint8_t>(classes.size())}, .share = share, .sls = {}});
  for (std::size_t i = 0; i < high; ++i) classes[classes.size() - 1 - i].high = true;
  return classes;
}

QosPart::Kind kind_of(std::vector<QosPart::Class> classes) {
  QosPart::Kind kind;
  kind.classes = std::move(classes);
  return kind;
}

std::vector<std::string> sls_text(const WireSls& sls) {
  std::vector<std::string> lines;
  for (const auto& [key, sl] : sls) lines.push_back(fmt::format("{}/{}={}", key.first, key.second, sl));
  return lines;
}

std::string vls_text(const QosLanes& lanes) {
  std::string text;
  for (const auto& row : lanes.vls) {
    for (const auto vl : row) text += fmt::format("{} ", vl);
    text += "| ";
  }
  return text;
}

TEST(QosLanes, OneLayerHasTheClassesOwnSls) {
  const std::vector<Sl> classes{Sl{0}, Sl{5}, Sl{15}};
  EXPECT_THAT(sls_text(*wire_sls(classes, 1)), ElementsAre("0/0=0", "5/0=5", "15/0=15"));
}

TEST(QosLanes, FurtherLayersHaveFreeSlsAndNoneIsRenumbered) {
  const std::vector<Sl> classes{Sl{0}, Sl{2}};
  const auto two = *wire_sls(classes, 2);
  EXPECT_THAT(sls_text(two), ElementsAre("0/0=0", "0/1=1", "2/0=2", "2/1=3"));
  const std::vector<Sl> more{Sl{0}, Sl{1}, Sl{2}};
  EXPECT_THAT(sls_text(*wire_sls(more, 2, two)),
              ElementsAre("0/0=0", "0/1=1", "1/0=4", "1/1=5", "2/0=2", "2/1=3"))
      << "class 1 comes second: SL 1 is taken";
}

/// Connections of the class before may go on on them: another layer's VL is none that was proven.
TEST(QosLanes, ANewClassTakesSlsOfOneThatIsGoneInTheSameLayers) {
  const std::vector<Sl> before{Sl{0}, Sl{1}, Sl{2}, Sl{3}, Sl{4}}, after{Sl{0}, Sl{1}, Sl{2}, Sl{3}, Sl{5}};
  const auto kept = *wire_sls(before, 3);
  const auto sls = *wire_sls(after, 3, kept);
  EXPECT_EQ(sls.at({Sl{5}, 0}), Sl{15}) << "the only one that nothing has had";
  EXPECT_EQ(sls.at({Sl{5}, 1}), kept.at({Sl{4}, 1}));
  EXPECT_EQ(sls.at({Sl{5}, 2}), kept.at({Sl{4}, 2}));
  EXPECT_EQ(sls.at({Sl{4}, 0}), kept.at({Sl{4}, 0})) << "it may come back";
}

TEST(QosLanes, SlFifteenIsGivenLastAndSixteenAreAll) {
  std::vector<Sl> classes{Sl{0}, Sl{1}, Sl{2}, Sl{3}};
  const auto sls = *wire_sls(classes, 4);
  EXPECT_EQ(sls.at({Sl{3}, 3}), Sl{15});
  classes.push_back(Sl{4});
  EXPECT_EQ(wire_sls(classes, 4).error(), (LaneBudget{.needed = 20, .available = 16}));
}

TEST(QosLanes, AClassDividesItsWeightInProportionToTheLoadOfItsVls) {
  const auto classes = classes_of({6'000, 4'000});
  const std::vector<double> loads{3, 0, 1};
  const auto lanes = *qos_lanes(classes, loads, {.vls = 8, .low = 8, .high = 8});
  EXPECT_THAT(lanes.low, ElementsAre(LaneWeight{Vl{0}, 4'500, 0}, LaneWeight{Vl{1}, 3'000, 1},
                                     LaneWeight{Vl{2}, 1'500, 0}, LaneWeight{Vl{3}, 1'000, 1}))
      << "no route has the index 1";
  EXPECT_EQ(vls_text(lanes), "0 0 2 | 1 1 3 | ");
}

TEST(QosLanes, TheLastClassesShareTheVlsOfTheFirst) {
  const auto classes = classes_of({4'000, 3'000, 2'000, 1'000});
  const std::vector<double> one{1}, two{1, 1};
  const auto few = *qos_lanes(classes, one, {.vls = 2, .low = 8, .high = 8});
  EXPECT_EQ(vls_text(few), "0 | 1 | 0 | 0 | ");
  EXPECT_EQ(few.own, 2U);
  EXPECT_EQ(few.budget, (LaneBudget{.needed = 4, .available = 2}));
  EXPECT_THAT(few.low, ElementsAre(LaneWeight{Vl{0}, 7'000, 0}, LaneWeight{Vl{1}, 3'000, 1}));
  EXPECT_EQ(vls_text(*qos_lanes(classes, two, {.vls = 4, .low = 8, .high = 8})), "0 2 | 1 3 | 0 2 | 0 2 | ");
  EXPECT_EQ(qos_lanes(classes, one, {.vls = 8, .low = 3, .high = 8})->own, 3U) << "entries";
}

TEST(QosLanes, ClassesShareAVlWhereThatBringsTheSharesNearer) {
  const std::vector<double> one{1};
  const LaneLimits limits{.vls = 8, .low = 8, .high = 8};
  const auto tenants = *qos_lanes(classes_of(std::vector<unsigned>(14, 714)), one, limits);
  EXPECT_EQ(tenants.own, 7U) << "eight of 14 on VL 0 have two turns; nine would need three";
  const auto wide = *qos_lanes(classes_of({800, 6'200, 500, 500, 500, 500, 500, 500}), one, limits);
  EXPECT_EQ(wide.own, 6U) << "with a VL for each 62 % would be 36 %";
  EXPECT_EQ(qos_lanes(classes_of({6'200, 500}), one, limits)->own, 2U);
}

TEST(QosLanes, AClassOfHighPriorityThatSharesAVlBringsItNoWeight) {
  const std::vector<double> one{1};
  const auto lanes = *qos_lanes(classes_of({6'000, 4'000, 10'000}, 1), one, {.vls = 2, .low = 8, .high = 8});
  EXPECT_THAT(lanes.low, ElementsAre(LaneWeight{Vl{0}, 6'000, 0}, LaneWeight{Vl{1}, 4'000, 1}));
  EXPECT_THAT(lanes.high, IsEmpty());
}

TEST(QosLanes, IndexesOfRoutingAreNeverMerged) {
  const std::vector<double> loads{1, 1, 1};
  EXPECT_EQ(qos_lanes(classes_of({1}), loads, {.vls = 2}).error(), (LaneBudget{.needed = 3, .available = 2}));
}

TEST(QosLanes, WithoutATableOfHighPriorityItsClassesTakeTurns) {
  const std::vector<double> one{1};
  const auto classes = classes_of({5'000, 5'000}, 1);
  EXPECT_THAT(qos_lanes(classes, one, {.vls = 8, .low = 8, .high = 8})->high,
              ElementsAre(LaneWeight{Vl{1}, 5'000, 1}));
  const auto without = *qos_lanes(classes, one, {.vls = 8, .low = 8});
  EXPECT_THAT(without.high, IsEmpty());
  EXPECT_EQ(without.low.size(), 2U);
}

TEST(QosLanes, ListsAreShortAndSpread) {
  const std::vector<LaneWeight> lanes{{Vl{0}, 60, 0}, {Vl{1}, 40, 1}};
  EXPECT_THAT(arbitration_list(lanes, 8),
              ElementsAre(wire::VlWeight{Vl{0}, 192}, wire::VlWeight{Vl{1}, 128}));
  const std::vector<LaneWeight> wide{{Vl{0}, 80, 0}, {Vl{1}, 10, 1}, {Vl{2}, 10, 2}};
  EXPECT_THAT(arbitration_list(wide, 8), ElementsAre(wire::VlWeight{Vl{0}, 255}, wire::VlWeight{Vl{1}, 64},
                                                     wire::VlWeight{Vl{2}, 64}, wire::VlWeight{Vl{0}, 255}));
  EXPECT_THAT(arbitration_list(wide, 2), IsEmpty()) << "a VL without a turn would stop";
}

/// Packets of two classes on all layers that have routes.
std::pair<unsigned, unsigned> packets_of_two(const std::vector<unsigned>& shares,
                                             std::vector<unsigned> loads) {
  auto kind = kind_of(classes_of(shares));
  kind.loads = std::move(loads);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t layer = 0; layer < kind.loads.size(); ++layer)
      kind.classes[i].sls.push_back(static_cast<std::uint16_t>(1U << (i * 8 + layer)));
  }
  const auto tables = limited(kind, {.vls = 4, .maps_sls = true, .low = 8, .high = 8});
  const auto served = served_vls(tables.arbitration);
  VlSet busy;
  std::pair<unsigned, unsigned> packets;
  for (std::size_t layer = 0; layer < kind.loads.size(); ++layer) {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto vl = tables.sl_to_vl.vls[i * 8 + layer].value();
      EXPECT_TRUE(served.test(vl)) << "class " << i << ", layer " << layer;
      if (kind.loads[layer] == 0) continue;
      EXPECT_EQ(vl, layer * 2 + i);
      busy.set(vl);
    }
  }
  for (const auto& entry : tables.arbitration[0].entries) {
    if (entry.weight != 0 && busy.test(entry.vl.value()))
      (entry.vl.value() % 2 == 0 ? packets.first : packets.second) += (entry.weight + 63U) / 64U;
  }
  return packets;
}

/// torus:5x5:1 and torus:4x4x4:1 with dfsssp and 8 entries: what is exact with so few is found.
TEST(QosLanes, AClassHasItsShareInLayersToo) {
  using Packets = std::pair<unsigned, unsigned>;
  EXPECT_EQ(packets_of_two({8'000, 2'000}, {6, 5, 5}), Packets(12, 3));
  EXPECT_EQ(packets_of_two({8'000, 2'000}, {6, 5, 5, 0}), Packets(12, 3)) << "a layer without a route";
  EXPECT_EQ(packets_of_two({6'000, 4'000}, {6, 5, 5, 0}), Packets(9, 6));
  EXPECT_EQ(packets_of_two({9'000, 1'000}, {6, 5, 5, 0}), Packets(20, 3)) << "eight turns and no more";
  EXPECT_EQ(packets_of_two({8'000, 2'000}, {4, 4, 4, 4}), Packets(16, 4));
  const auto [most, least] = packets_of_two({6'000, 4'000}, {4, 4, 4, 4});
  EXPECT_EQ(most * 2, least * 3);
}

TEST(QosLanes, ALayerWithoutARouteHasItsVlWhereEntriesAreLeftOver) {
  const std::vector<double> loads{6, 5, 5, 0};
  const LaneLimits limits{.vls = 8, .low = 8, .high = 8};
  const auto with = *qos_lanes(classes_of({8'000, 2'000}), loads, limits);
  EXPECT_EQ(vls_text(with), "0 2 4 6 | 1 3 5 7 | ");
  EXPECT_EQ(with.low.back(), (LaneWeight{Vl{7}, 0, 1, true}));
  EXPECT_EQ(arbitration_list(with.low, 8).size(), 8U);
  const auto without = *qos_lanes(classes_of({9'000, 1'000}), loads, limits);
  EXPECT_EQ(vls_text(without), "0 2 4 0 | 1 3 5 1 | ");
}

/// What is asked for is what vl_shares() finds in the tables, which the simulator's packets confirm
/// (tests/integration/qos_shares_test.cpp).
TEST(QosLanes, SharesOfTheTablesAreThoseOfTheClasses) {
  for (const auto& shares : std::vector<std::vector<unsigned>>{{6'000, 4'000},
                                                               {5'000, 3'000, 2'000},
                                                               {1'000, 2'000, 3'000, 4'000},
                                                               {9'500, 500},
                                                               {3'333, 3'333, 3'334}}) {
    for (const std::uint8_t entries : {std::uint8_t{8}, std::uint8_t{32}, std::uint8_t{64}}) {
      const auto kind = kind_of(classes_of(shares));
      const auto tables = limited(kind, {.vls = 4, .low = entries, .high = entries});
      VlSet busy;
      for (std::size_t vl = 0; vl < shares.size(); ++vl) busy.set(vl);
      const auto found = vl_shares(tables, busy, kPacket);
      for (std::size_t vl = 0; vl < shares.size(); ++vl)
        EXPECT_NEAR(found[vl], shares[vl] / 10'000.0, entries == 8 ? 0.025 : 0.006)
            << fmt::format("{} of {} entries {}", vl, fmt::join(shares, ","), entries);
    }
  }
}

TEST(QosLanes, EveryNumberOfClassesHasTurnsOnEveryLink) {
  for (unsigned count = 1; count <= 15; ++count) {
    for (std::size_t high = 0; high < std::min(count, 4U); ++high) {
      const auto kind = kind_of(classes_of(std::vector<unsigned>(count, 10'000 / count), high));
      for (std::uint8_t code = 1; code <= 5; ++code) {
        for (const std::uint8_t entries : {std::uint8_t{2}, std::uint8_t{8}, std::uint8_t{64}}) {
          const auto tables = limited(kind, {.vls = code, .low = entries, .high = entries});
          const auto served = served_vls(tables.arbitration);
          for (const auto vl : tables.sl_to_vl.vls) {
            EXPECT_LT(vl.value(), vls_of_code(code));
            EXPECT_TRUE(served.test(vl.value())) << count << " classes, code " << unsigned{code};
          }
        }
      }
    }
  }
}

/// No VL with an SL is ever without turns: its packets would stand still.
RC_GTEST_PROP(QosLanes, WhateverIsAskedForEveryVlHasTurns, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 16);
  const auto shares = *rc::gen::container<std::vector<unsigned>>(count, rc::gen::inRange(1U, 10'000U));
  const auto high = *rc::gen::inRange<std::size_t>(0, count);
  const auto code = *rc::gen::inRange<std::uint8_t>(1, 6);
  const auto low_entries = *rc::gen::inRange<std::uint8_t>(1, 65);
  const auto high_entries = *rc::gen::inRange<std::uint8_t>(1, 65);
  auto kind = kind_of(classes_of(shares, high));
  const auto layers = *rc::gen::inRange<std::size_t>(0, 5);
  for (std::size_t i = 0; i < layers; ++i) kind.loads.push_back(*rc::gen::inRange(0U, 100U));
  const auto tables = limited(kind, {.vls = code, .low = low_entries, .high = high_entries});
  const auto served = served_vls(tables.arbitration);
  for (const auto* map : {&tables.sl_to_vl, &tables.turned}) {
    for (const auto vl : map->vls) RC_ASSERT(served.test(vl.value()));
  }
}

TEST(QosLanes, AsManyClassesAsEntriesHaveATurnEach) {
  const auto kind = kind_of(classes_of({6'500, 500, 500, 500, 500, 500, 500, 500}));
  const auto tables = limited(kind, {.vls = 4, .low = 8, .high = 8});
  EXPECT_EQ(served_vls(tables.arbitration).count(), 8U);
}

}  // namespace
}  // namespace smd::sm
