// SPDX-License-Identifier: Apache-2.0
// PortInfo: extended speeds, keys, capabilities, what a Set keeps.
#include <gtest/gtest.h>

#include "mad/wire/modifier.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

using wire::kExtendedSpeeds;

struct PortInfos : testing::Test {
  sim::World world{two_leaves()};
  Asker asker{world};
  mad::DirectedPath self = path({}), leaf0 = path({1}), leaf1 = path({1, 3, 2}), h1 = path({1, 3, 2, 1}),
                    h2 = path({1, 3, 2, 2});
};

TEST(PortInfoSpeeds, NdrHidesExtendedSpeedsFromAnSmThatDoesNotKnowThem) {
  FabricBuilder b;
  b.link(b.add_ca("h0"), 1, b.add_switch("leaf", 4), 1, LinkSpeed::ndr);
  sim::World world(b.fabric());
  Asker asker(world);
  const auto without = asker.get<wire::PortInfo>(path({1}), 1).value;
  EXPECT_EQ(without.link_speed_ext_active, 0);
  EXPECT_EQ(without.link_speed_ext_supported, 0);
  EXPECT_EQ(without.link_speed_ext_enabled, 0);
  EXPECT_EQ(without.link_speed_active, 4);

  const auto with = asker.get<wire::PortInfo>(path({1}), 1 | kExtendedSpeeds).value;
  EXPECT_EQ(with.link_speed_ext_active, 8);
  EXPECT_EQ(with.link_speed_ext_supported, 15);
}

TEST_F(PortInfos, ExtendedSpeedsUpToHdrAreShownToEverybody) {
  for (const auto modifier : {1U, 1U | kExtendedSpeeds}) {
    const auto info = asker.get<wire::PortInfo>(leaf1, modifier).value;
    EXPECT_EQ(info.link_speed_ext_active, 2);
    EXPECT_EQ(info.link_speed_ext_supported, 3);
    EXPECT_EQ(info.link_speed_ext_enabled, 3);
    EXPECT_EQ(info.link_speed_active, 4);
  }
  EXPECT_TRUE(wire::has(asker.get<wire::PortInfo>(h1, 1).value, wire::kCapExtendedSpeeds));
}

TEST_F(PortInfos, AnSmThatDoesNotKnowThemCannotSwitchThemOff) {
  asker.change<wire::PortInfo>(leaf1, 1, [](wire::PortInfo& info) { info.link_speed_ext_enabled = 30; });
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, 1 | kExtendedSpeeds).value.link_speed_ext_enabled, 3);
}

TEST_F(PortInfos, AnOldDeviceRefusesTheModifierOnly) {
  world.fabric().faults().refuses_extended_speeds("leaf1");
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, 1 | kExtendedSpeeds).status, wire::kStatusBadField);
  EXPECT_TRUE(asker.get<wire::PortInfo>(leaf1, 1).good());
}

TEST_F(PortInfos, ACasPortZeroIsWhereTheQuestionCameIn) {
  const auto info = asker.get<wire::PortInfo>(h2, 0).value;
  EXPECT_EQ(info, asker.get<wire::PortInfo>(h2, 1).value);
  const auto other = asker.get<wire::PortInfo>(h2, 2).value;
  EXPECT_EQ(other.port_state, PortState::down);
  EXPECT_EQ(other.local_port, PortNum{1});
  EXPECT_EQ(asker.get<wire::PortInfo>(h2, 3).status, wire::kStatusBadField);
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, 5).status, wire::kStatusBadField);
}

TEST_F(PortInfos, ACasPortIsSetThroughItselfOnly) {
  asker.change<wire::PortInfo>(h2, 2, [](wire::PortInfo& info) {
    info.lid = Lid{77};
    info.sm_lid = Lid{1};
  });
  EXPECT_EQ(asker.get<wire::PortInfo>(h2, 2).value.lid, Lid{});
}

TEST_F(PortInfos, ASetKeepsWhatIsWritable) {
  const auto set = asker.change<wire::PortInfo>(h1, 1, [](wire::PortInfo& info) {
    info.lid = Lid{40};
    info.lmc = 2;
    info.sm_lid = Lid{1};
    info.master_sm_sl = Sl{3};
    info.neighbor_mtu = Mtu::m4096;
    info.operational_vls = 3;
    info.vl_high_limit = 4;
    info.subnet_timeout = 18;
    info.client_reregister = true;
    info.capability_mask = 0xFFFF'FFFF;
    info.guid_cap = 1;
  });
  ASSERT_TRUE(set.good());
  const auto info = asker.get<wire::PortInfo>(h1, 1).value;
  EXPECT_EQ(info.lid, Lid{40});
  EXPECT_EQ(info.lmc, 2);
  EXPECT_EQ(info.master_sm_sl, Sl{3});
  EXPECT_EQ(info.neighbor_mtu, Mtu::m4096);
  EXPECT_EQ(info.operational_vls, 3);
  EXPECT_EQ(info.vl_high_limit, 4);
  EXPECT_EQ(info.subnet_timeout, 18);
  EXPECT_FALSE(info.client_reregister);
  EXPECT_FALSE(wire::has(info, wire::kCapIsSm));
  EXPECT_EQ(info.guid_cap, 128);
}

TEST_F(PortInfos, ReregistrationsAreCounted) {
  asker.change<wire::PortInfo>(h1, 1, [](wire::PortInfo& info) {
    info.lid = Lid{40};
    info.sm_lid = Lid{1};
    info.client_reregister = true;
  });
  const auto port = *world.fabric().find({"h1", PortNum{1}});
  EXPECT_EQ(world.fabric().state().ports[port].reregisters, 1U);
}

