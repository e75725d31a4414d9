// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route_quality.h"

#include <fmt/format.h>

#include <utility>

#include "mad/base/rate.h"
#include "mad/wire/capability.h"
#include "routing/ranking/switch_ranking.h"

namespace smd::cli {
namespace {

sm::NamedLink::End end_of(const sm::Subnet& subnet, Guid guid, PortNum port) {
  const auto* const node = subnet.find(guid);
  const bool named = node != nullptr && !node->description.empty();
  return {guid, named ? node->description : fmt::format("{}", guid), port};
}

}  // namespace

routing::Quality measure(const sm::RoutePart& part, const routing::Parallel& parallel) {
  routing::Routes routes{.rows = {}, .layers = part.layers};
  for (const auto& row : part.rows) routes.rows.push_back(row.row);
  return routing::measure({*part.topology, *part.lid_map, parallel}, routes,
                          routing::hosts_in_file_order(*part.topology));
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
