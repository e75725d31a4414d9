// SPDX-License-Identifier: Apache-2.0
// Answers of subnet administration about a port that holds P_Keys which it is not to have.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "smd/sa/granted_pkeys.h"
#include "smd/sa/policy.h"
#include "smd/sa/registry/group_parameters.h"
#include "smd/sa/viewer.h"
#include "tests/support/partition_config.h"
#include "tests/support/sa_session.h"

namespace smd {
namespace {

constexpr PKey kBlue{0x8012};

class SaGrantedPKeys : public testing::Test {
 protected:
  /// As after the decision that takes kBlue from h00001, or makes it `instead`, before the port has done so.
  std::shared_ptr<const sm::Snapshot> decided_without(PKey instead) {
    auto snapshot = std::make_shared<sm::Snapshot>(lab_.snapshot());
    sm::PKeyPart tables = *snapshot->decided.part<wire::PKeyTable>();
    for (auto& block : tables.blocks) {
      if (block.at.node == port(lab_.directory(), "h00001").node->guid())
        std::ranges::replace(block.content.keys, kBlue, instead);
    }
    snapshot->decided.part<wire::PKeyTable>() = std::make_shared<const sm::PKeyPart>(std::move(tables));
    return snapshot;
  }
  static const sa::EndPort& port(const sa::Directory& directory, std::string_view name) {
    return *std::ranges::find(directory.end_ports(), name,
                              [](const sa::EndPort& end) { return end.node->description; });
  }
  static std::optional<PKey> shared(const sa::Directory& directory) {
    sa::PathConstraints constraints;
    constraints.pkey = kBlue;
    return sa::Policy{}.pkey(port(directory, "h00001"), port(directory, "h00002"), constraints);
  }

  /// The same with a link of h00001 that has a small MTU.
  static std::shared_ptr<const sm::Snapshot> with_small_mtu(const sm::Snapshot& from) {
    auto snapshot = std::make_shared<sm::Snapshot>(from);
    auto subnet = std::make_shared<sm::Subnet>(*snapshot->subnet);
    for (auto& node : subnet->nodes) {
      if (node->description != "h00001") continue;
      auto changed = std::make_shared<sm::Node>(*node);
      changed->ports.at(1).info.neighbor_mtu = Mtu::m512;
      node = std::move(changed);
    }
    snapshot->subnet = std::move(subnet);
    return snapshot;
  }
  static config::SubnetConfig blue() {
    auto partition = test::partition("blue", 0x12, {"h00001", "h00002"});
    partition.ipoib = true;
    return test::with_partitions({std::move(partition)});
  }

  test::SaLab lab_{"ft2:4", blue()};
};

TEST_F(SaGrantedPKeys, OneThatIsTakenAwayIsNotAnsweredByAlthoughThePortHasIt) {
  EXPECT_TRUE(shared(lab_.directory()));
  const sa::Directory directory(decided_without(PKey{}));

  const auto& h1 = port(directory, "h00001");
  EXPECT_FALSE(shared(directory));
  EXPECT_FALSE(sa::has_pkey(h1, kBlue));
  EXPECT_TRUE(sa::has_pkey(h1, kDefaultPKey)) << "its other keys stay";
  EXPECT_TRUE(sa::has_pkey(port(directory, "h00002"), kBlue));
  const auto alone = sa::narrowed_pkeys(directory.snapshot(), *h1.node, h1.port);
  ASSERT_NE(alone, nullptr);
  EXPECT_EQ(alone->row, h1.pkeys->row);
  const auto& h2 = port(directory, "h00002");
  EXPECT_EQ(sa::narrowed_pkeys(directory.snapshot(), *h2.node, h2.port), nullptr);
  const auto viewer = sa::Viewer::of_fabric(directory, port(directory, "h00002").lid, false);
  EXPECT_FALSE(viewer.sees(h1));
  EXPECT_FALSE(viewer.sees(*h1.node, h1.port));
}

TEST_F(SaGrantedPKeys, AFullMemberThatIsToBeALimitedOneCountsAsThat) {
  const sa::Directory directory(decided_without(PKey{0x0012}));

  EXPECT_TRUE(shared(directory)) << "the other one is a full member";
  const auto* keys = port(directory, "h00001").pkeys;
  ASSERT_NE(keys, nullptr);
  EXPECT_EQ(std::ranges::count(keys->row[0].keys, kBlue), 0);
  EXPECT_EQ(std::ranges::count(keys->row[0].keys, PKey{0x0012}), 1);
}

/// It cannot join them any more.
TEST_F(SaGrantedPKeys, OneThatIsTakenAwayDoesNotLimitTheGroupsOfThePartition) {
  test::SaSession session(lab_);
  const auto mtu_by = [&](const sm::Snapshot& snapshot) {
    session.refresh(sa::Directory(with_small_mtu(snapshot)));
    const auto* group = session.registry().groups().find(test::mgid("ff12:401b:8012::ffff:ffff"));
    return group != nullptr ? group->terms.mtu : Mtu::none;
  };
  EXPECT_EQ(mtu_by(lab_.snapshot()), Mtu::m512);
  EXPECT_GT(mtu_by(*decided_without(PKey{})), Mtu::m512);
}

TEST_F(SaGrantedPKeys, PortsThatHoldWhatTheyAreToHaveShareTheirTables) {
  sa::for_each_narrowed(lab_.snapshot(),
                        [](const sm::Node& node, PortNum, auto) { ADD_FAILURE() << node.description; });
}

}  // namespace
}  // namespace smd
