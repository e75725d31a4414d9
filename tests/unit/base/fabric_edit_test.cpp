// SPDX-License-Identifier: Apache-2.0
#include "mad/base/fabric_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/base/fabric_file.h"
#include "mad/base/fabric_spec.h"
#include "mad/base/lid_file.h"
#include "mad/base/node_finder.h"

namespace smd::base {
namespace {

Fabric sample() {
  constexpr std::string_view kText =
      "Switch 4 \"a\"\t# \"leaf 1 #x\"\n[1] \"b\"[1]\t# \"\" lid 0 4xEDR\n[2] \"b\"[2]\n[3] \"h\"[1]\n"
      "switchguid=0xab\nSwitch 4 \"b\"\t# \"spine\"\n"
      "caguid=0x10\nCa 1 \"h\"\t# \"twin\"\ncaguid=0x20\nCa 1 \"i\"\t# \"twin\"\n[1] \"b\"[4]\n";
  return read_fabric(kText, "sample").value_or(Fabric{});
}

std::string errors_of(std::string_view text) {
  const auto removals = read_removals(sample(), text, "w");
  return removals ? "none" : to_string(removals.error());
}

TEST(NodeFinder, FindsByNameIdAndGuid) {
  const auto fabric = sample();
  const NodeFinder finder(fabric);

  EXPECT_EQ(finder.find("leaf 1 #x"), 0U);
  EXPECT_EQ(finder.find("b"), 1U);
  EXPECT_EQ(finder.find("0xab"), 1U);
  EXPECT_EQ(finder.find("00000000000000ab"), 1U);
  EXPECT_EQ(finder.find("0xcd").error(), "no node has the GUID 0x00000000000000cd");
  EXPECT_EQ(finder.find("nobody").error(), "no node has the name 'nobody'");
  EXPECT_EQ(finder.find("twin").error(),
            "'twin' is the name of 2 nodes: h 0x0000000000000010, i 0x0000000000000020");
}

TEST(Removals, NamesGuidsQuotesAndCommentsAreRead) {
  const auto removals =
      read_removals(sample(),
                    "# broken\n\nlink \"leaf 1 #x\" 1   # cable\r\n\tnode 0x20\nlink spine 4\n"
                    "node spine # whole\nlink leaf 1 #x 3\n",
                    "w");

  ASSERT_FALSE(removals) << "' #' starts a comment outside of quotes";
  EXPECT_EQ(to_string(removals.error()), "w:7: no node has the name 'leaf'");
}

TEST(Removals, LinksAndNodesAreTakenAway) {
  const auto fabric = sample();
  const auto removals = read_removals(fabric, "link spine 2\nlink a 2\nnode h\n", "w");
  ASSERT_TRUE(removals) << to_string(removals.error());

  const auto rest = without(fabric, *removals);

  ASSERT_EQ(rest.nodes.size(), 3U);
  EXPECT_EQ(rest.nodes[2].name, "twin");
  EXPECT_EQ(rest.nodes[0].ports[1].peer, (Peer{1, PortNum{1}}));
  EXPECT_FALSE(rest.nodes[0].ports[2].peer);
  EXPECT_FALSE(rest.nodes[0].ports[3].peer);
  EXPECT_FALSE(rest.nodes[1].ports[2].peer);
  EXPECT_EQ(rest.nodes[1].ports[4].peer, (Peer{2, PortNum{1}}));
  EXPECT_EQ(rest.nodes[2].ports[1].peer, (Peer{1, PortNum{4}}));
  EXPECT_EQ(rest, *read_fabric(write_fabric(rest), "rest"));
}

TEST(Removals, ErrorsNameTheLine) {
  EXPECT_EQ(errors_of("cut a 1\nnode twin\nlink a 9\nlink a 4\nlink a\nlink a x\nnode\nlink a 0\n"),
            "w:1: 'cut': 'node NODE' or 'link NODE PORT' is needed\n"
            "w:2: 'twin' is the name of 2 nodes: h 0x0000000000000010, i 0x0000000000000020\n"
            "w:3: port 9: 'a' has ports 1 to 4\n"
            "w:4: port 4 of 'a' has no link\n"
            "w:5: link a: 'link NODE PORT' is needed\n"
            "w:6: link a x: 'link NODE PORT' is needed\n"
            "w:7: node: a node's name or GUID is needed\n"
            "w:8: port 0: 'a' has ports 1 to 4");
}

TEST(Removals, NothingRemovedIsTheSameFabric) {
  const auto fabric = *make_fabric("ft2:4");

  EXPECT_EQ(without(fabric, {}), fabric);
}

TEST(LidFile, BothFormsAreRead) {
  const auto lids = read_lids(
      "0x0000000000000010 0x0005 0x0005\n\n# kept\n0x20 8 # one\n00000000000000ab 0x10 0x13\r\n", "l");

  ASSERT_TRUE(lids) << to_string(lids.error());
  EXPECT_EQ(*lids, (GuidLids{{Guid{0x10}, {Lid{5}, Lid{5}}},
                             {Guid{0x20}, {Lid{8}, Lid{8}}},
                             {Guid{0xab}, {Lid{0x10}, Lid{0x13}}}}));
}

TEST(LidFile, ErrorsNameTheLine) {
  const auto lids =
      read_lids("0x1 5\n0x1 6\n0x2 4 5\n10 7\n0x3\n0x4 9 8\n0x5 0\n0x6 0xc000\n0x7 1 2 3\n", "l");

  ASSERT_FALSE(lids);
  EXPECT_EQ(to_string(lids.error()),
            "l:2: GUID 0x0000000000000001 has a line already\n"
            "l:3: LID 5 was already in line 1\n"
            "l:4: '10': a GUID is needed, 0x and up to 16 digits\n"
            "l:5: 'GUID LID' or 'GUID FIRST-LID LAST-LID' is needed\n"
            "l:6: LIDs 9 to 8: from 1 to 49151, in rising order, are possible\n"
            "l:7: LIDs 0 to 0: from 1 to 49151, in rising order, are possible\n"
            "l:8: LIDs 49152 to 49152: from 1 to 49151, in rising order, are possible\n"
            "l:9: 'GUID LID' or 'GUID FIRST-LID LAST-LID' is needed");
}

}  // namespace
}  // namespace smd::base
