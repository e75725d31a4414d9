// SPDX-License-Identifier: Apache-2.0
#include "smd/api/places.h"

#include <gtest/gtest.h>

#include "smd/report/description.h"

namespace smd::api {
namespace {

constexpr const char* kForeign = "h\x1b[31m\n";

sm::Node named(std::uint64_t guid, const std::string& description) {
  sm::Node node;
  node.info.node = Guid{guid};
  node.description = description;
  node.name(sm::printable(description));
  return node;
}

TEST(Places, ANodeIsFoundByItsNameAsItIsKeptAsItCameAndAsItIsShown) {
  sm::Subnet subnet;
  subnet.nodes.push_back(std::make_shared<sm::Node>(named(1, kForeign)));
  subnet.nodes.push_back(std::make_shared<sm::Node>(named(2, "plain")));

  for (const auto* words : {"h [31m ", kForeign, "h\\x1b[31m\\x0a", "0x1"}) {
    const auto found = find_node(subnet, words);
    ASSERT_TRUE(found) << words;
    EXPECT_EQ((*found)->guid(), Guid{1}) << words;
  }
  EXPECT_FALSE(find_node(subnet, "h"));
  EXPECT_TRUE(is_written_as("h [31m ", kForeign));
  EXPECT_TRUE(is_written_as("h [31m ", "h\\x1b[31m\\x0a"));
  EXPECT_FALSE(is_written_as("h [31m ", "h"));
  for (const auto* words : {"h [31m ", kForeign, "h\\x1b[31m\\x0a"})
    EXPECT_TRUE(is_written_as(kForeign, words)) << words;
  EXPECT_FALSE(is_written_as(kForeign, "h"));
  EXPECT_TRUE(find_node(subnet, "plain"));
}

TEST(Places, OfASharedNodeATenantFindsItsOwnPortOnly) {
  sm::Subnet subnet;
  auto node = named(0x10, "shared");
  node.info.type = NodeType::ca;
  node.info.num_ports = 2;
  node.ports.resize(3);
  for (const unsigned p : {1U, 2U}) {
    node.ports[p].known = true;
    node.ports[p].info.port_state = PortState::active;
    node.ports[p].guid = Guid{0x10U + p};
    node.ports[p].info.lid = Lid{static_cast<std::uint16_t>(20 + p)};
  }
  subnet.nodes.push_back(std::make_shared<sm::Node>(node));
  subnet.index();
  const std::set<sm::LinkEnd> own{{Guid{0x10}, PortNum{2}}};

  for (const auto* words : {"0x12", "22", "shared", "0x10"})
    EXPECT_TRUE(find_node(subnet, words, &own)) << words;
  for (const auto* words : {"0x11", "21"}) {
    EXPECT_FALSE(find_node(subnet, words, &own)) << words;
    EXPECT_TRUE(find_node(subnet, words)) << words;
  }
}

TEST(Places, WhatIsShownHasTheControlCharactersUnlessAMapNamesTheNode) {
  auto node = named(1, kForeign);
  EXPECT_EQ(sm::raw_name(node), kForeign);
  EXPECT_EQ(node.description, "h [31m ");
  node.name("rack 7");
  EXPECT_EQ(sm::raw_name(node), "rack 7");
}

}  // namespace
}  // namespace smd::api
