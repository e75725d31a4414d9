// SPDX-License-Identifier: Apache-2.0
// SLs of classes in layers, from one decision to the next; weights of the layers.
#include "smd/decide/service_levels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "smd/decide/qos_kinds.h"
#include "smd/decide/qos_lanes.h"
#include "smd/decide/qos_shares.h"

namespace smd::sm {
namespace {

using testing::ElementsAre;

RoutePart routes_of(unsigned layers, unsigned vls) {
  RoutePart part;
  part.layers.count = layers;
  part.vls = vls;
  return part;
}

SlPart decided(std::vector<Sl> classes, unsigned layers, unsigned vls, const WireSls& kept = {}) {
  const auto routes = routes_of(layers, vls);
  const auto own = vls / static_cast<unsigned>(classes.size());
  return decide_service_levels(
      {.classes = std::move(classes), .routes = &routes, .kept = kept, .own_layers = own});
}

TEST(ServiceLevels, WithOneLayerAnSlIsTheNumberOfItsClass) {
  const auto part = decided({Sl{0}, Sl{5}}, 1, 1);
  EXPECT_FALSE(has_layers(part));
  EXPECT_EQ(wire_sl(&part, Sl{5}, 0), Sl{5});
  EXPECT_EQ(wire_sl(&part, Sl{7}, 0), Sl{0}) << "a class that nothing asks for";
  EXPECT_EQ(wire_sl(nullptr, Sl{7}, 3), Sl{7});
  EXPECT_EQ(class_of(&part, Sl{5}, 0), Sl{5});
  EXPECT_EQ(class_of(&part, Sl{6}, 0), std::nullopt);
}

TEST(ServiceLevels, OneClassHasAllVlsForLayers) {
  const auto part = decided({Sl{0}}, 3, 8);
  EXPECT_EQ(part.layers, 8U);
  for (unsigned layer = 0; layer < 8; ++layer) EXPECT_EQ(wire_sl(&part, Sl{0}, layer).value(), layer);
}

TEST(ServiceLevels, SpareLayersLeaveClassesVlsOfTheirOwn) {
  EXPECT_EQ(decided({Sl{0}, Sl{1}}, 2, 8).layers, 4U);
  EXPECT_EQ(decided({Sl{0}, Sl{1}, Sl{2}}, 3, 8).layers, 3U) << "not a whole one to spare";
  EXPECT_EQ(decided({Sl{0}, Sl{1}}, 2, 15).layers, 7U);
}

TEST(ServiceLevels, LayersThatHadSlsKeepThem) {
  const auto before = decided({Sl{0}, Sl{1}}, 2, 8);
  const auto more = decided({Sl{0}, Sl{1}, Sl{2}}, 2, 8, before.sls);
  EXPECT_EQ(more.layers, 2U) << "three classes have VLs of their own";
  for (const auto& [key, sl] : before.sls) EXPECT_EQ(more.sls.at(key), sl);
  const auto after = decided({Sl{0}, Sl{2}}, 2, 8, before.sls);
  for (unsigned layer = 0; layer < 4; ++layer) {
    EXPECT_EQ(wire_sl(&after, Sl{0}, layer), wire_sl(&before, Sl{0}, layer));
    EXPECT_EQ(after.sls.at({Sl{1}, layer}), before.sls.at({Sl{1}, layer})) << "it may come back";
  }
}

TEST(ServiceLevels, AClassWhoseNumberIsTakenKeepsItsSlWithOneLayer) {
  const auto before = decided({Sl{0}}, 2, 4);  // SL 1 is layer 1
  const auto both = decided({Sl{0}, Sl{1}}, 2, 4, before.sls);
  EXPECT_EQ(wire_sl(&both, Sl{1}, 0), Sl{4});
  const auto one = decided({Sl{0}, Sl{1}}, 1, 1, both.sls);
  EXPECT_EQ(wire_sl(&one, Sl{1}, 0), Sl{4});
  EXPECT_TRUE(has_layers(one));
}

TEST(ServiceLevels, ClassesBeyondSixteenSlsAreLeftOut) {
  const auto part = decided({Sl{0}, Sl{1}, Sl{2}, Sl{3}, Sl{4}, Sl{5}}, 3, 8);
  EXPECT_THAT(part.classes, ElementsAre(Sl{0}, Sl{1}, Sl{2}, Sl{3}, Sl{4}));
  EXPECT_THAT(part.left_out, ElementsAre(Sl{5}));
  EXPECT_EQ(wire_sl(&part, Sl{5}, 2), wire_sl(&part, Sl{0}, 2));
  EXPECT_EQ(most_layers(5), 3U);
  EXPECT_EQ(most_layers(20), 1U);
}

/// A class that is new takes no SL from one whose clients have some.
TEST(ServiceLevels, OfClassesBeyondSixteenSlsNewOnesAreLeftOutFirst) {
  const auto before = decided({Sl{0}, Sl{1}, Sl{2}, Sl{3}}, 4, 8);
  const auto after = decided({Sl{0}, Sl{5}, Sl{1}, Sl{2}, Sl{3}}, 4, 8, before.sls);
  EXPECT_THAT(after.classes, ElementsAre(Sl{0}, Sl{1}, Sl{2}, Sl{3}));
  EXPECT_THAT(after.left_out, ElementsAre(Sl{5}));
  EXPECT_EQ(after.sls, before.sls);
}

TEST(ServiceLevels, ClassesAreWhatSmPartitionsAndPolicyAskFor) {
  config::QosPolicy policy;
  policy.levels.push_back({.name = "DEFAULT", .sl = Sl{2}});
  policy.levels.push_back({.name = "fast", .sl = Sl{1}});
  policy.ulps.push_back({.name = "any", .sl = Sl{9}});
  config::PartitionPolicy partitions;
  partitions.partitions.emplace_back().sl = Sl{4};
  EXPECT_THAT(classes_in_use(Sl{7}, &policy, &partitions), ElementsAre(Sl{2}, Sl{1}, Sl{4}, Sl{7}, Sl{9}));
  EXPECT_THAT(classes_in_use(Sl{7}, nullptr, &partitions), ElementsAre(Sl{0})) << "QoS is off";
}

TEST(ServiceLevels, WeightsFollowThePairsThatLayersHadAtFirst) {
  Stored stored;
  routing::GuidLayers home;
  for (std::uint64_t guid = 1; guid <= 5; ++guid) {
    home.switches.push_back(Guid{guid});
    home.layers.add_switch(guid - 1, 0);
  }
  home.layers.set(0, 1, 1);
  home.layers.set(0, 2, 1);
  stored.layers_home = std::make_shared<const routing::GuidLayers>(home);
  EXPECT_THAT(layer_loads(stored, routes_of(2, 8), 3), ElementsAre(13, 3, 0)) << "8, 2 and 0 of 10 pairs";
  EXPECT_THAT(layer_loads(stored, routes_of(3, 8), 4), ElementsAre(13, 3, 1, 0))
      << "a repair has led pairs there";
}

TEST(ServiceLevels, ListsAreDividedAmongTheLayersOfTheirVls) {
  config::QosConfig qos;
  qos.enabled = true;
  const auto sls = decided({Sl{0}, Sl{1}, Sl{15}}, 2, 8);
  auto kind = qos_kind(qos, config::PortClass::switch_external, nullptr);
  kind.sl_to_vl[1] = Vl{0};
  kind.sl_to_vl[15] = Vl{15};
  const auto tables = limited(in_layers(kind, sls, {3, 1}), {.vls = 4, .low = 8, .high = 8});
  const auto vl = [&](Sl of_class, unsigned layer) {
    return tables.sl_to_vl.vls[wire_sl(&sls, of_class, layer).value()];
  };
  EXPECT_EQ(vl(Sl{0}, 0), vl(Sl{1}, 0)) << "one VL in the list";
  EXPECT_EQ(vl(Sl{0}, 1), vl(Sl{1}, 1));
  EXPECT_NE(vl(Sl{0}, 0), vl(Sl{0}, 1));
  EXPECT_EQ(vl(Sl{15}, 0), Vl{15});
  EXPECT_EQ(vl(Sl{15}, 1), Vl{15});
  EXPECT_EQ(tables.arbitration[2].entries[0], (wire::VlWeight{Vl{0}, 192})) << "VL 0 is of high priority";
  EXPECT_EQ(tables.arbitration[2].entries[1], (wire::VlWeight{Vl{1}, 64}));
}

/// Connections go on on them, and what was proven is a VL for each layer.
TEST(ServiceLevels, SlsOfAClassThatIsGoneStayInTheirLayers) {
  const auto before = decided({Sl{0}, Sl{1}, Sl{3}}, 2, 8);
  const auto after = decided({Sl{0}, Sl{3}}, 2, 8, before.sls);
  config::QosConfig qos;
  qos.enabled = true;
  const auto lists = qos_kind(qos, config::PortClass::switch_external, nullptr);
  for (const auto& kind : {plain_kind(after.classes), lists}) {
    const auto tables =
        limited(in_layers(kind, after, {2, 1, 0, 0}), {.vls = 4, .low = 8, .high = 8}).sl_to_vl.vls;
    for (unsigned layer = 0; layer < 2; ++layer)
      EXPECT_EQ(tables[before.sls.at({Sl{1}, layer}).value()], tables[wire_sl(&after, Sl{0}, layer).value()]);
    EXPECT_NE(tables[wire_sl(&after, Sl{0}, 0).value()], tables[wire_sl(&after, Sl{0}, 1).value()]);
  }
}

/// Connections go on on them, on the VL and the share of their class.
TEST(ServiceLevels, SlsOfLayersThatAreGoneStayInTheirClass) {
  const std::vector classes{Sl{0}, Sl{1}};
  const auto before = decided(classes, 3, 8);
  const auto vls_of = [](const QosPart::Kind& kind) {
    return limited(kind, {.vls = 4, .low = 8, .high = 8}).sl_to_vl.vls;
  };
  const auto one = decided(classes, 1, 8, before.sls);
  ASSERT_FALSE(has_layers(one));
  const auto in_one = vls_of(in_one_layer(plain_kind(classes), one));
  EXPECT_NE(in_one[0], in_one[1]);
  const auto two = decided(classes, 2, 4, before.sls);
  ASSERT_EQ(two.layers, 2U);
  const auto in_two = vls_of(in_layers(plain_kind(classes), two, {1, 1}));
  for (const auto of : classes) {
    for (unsigned layer = 0; layer < 3; ++layer)
      EXPECT_EQ(in_one[before.sls.at({of, layer}).value()], in_one[of.value()])
          << fmt::format("{} {}", of, layer);
    EXPECT_EQ(in_two[before.sls.at({of, 2}).value()], in_two[wire_sl(&two, of, 0).value()])
        << fmt::to_string(of);
  }
}

TEST(ServiceLevels, AClassThatIsLeftOutTakesNoSlFromTheFirstOne) {
  const std::vector classes{Sl{0}, Sl{1}, Sl{2}, Sl{3}, Sl{4}, Sl{5}};
  const auto part = decided(classes, 3, 8);
  ASSERT_THAT(part.left_out, ElementsAre(Sl{5}));
  const auto host = limited(in_layers(plain_kind(classes), part, {}), {.vls = 4, .low = 8, .high = 8});
  for (unsigned layer = 0; layer < 3; ++layer)
    EXPECT_EQ(host.sl_to_vl.vls[wire_sl(&part, Sl{0}, layer).value()], Vl{0}) << layer;
}

/// docs/qos.md, 'Layers'.
TEST(ServiceLevels, AVlWithoutWeightInTheListsHasTurnsNevertheless) {
  config::QosConfig qos;
  qos.enabled = true;
  const auto sls = decided({Sl{0}, Sl{1}}, 2, 8);
  auto kind = qos_kind(qos, config::PortClass::switch_external, nullptr);
  for (auto& entry : kind.low) entry.weight = entry.vl == Vl{1} ? std::uint8_t{0} : entry.weight;
  ASSERT_FALSE(served_vls(limited(kind, {.vls = 4, .low = 8, .high = 8}).arbitration).test(1));
  const auto tables = limited(in_layers(kind, sls, {3, 1}), {.vls = 4, .low = 8, .high = 8});
  for (unsigned layer = 0; layer < 2; ++layer) {
    const auto vl = tables.sl_to_vl.vls[wire_sl(&sls, Sl{1}, layer).value()];
    EXPECT_TRUE(served_vls(tables.arbitration).test(vl.value())) << layer;
  }
}

/// As OpenSM's torus-2QoS has them: SL bit 3 is the level, bits 0 to 2 are those of dimensions.
TEST(ServiceLevels, LayersThatAreBitsHaveABlockOfSls) {
  auto routes = routes_of(4, 8);
  routes.layers.vls = routing::VlMap(4, {});
  const WireSls none;

  EXPECT_THAT(classes_without_qos(&routes), ElementsAre(Sl{0}, Sl{8}));
  const auto part = decide_service_levels({.classes = {Sl{0}, Sl{8}}, .routes = &routes, .kept = none});

  EXPECT_EQ(part.layers, 8U);
  for (unsigned layer = 0; layer < 8; ++layer) {
    EXPECT_EQ(wire_sl(&part, Sl{0}, layer), Sl{static_cast<std::uint8_t>(layer)});
    EXPECT_EQ(wire_sl(&part, Sl{8}, layer), Sl{static_cast<std::uint8_t>(8 + layer)});
  }
  const auto others = decide_service_levels({.classes = {Sl{9}, Sl{3}}, .routes = &routes, .kept = none});
  EXPECT_EQ(wire_sl(&others, Sl{9}, 0), Sl{8});
  EXPECT_EQ(wire_sl(&others, Sl{3}, 7), Sl{7});
  const auto many =
      decide_service_levels({.classes = {Sl{0}, Sl{1}, Sl{2}, Sl{3}}, .routes = &routes, .kept = none});
  EXPECT_EQ(many.layers, 4U) << "16 SLs";
  EXPECT_TRUE(many.left_out.empty());
}

TEST(ServiceLevels, VlsOfBitsFollowFromBothPorts) {
  auto routes = routes_of(8, 8);
  routes.layers.vls = routing::VlMap(4, {});
  const WireSls none;
  const auto sls = decide_service_levels({.classes = {Sl{0}, Sl{8}}, .routes = &routes, .kept = none});
  for (const auto dimension : std::to_array<std::uint8_t>({0, 1, 2, 3})) {
    auto kind = plain_kind(sls.classes);
    kind.indexes = 4;
    kind.dimension = dimension;
    const auto eight = limited(in_layers(kind, sls, {1, 1, 1, 1}), {.vls = 4, .low = 8, .high = 8});
    const auto four = limited(in_layers(kind, sls, {1, 1, 1, 1}), {.vls = 3, .low = 8, .high = 8});
    for (unsigned sl = 0; sl < 16; ++sl) {
      const unsigned bit = dimension < 3 ? sl >> dimension & 1U : 0U, level = sl >> 3U;
      const unsigned turn = dimension < 3 ? 2U : 0U;
      EXPECT_EQ(eight.sl_to_vl.vls[sl].value(), 4 * level + bit);
      EXPECT_EQ(eight.turned.vls[sl].value(), 4 * level + turn + bit);
      EXPECT_EQ(four.sl_to_vl.vls[sl].value(), bit) << "both levels";
      EXPECT_EQ(four.turned.vls[sl].value(), turn + bit);
    }
    for (std::size_t vl = 0; vl < 8; ++vl)
      EXPECT_EQ(eight.arbitration[0].entries[vl], (wire::VlWeight{Vl{static_cast<std::uint8_t>(vl)}, 64}));
  }
  const auto host = limited(in_layers(plain_kind(sls.classes), sls, {}), {.vls = 2, .low = 8, .high = 8});
  for (unsigned sl = 0; sl < 16; ++sl) EXPECT_EQ(host.sl_to_vl.vls[sl].value(), sl >> 3U);
}

/// A layer more adds VLs and changes none: what is under way stays where it was proven.
TEST(QosLanes, AFurtherLayerMovesNoVl) {
  std::vector<QosPart::Class> classes{{.sl = Sl{0}}, {.sl = Sl{1}}};
  const auto two = *qos_lanes(classes, std::vector<double>{1, 1}, {.vls = 8, .low = 8, .high = 8});
  const auto three = *qos_lanes(classes, std::vector<double>{1, 1, 1}, {.vls = 8, .low = 8, .high = 8});
  for (std::size_t of = 0; of < 2; ++of) {
    for (std::size_t layer = 0; layer < 2; ++layer) EXPECT_EQ(two.vls[of][layer], three.vls[of][layer]);
  }
}

}  // namespace
}  // namespace smd::sm
