// SPDX-License-Identifier: Apache-2.0
// Which links run below what their ends can do, of one port and of the fabric.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/inventory/losses.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

/// One lane of four at this end.
void make_narrow(sm::Subnet& subnet, Guid node, PortNum port) {
  const auto at = subnet.index_of(node);
  ASSERT_TRUE(at);
  auto changed = std::make_shared<sm::Node>(*subnet.nodes[*at]);
  changed->ports[port.value()].info.link_width_active = 1;
  subnet.nodes[*at] = changed;
}

class DegradedLinks : public testing::Test {
 protected:
  /// A host's link, and one between switches.
  DegradedLinks() {
    sim::World world(test::spec("ft2:4"));
    test::Managed manager(world, {}, test::once());
    world.run(manager->run());
    now_ = std::make_shared<sm::Snapshot>(manager.last());
    auto subnet = std::make_shared<sm::Subnet>(*now_->subnet);
    bool to_host = true, to_switch = true;
    for (const auto& node : now_->subnet->nodes) {
      for (std::size_t p = 1; node->is_switch() && p < node->ports.size(); ++p) {
        const auto& peer = node->ports[p].peer;
        bool& wanted = peer && now_->subnet->find(peer->node)->is_switch() ? to_switch : to_host;
        if (!peer || !std::exchange(wanted, false)) continue;
        make_narrow(*subnet, node->guid(), PortNum{static_cast<std::uint8_t>(p)});
        make_narrow(*subnet, peer->node, peer->port);
      }
    }
    now_->subnet = subnet;
  }
  std::shared_ptr<sm::Snapshot> now_;
};

TEST_F(DegradedLinks, APortKnowsItsOwn) {
  const auto all = sm::degraded_links(*now_->subnet);
  ASSERT_EQ(all.size(), 2U);
  std::size_t ends = 0;
  for (const auto& node : now_->subnet->nodes) {
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const sm::LinkEnd here{node->guid(), num};
      const auto found = sm::degraded_link(*now_->subnet, *node, num);
      const sm::DegradedLink* meant = nullptr;
      for (const auto& link : all) {
        if (link.end == here || link.peer == here) meant = &link;
      }
      ASSERT_EQ(found.has_value(), meant != nullptr) << sm::port_text(*node, num);
      if (!found) continue;
      EXPECT_EQ(found->end, meant->end) << "from whichever end";
      EXPECT_EQ(found->peer, meant->peer);
      EXPECT_EQ(sm::to_string(found->best), sm::to_string(meant->best));
      EXPECT_TRUE(found->is_narrow());
      ++ends;
    }
  }
  EXPECT_EQ(ends, 4U);
}

TEST_F(DegradedLinks, AreMarkedAndFoundInTheList) {
  test::FakeBackend backend;
  backend.add({.name = "f", .port = "p", .snapshot = now_});
  const auto list = [&](const std::string& query) {
    const auto answer =
        api::answer({.method = "GET", .target = "/v1/subnets/f/links" + query, .body = {}}, backend);
    EXPECT_EQ(answer.status, 200U) << answer.body;
    return api::parse_json(answer.body).value_or(boost::json::value()).at("links").as_array();
  };
  std::size_t marked = 0;
  for (const auto& link : list("")) {
    marked += link.at("degraded").as_bool() ? 1U : 0U;
    EXPECT_EQ(link.at("degraded").as_bool(), link.at("width") == "1x") << link;
    EXPECT_EQ(link.at("degraded").as_bool(), link.at("best").is_string()) << link;
  }
  EXPECT_EQ(marked, 2U);
  const auto degraded = list("?degraded=true");
  ASSERT_EQ(degraded.size(), 2U);
  for (const auto* end : {"a", "b"}) {
    const std::string node(degraded.front().at(end).at("guid").as_string());
    EXPECT_GE(list("?degraded=true&node=" + node).size(), 1U) << "from either end";
  }
}

}  // namespace
}  // namespace smd
