// SPDX-License-Identifier: Apache-2.0
#include "smd/report/shared_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/decide/support.h"

namespace smd::sm {
namespace {

/// Two hosts that hold what is decided, or other keys, or have not answered.
class SharedKeysOfHosts : public testing::Test {
 protected:
  SharedKeysOfHosts() {
    fabric_.add_switch(kSwitch).host(kHost, kSwitch, 1).host(kOther, kSwitch, 2);
    part_.managed = true;
  }
  static wire::PKeyTable table_of(const std::vector<PKey>& keys) {
    wire::PKeyTable table;
    std::ranges::copy(keys, table.keys.begin());
    return table;
  }
  void holds_keys(std::uint64_t host, const std::vector<PKey>& keys) {
    HeldBlocks<wire::PKeyTable> held;
    held.row.push_back(table_of(keys));
    held.known = held.asked = BlockSet::first(1);
    fabric_.port(host, 1).held<wire::PKeyTable>() =
        std::make_shared<const HeldBlocks<wire::PKeyTable>>(std::move(held));
  }
  void is_to_have(std::uint64_t host, const std::vector<PKey>& keys) {
    tables_.blocks.push_back({.at = test::place(host, 1), .block = 0, .content = table_of(keys)});
  }
  std::string shared() {
    Decided decided;
    decided.partitions = std::make_shared<const PartitionPart>(part_);
    decided.part<wire::PKeyTable>() = std::make_shared<const PKeyPart>(tables_);
    const auto subnet = fabric_.build();
    return shared_keys(decided, *subnet.find(Guid{kHost}), PortNum{1}, *subnet.find(Guid{kOther}),
                       PortNum{1});
  }

  SubnetBuilder fabric_;
  PartitionPart part_;
  PKeyPart tables_;
};

constexpr PKey kShared{0x8005}, kSharedLimited{0x0005}, kDefaultLimited{0x7fff};

TEST_F(SharedKeysOfHosts, AKeyThatAPortRefusesToGiveUpIsNoneOfThem) {
  holds_keys(kHost, {kDefaultLimited, kShared});
  holds_keys(kOther, {kDefaultLimited, kShared});
  is_to_have(kHost, {kDefaultLimited, kShared});
  is_to_have(kOther, {kDefaultLimited, kShared});
  EXPECT_EQ(shared(), "0x8005") << "two limited members share nothing";
  tables_.blocks[0].content = table_of({kDefaultLimited});
  EXPECT_EQ(shared(), "none");
  part_.managed = false;
  EXPECT_EQ(shared(), "0x8005") << "what they hold counts";
}

TEST_F(SharedKeysOfHosts, APartitionIsNamedOnce) {
  for (const auto host : {kHost, kOther}) {
    holds_keys(host, {kDefaultPKey, kSharedLimited, kShared});
    is_to_have(host, {kDefaultPKey, kSharedLimited, kShared});
  }
  EXPECT_EQ(shared(), "0xffff,0x8005");
}

TEST_F(SharedKeysOfHosts, OfAPortThatHasNotAnsweredWhatIsDecidedCounts) {
  holds_keys(kHost, {kDefaultLimited, kShared});
  is_to_have(kHost, {kDefaultLimited, kShared});
  EXPECT_EQ(shared(), "none");
  part_.partitions.push_back({.pkey = kSharedLimited,
                              .members = {{.port = test::port_guid(kOther, 1),
                                           .at = test::place(kOther, 1),
                                           .membership = config::Membership::limited,
                                           .index0 = false}},
                              .pending = {}});
  EXPECT_EQ(shared(), "0x8005");
  part_.managed = false;
  EXPECT_EQ(shared(), "unknown");
}

}  // namespace
}  // namespace smd::sm
