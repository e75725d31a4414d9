// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/bringup_screen.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace smd::daemon {
namespace {

struct Shape {
  std::uint64_t switches = 0, others = 0, switch_links = 0, host_links = 0, linked_ports = 0;
};

Shape shape_of(const sm::Subnet& subnet) {
  Shape shape;
  std::uint64_t switch_ends = 0;
  for (const auto& node : subnet.nodes) {
    ++(node->is_switch() ? shape.switches : shape.others);
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      const auto* peer = port.peer ? subnet.find(port.peer->node) : nullptr;
      if (!port.linked() || peer == nullptr) continue;
      ++shape.linked_ports;
      if (node->is_switch() && peer->is_switch()) ++switch_ends;
      if (node->is_switch() && !peer->is_switch()) ++shape.host_links;
    }
  }
  shape.switch_links = switch_ends / 2;
  return shape;
}

std::string proof(const sm::RoutePart& routes) {
  const auto& found = routes.verification;
  if (!found.ok()) return routing::describe(found, *routes.topology);
  return fmt::format(
      "every switch and LID followed: all host pairs reached, no loops, no credit loops ({} VL{})", found.vls,
      found.vls == 1 ? "" : "s");
}

/// Of links between switches; a shift permutation is all hosts sending at once, each to the k-th after it.
std::string balance(const routing::Quality& quality) {
  const auto routes = fmt::format("most loaded link carries {} routes, mean {:.0f}", quality.max_link_paths,
                                  quality.mean_link_paths);
  if (quality.shift_max == 1) return routes + "; every shift permutation: 1 flow a link";
  return fmt::format("{}; shift permutations: up to {} flows a link, mean {:.2f}", routes, quality.shift_max,
                     quality.shift_mean);
}

}  // namespace

std::uint64_t opensm_smps(const sm::Subnet& subnet, const sm::Decided& decided) {
  const auto shape = shape_of(subnet);
  const auto nodes = shape.switches + shape.others;
  std::uint64_t lids = 0;  // which OpenSM gives from 1 on, without holes
  for (const auto& entry : decided.lids->entries) lids += std::uint64_t{1} << entry.lmc;
  const auto blocks = lids / 64 + 1;
  const auto node_info =
      2 * shape.switch_links + shape.host_links - (shape.switches > 2 ? shape.switches - 2 : 0);
  const auto port_info_get = shape.switches + shape.linked_ports + nodes;
  const auto port_info_set = 3 * shape.linked_ports + shape.switches + 2 * shape.host_links;
  const auto p_key = 2 * shape.linked_ports + shape.switches;
  const auto mlnx = shape.linked_ports;
  return nodes + node_info + 5 * shape.switches + port_info_get + port_info_set + p_key +
         shape.switches * blocks + mlnx;
}

void print_screen(std::ostream& out, const ScreenInput& in) {
  const auto& s = in.snapshot.summary;
  const auto& subnet = *in.snapshot.subnet;
  const auto nodes = s.switches + s.cas + s.routers;
  const auto shape = shape_of(subnet);
  fmt::print(out, "\nsmd: master of the simulated fabric {}\n\n", in.fabric);
  fmt::print(out, "  fabric    {} switches, {} hosts, {} links ({} between switches)\n", s.switches, s.cas,
             s.links, shape.switch_links);
  fmt::print(out, "  state     {}: {} of {} nodes up, {} of {} ports Active, {} LIDs, the SM's is {}\n",
             to_string(s.state), nodes, nodes + s.unresponsive, s.ports_active,
             s.ports_active + s.ports_not_active, s.lids, s.sm_lid);
  fmt::print(out,
             "  phases    discover {:.0f} ms, decide {:.0f} ms (route {:.1f}, verify {:.1f}), write {:.0f} "
             "ms, all {:.0f} ms\n",
             s.discover_ms, s.decide_ms, s.route_ms, s.verify_ms, s.apply_ms, s.total_ms);
  fmt::print(out, "  routes    {}\n", s.engine);
  fmt::print(out, "  balance   {}\n", balance(in.quality));
  fmt::print(out, "  proof     {}\n", proof(*in.snapshot.decided.routes));
  const auto ours = s.smps_get + s.smps_set;
  const auto theirs = opensm_smps(subnet, in.snapshot.decided);
  fmt::print(out, "  SMPs      {} ({} Get, {} Set); OpenSM 3.3.23 would send {} (smd: {} %)\n", ours,
             s.smps_get, s.smps_set, theirs, theirs != 0 ? (100 * ours + theirs / 2) / theirs : 100);
  fmt::print(out, "  cost      CPU {:.0f} ms of smd, {:.0f} ms of the simulated nodes; {} MB at most\n\n",
             in.own_cpu_ms, in.nodes_cpu_ms, in.peak_kb / 1024);
}

}  // namespace smd::daemon