TEST_F(PortInfos, ValuesOutOfRangeAreRefused) {
  const auto refused = [&](auto how) {
    return asker
               .change<wire::PortInfo>(h1, 1,
                                       [&](wire::PortInfo& info) {
                                         info.lid = Lid{40};
                                         info.sm_lid = Lid{1};
                                         how(info);
                                       })
               .status == wire::kStatusBadField;
  };
  EXPECT_TRUE(refused([](wire::PortInfo& i) { i.operational_vls = 5; }));
  EXPECT_TRUE(refused([](wire::PortInfo& i) { i.neighbor_mtu = static_cast<Mtu>(6); }));
  EXPECT_TRUE(refused([](wire::PortInfo& i) { i.lid = Lid{0xC000}; }));
  EXPECT_TRUE(refused([](wire::PortInfo& i) { i.sm_lid = Lid{}; }));
  EXPECT_TRUE(refused([](wire::PortInfo& i) { i.link_width_enabled = 4; }));
  EXPECT_TRUE(refused([](wire::PortInfo& i) { i.port_state = static_cast<PortState>(9); }));
  EXPECT_FALSE(refused([](wire::PortInfo&) {}));
}

TEST_F(PortInfos, AFieldThatTheNodeForgetsIsAnsweredWellAndNotKept) {
  world.fabric().faults().forgets("leaf1", wire::PortInfo::kAttribute, "VLHighLimit");
  const auto set =
      asker.change<wire::PortInfo>(leaf1, 1, [](wire::PortInfo& info) { info.vl_high_limit = 9; });
  EXPECT_TRUE(set.good());
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, 1).value.vl_high_limit, 0);
}

TEST_F(PortInfos, ThreeSpeedsOfOneNodeShowInItsCapabilities) {
  FabricBuilder b;
  const auto sw = b.add_switch("sw", 4), ndr = b.add_ca("ndr"), fdr10 = b.add_ca("fdr10"),
             xdr = b.add_ca("xdr");
  b.link(ndr, 1, sw, 1, LinkSpeed::ndr, LinkWidth::x2);
  b.link(fdr10, 1, sw, 2, LinkSpeed::fdr10);
  b.link(xdr, 1, sw, 3, LinkSpeed::xdr);
  sim::World mixed(b.fabric());
  Asker there(mixed, {"ndr"});
  const auto rate = [&](std::uint32_t port) {
    const auto info = there.get<wire::PortInfo>(leaf0, port | kExtendedSpeeds).value;
    const auto ext = there.get<wire::MlnxExtPortInfo>(leaf0, port).value;
    return std::pair(wire::link_width(info), wire::link_speed(info, ext));
  };
  EXPECT_EQ(rate(1), std::pair(LinkWidth::x2, LinkSpeed::ndr));
  EXPECT_EQ(rate(2), std::pair(LinkWidth::x4, LinkSpeed::fdr10));
  EXPECT_EQ(rate(3), std::pair(LinkWidth::x4, LinkSpeed::xdr));
}

struct MKeys : PortInfos {
  void protect(std::uint8_t level, std::uint16_t lease = 0) {
    asker.change<wire::PortInfo>(h1, 1, [&](wire::PortInfo& info) {
      info.lid = Lid{40};
      info.sm_lid = Lid{1};
      info.m_key = 0x1234;
      info.m_key_protect = level;
      info.m_key_lease_period = lease;
    });
  }
  Answer<wire::PortInfo> set_with(std::uint64_t key) {
    asker.m_key = key;
    const auto answer = asker.set<wire::PortInfo>(
        h1,
        [] {
          wire::PortInfo info;
          info.lid = Lid{41};
          info.sm_lid = Lid{1};
          info.m_key = 0x1234;
          return info;
        }(),
        1);
    return answer;
  }
};

TEST_F(MKeys, ASetWithAWrongKeyIsDroppedInSilenceAndCounted) {
  protect(0);
  EXPECT_TRUE(set_with(0x9999).none());
  asker.m_key = 0x1234;
  EXPECT_EQ(asker.get<wire::PortInfo>(h1, 1).value.m_key_violations, 1);
  EXPECT_EQ(asker.get<wire::PortInfo>(h1, 1).value.lid, Lid{40});
  EXPECT_TRUE(set_with(0x1234).good());
}

TEST_F(MKeys, Level0ShowsTheKeyAndLevel1HidesIt) {
  protect(0);
  EXPECT_EQ(asker.get<wire::PortInfo>(h1, 1).value.m_key, 0x1234U);
  asker.m_key = 0x1234;
  protect(1);
  asker.m_key = 0;
  EXPECT_EQ(asker.get<wire::PortInfo>(h1, 1).value.m_key, 0U);
  asker.m_key = 0x1234;
  EXPECT_EQ(asker.get<wire::PortInfo>(h1, 1).value.m_key, 0x1234U);
}

TEST_F(MKeys, Level2AnswersNoGetWithoutTheKey) {
  protect(2);
  EXPECT_TRUE(asker.get<wire::NodeInfo>(h1).none());
  asker.m_key = 0x1234;
  EXPECT_TRUE(asker.get<wire::NodeInfo>(h1).good());
}

TEST_F(MKeys, TheLeaseEndsTheProtectionOfADeadSm) {
  protect(2, 30);
  EXPECT_TRUE(asker.get<wire::NodeInfo>(h1).none());  // starts the lease
  world.run_for(std::chrono::seconds(31));
  EXPECT_TRUE(asker.get<wire::NodeInfo>(h1).good());
}

}  // namespace
}  // namespace smd::test
