// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/finish.h"

#include <gtest/gtest.h>

#include "smd/sweep/audit.h"
#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

constexpr std::uint64_t kNamedSwitch = 0x10, kNamedHost = 0x100;

test::SubnetBuilder named_pair() {
  test::SubnetBuilder fabric;
  fabric.add_switch(kNamedSwitch)
      .host(kNamedHost, kNamedSwitch, 1)
      .sm(kNamedHost, 1, 3)
      .lft(kNamedSwitch, 70, {{3, 1}});
  fabric.node(kNamedHost).description = "as it says\n";
  fabric.node(kNamedSwitch).description = "MF0;sw";
  return fabric;
}

TEST(Finish, NodesHaveTheNamesOfTheMapElseTheirOwn) {
  auto subnet = named_pair().build();
  subnet.other_sms.push_back(
      {.at = test::place(kNamedSwitch, 0), .node_description = {}, .lid = {}, .info = {}, .answered = true});

  const auto named = with_names(subnet, {{Guid{kNamedSwitch}, "core 1"}});

  EXPECT_EQ(named.find(Guid{kNamedSwitch})->description, "core 1");
  EXPECT_EQ(named.find(Guid{kNamedSwitch})->own_description(), "MF0;sw");
  EXPECT_EQ(named.find(Guid{kNamedHost})->description, "as it says ");
  EXPECT_EQ(named.other_sms[0].node_description, "core 1");
}

TEST(Finish, ANodeWhoseNameStaysIsTheSameObject) {
  const auto subnet = with_names(named_pair().build(), {});

  EXPECT_EQ(with_names(subnet, {}).nodes, subnet.nodes);
}

TEST(Finish, WhatAnAuditHasFoundIsNotKnown) {
  auto fabric = named_pair();
  const auto keys = std::make_shared<const HeldBlocks<wire::PKeyTable>>();
  const auto vls = std::make_shared<const HeldBlocks<wire::VlArbitration>>();
  fabric.port(kNamedHost, 1).held<wire::PKeyTable>() = keys;
  fabric.port(kNamedHost, 1).held<wire::VlArbitration>() = vls;
  Audit audited;
  audited.blocks.push_back({Guid{kNamedSwitch}, 1});
  audited.tables.push_back({Guid{kNamedHost}, PortNum{1}, wire::PKeyTable::kAttribute, true});
  const auto subnet = fabric.build();

  const auto after = without_audited(subnet, audited);

  EXPECT_TRUE(after.find(Guid{kNamedSwitch})->lft.known.test(0));
  EXPECT_FALSE(after.find(Guid{kNamedSwitch})->lft.known.test(1));
  EXPECT_EQ(after.find(Guid{kNamedHost})->ports[1].held<wire::PKeyTable>(), nullptr);
  EXPECT_EQ(after.find(Guid{kNamedHost})->ports[1].held<wire::VlArbitration>(), vls);
  EXPECT_TRUE(subnet.find(Guid{kNamedSwitch})->lft.known.test(1)) << "the Subnet itself is never edited";
}

}  // namespace
}  // namespace smd::sm
