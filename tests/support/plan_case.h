// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is decided for a hand-made Subnet: as the Subnet is, but for what a test changes.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "config/config.h"
#include "routing/parallel.h"
#include "smd/decide/settings.h"
#include "smd/decide/topology.h"
#include "smd/plan/plan.h"
#include "tests/support/subnet_builder.h"

namespace smd::test {

/// A Subnet, a configuration and what is decided. The parts are edited before plan() or in() is called.
class PlanCase {
 public:
  explicit PlanCase(sm::Subnet of) : subnet(std::move(of)) {
    links.ports.resize(subnet.nodes.size());
    for (std::size_t i = 0; i < subnet.nodes.size(); ++i) add(*subnet.nodes[i], links.ports[i]);
    if (const auto* own = subnet.find(subnet.sm_node); own != nullptr)
      lids.sm_lid = own->ports[subnet.sm_port.value()].info.lid;
  }

  sm::Subnet subnet;
  config::SubnetConfig config;
  sm::LidPart lids;      ///< as the ports hold them
  sm::LinkPart links;    ///< LinkSettings's defaults for each port with a peer
  sm::RoutePart routes;  ///< as the switches hold them
  std::optional<sm::PKeyPart> pkeys;
  std::shared_ptr<const sm::ComparedPKeys> compared_pkeys{};
  std::optional<sm::McPart> multicast;
  std::set<Guid> left_out;

  /// Of an end port, by its GUID.
  PlanCase& lid(Guid port, unsigned lid, std::uint8_t lmc = 0) {
    auto at = std::ranges::lower_bound(lids.entries, port, {}, &sm::LidPart::Entry::port);
    if (at == lids.entries.end() || at->port != port) at = lids.entries.insert(at, {port, {}, 0});
    at->base = to_lid(lid);
    at->lmc = lmc;
    return *this;
  }
  PlanCase& without_lid(Guid port) {
    std::erase_if(lids.entries, [&](const auto& entry) { return entry.port == port; });
    lids.without_lid.push_back(port);
    return *this;
  }
  PlanCase& row(std::uint64_t guid, std::shared_ptr<const routing::LftRow> row) {
    std::ranges::find(routes.rows, Guid{guid}, &sm::RoutePart::Row::node)->row = std::move(row);
    return *this;
  }
  /// Multicast forwarding tables, with `top` entries in use.
  PlanCase& groups(std::vector<sm::McPart::Row> rows, std::size_t top) {
    multicast.emplace().rows = std::move(rows);
    multicast->top = top;
    return *this;
  }
  sm::LinkSettings& link(std::uint64_t guid, unsigned port) {
    return *links.ports.at(*subnet.index_of(Guid{guid})).at(port);
  }
  sm::NodeIndex index(std::uint64_t guid) const {
    return static_cast<sm::NodeIndex>(*subnet.index_of(Guid{guid}));
  }
  const sm::Node& node(std::uint64_t guid) const { return *subnet.find(Guid{guid}); }

  /// The parts as they are now. Valid until the next call, and as long as this lives.
  sm::PlanInput in() {
    lids.top = Lid{};
    for (const auto& entry : lids.entries) {
      const auto last = to_lid(entry.base.value() + (1U << entry.lmc) - 1U);
      lids.top = std::max(lids.top, last);
    }
    if (routes.top == Lid{}) routes.top = lids.top;
    routes.input = sm::topology_input(subnet, routes.top, {});
    auto topology = std::make_shared<const routing::Topology>(routes.input);
    routes.lid_map = std::make_shared<const routing::LidMap>(sm::lid_map(routes.input, *topology, lids));
    routes.topology = topology;
    if (multicast) multicast->topology = topology;
    decided_ = {.settings = std::make_shared<const sm::SettingsPart>(sm::decide_settings(config)),
                .lids = std::make_shared<const sm::LidPart>(lids),
                .links = std::make_shared<const sm::LinkPart>(links),
                .tables = {},
                .routes = std::make_shared<const sm::RoutePart>(routes),
                .multicast = multicast ? std::make_shared<const sm::McPart>(*multicast) : nullptr};
    if (pkeys) decided_.part<wire::PKeyTable>() = std::make_shared<const sm::PKeyPart>(*pkeys);
    decided_.compared_pkeys = compared_pkeys;
    return {.subnet = subnet, .decided = decided_, .left_out = &left_out};
  }
  sm::Plan plan() {
    const routing::Serial serial;
    return sm::plan(in(), serial);
  }

 private:
  void add(const sm::Node& node, std::vector<std::optional<sm::LinkSettings>>& desired) {
    desired.resize(node.ports.size());
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const auto& port = node.ports[p];
      if (p != 0 && port.peer) desired[p] = sm::LinkSettings{};
      const bool end = node.is_switch() ? p == 0 : p != 0;
      if (end && port.info.lid != Lid{}) lid(port.guid, port.info.lid.value(), port.info.lmc);
    }
    if (node.is_switch() && node.lft.row) routes.rows.push_back({node.guid(), node.lft.row});
  }

  sm::Decided decided_;
};

}  // namespace smd::test
