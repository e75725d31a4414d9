// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route_quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mad/base/rate.h"
#include "mad/wire/capability.h"
#include "routing/engines/rank_order.h"
#include "routing/ranking/switch_ranking.h"

namespace smd::cli {
namespace {

sm::NamedLink::End end_of(const sm::Subnet& subnet, Guid guid, PortNum port) {
  const auto* const node = subnet.find(guid);
  const bool named = node != nullptr && !node->description.empty();
  return {guid, named ? node->description : fmt::format("{}", guid), port};
}

}  // namespace

std::vector<routing::EndIndex> rank_order(const sm::RoutePart& part, const config::SubnetConfig& config,
                                          const routing::Parallel& parallel) {
  return routing::rank_order({*part.topology, *part.lid_map, parallel}, config.routing.root_guids);
}

std::string rank_order_text(const sm::Subnet& subnet, const sm::RoutePart& part,
                            std::span<const routing::EndIndex> order, bool padded) {
  const auto& topology = *part.topology;
  std::uint32_t most = 0;
  for (const auto leaf : topology.leaves()) most = std::max(most, topology.hosts(leaf));
  std::string text;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& end = topology.end_ports()[order[i]];
    if (end.sw == routing::kNoSwitch) continue;
    fmt::format_to(std::back_inserter(text), "0x{:04x}\t{}\n", part.lid_map->of_end(order[i]).base.value(),
                   end_of(subnet, end.node, {}).name);
    const bool last = i + 1 == order.size() || topology.end_ports()[order[i + 1]].sw != end.sw;
    for (auto n = topology.hosts(end.sw); padded && last && n < most; ++n) text += "0xFFFF\tDUMMY\n";
  }
  return text;
}

routing::Quality measure(const sm::RoutePart& part, const routing::Parallel& parallel,
                         std::span<const routing::EndIndex> rank_order) {
  routing::Routes routes{.rows = {}, .layers = part.layers};
  for (const auto& row : part.rows) routes.rows.push_back(row.row);
  return routing::measure({*part.topology, *part.lid_map, parallel}, routes,
                          routing::hosts_in_file_order(*part.topology), 1, rank_order);
}

void add_quality(const sm::Subnet& subnet, const sm::RoutePart& part, routing::Quality quality,
                 sm::RouteReport& report) {
  const auto& topology = *part.topology;
  for (const auto& link : quality.hottest) {
    report.hottest.push_back({end_of(subnet, topology.guid(link.from), link.out),
                              end_of(subnet, topology.guid(link.to), link.in), link.paths});
  }
  const auto bandwidth = [&](routing::SwitchIndex s, PortNum port) {
    const auto* const node = subnet.find(topology.guid(s));
    if (node == nullptr || port.value() >= node->ports.size()) return 0.0;
    const auto& found = node->ports[port.value()];
    return link_mbps(wire::link_width(found.info), wire::link_speed(found.info, found.mlnx)) / 1000.0;
  };
  report.levels = routing::level_widths(topology, routing::find_tree(topology), bandwidth);
  report.quality = std::move(quality);
}

}  // namespace smd::cli
