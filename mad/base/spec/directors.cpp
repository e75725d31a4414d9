// SPDX-License-Identifier: Apache-2.0
// fullcore and chassis: trees in which a top switch has several ways down to a leaf.
#include <fmt/format.h>

#include <algorithm>

#include "mad/base/spec/builder.h"
#include "mad/base/spec/generators.h"

namespace smd::base::spec {
namespace {

struct FullCore {
  unsigned pods, leaves, hosts, aggs, cores;
};

void build_pod(FabricBuilder& fabric, const FullCore& shape, unsigned pod) {
  const auto [pods, leaves, hosts, aggs, cores] = shape;
  std::vector<NodeIndex> agg;
  for (unsigned i = 0; i < aggs; ++i)
    agg.push_back(fabric.add_switch(fmt::format("agg{:02}-{:02}", pod, i), leaves + cores));
  for (unsigned i = 0; i < leaves; ++i) {
    const auto leaf = fabric.add_switch(fmt::format("leaf{:02}-{:02}", pod, i), hosts + aggs);
    for (unsigned a = 0; a < aggs; ++a) fabric.link(leaf, hosts + 1 + a, agg[a], i + 1);
    for (unsigned h = 0; h < hosts; ++h)
      fabric.link(fabric.add_host(fmt::format("h{:02}-{:02}-{:02}", pod, i, h)), 1, leaf, h + 1);
  }
  for (unsigned a = 0; a < aggs; ++a) {
    for (unsigned core = 0; core < cores; ++core)
      fabric.link(agg[a], leaves + 1 + core, core, pod * aggs + a + 1);
  }
}

/// Edge switches with hosts around directors. Numbers of boards are for one director.
struct Directors {
  unsigned edges = 0, hosts = 0, lines = 0, spines = 0, cables = 1, count = 1;

  /// The director and its line board to which uplink `up` of an edge switch leads: uplinks are dealt to the
  /// directors in turn; edge switches of even number use the first half of the line boards, others the rest.
  std::pair<unsigned, unsigned> board(unsigned edge, unsigned up) const {
    const unsigned half = lines / 2, mine = up / count;
    if (half == 0) return {up % count, 0};
    const unsigned line = edge % 2 == 0 ? mine % half : half + mine % (lines - half);
    return {up % count, line};
  }
  /// The largest number of edge cables at a line board.
  unsigned external_ports() const {
    std::vector<unsigned> used(std::size_t{count} * lines);
    for (unsigned edge = 0; edge < edges; ++edge) {
      for (unsigned up = 0; up < hosts; ++up) {
        const auto [director, line] = board(edge, up);
        ++used[std::size_t{director} * lines + line];
      }
    }
    return std::ranges::max(used);
  }
};

std::expected<Directors, std::string> parse_directors(Args args) {
  const auto numbers = spec::numbers(args, {{"EDGES", 1, kMostLids},
                                            {"HOSTS", 1, kMostPorts},
                                            {"LINES", 1, kMostPorts},
                                            {"SPINES", 1, kMostPorts},
                                            {"CABLES", 1, kMostPorts},
                                            {"CHASSIS", 1, kMostPorts}});
  if (!numbers) return std::unexpected(numbers.error());
  const auto& n = *numbers;
  const Directors shape{n[0], n[1], n[2], n[3], n.size() > 4 ? n[4] : 1, n.size() > 5 ? n[5] : 1};
  if (shape.hosts < shape.count) {
    return std::unexpected(
        fmt::format("CHASSIS is {}: at most HOSTS ({}) are possible, the uplinks of an edge switch",
                    shape.count, shape.hosts));
  }
  const auto switches = shape.edges + times(shape.count, std::uint64_t{shape.lines} + shape.spines);
  const auto fixed = std::max({2 * shape.hosts, shape.lines * shape.cables, shape.spines * shape.cables});
  auto why = too_large(switches, times(shape.edges, shape.hosts), fixed);
  if (!why.empty()) return std::unexpected(std::move(why));
  const std::uint64_t line_ports = shape.external_ports() + shape.spines * shape.cables;
  why = too_large(switches, times(shape.edges, shape.hosts), line_ports);
  if (!why.empty()) return std::unexpected(std::move(why));
  return shape;
}

/// The line boards of one director, cabled to its spine boards; all boards share a system image GUID.
std::vector<NodeIndex> build_director(FabricBuilder& fabric, const Directors& shape, unsigned number) {
  const unsigned outside = shape.external_ports();
  std::vector<NodeIndex> lines;
  for (unsigned line = 0; line < shape.lines; ++line) {
    lines.push_back(fabric.add_switch(fmt::format("d{:02}-line{:02}", number, line),
                                      outside + shape.spines * shape.cables));
    fabric.set_system_image(lines.back(), fabric.guid(lines.front()));
  }
  for (unsigned i = 0; i < shape.spines; ++i) {
    const auto spine =
        fabric.add_switch(fmt::format("d{:02}-spine{:02}", number, i), shape.lines * shape.cables);
    fabric.set_system_image(spine, fabric.guid(lines.front()));
    for (unsigned line = 0; line < shape.lines; ++line) {
      for (unsigned k = 0; k < shape.cables; ++k) {
        fabric.link(lines[line], outside + 1 + i * shape.cables + k, spine, line * shape.cables + k + 1);
      }
    }
  }
  return lines;
}

}  // namespace

Result fullcore(Args args) {
  const auto numbers = spec::numbers(args, {{"PODS", 1, kMostLids},
                                            {"LEAVES", 1, kMostPorts},
                                            {"HOSTS", 0, kMostPorts},
                                            {"AGGS", 1, kMostPorts},
                                            {"CORES", 1, kMostPorts}});
  if (!numbers) return std::unexpected(numbers.error());
  const auto& n = *numbers;
  const FullCore shape{n[0], n[1], n[2], n[3], n[4]};
  const auto [pods, leaves, hosts, aggs, cores] = shape;
  const auto switches = cores + times(pods, std::uint64_t{leaves} + aggs);
  const auto ports =
      std::max({times(pods, aggs), std::uint64_t{leaves} + cores, std::uint64_t{hosts} + aggs});
  auto why = too_large(switches, times(pods, times(leaves, hosts)), ports);
  if (!why.empty()) return std::unexpected(std::move(why));

  FabricBuilder fabric;
  for (unsigned core = 0; core < cores; ++core)
    fabric.add_switch(fmt::format("core{:02}", core), pods * aggs);
  for (unsigned pod = 0; pod < pods; ++pod) build_pod(fabric, shape, pod);
  return fabric.take();
}

Result chassis(Args args) {
  const auto parsed = parse_directors(args);
  if (!parsed) return std::unexpected(parsed.error());
  const auto& shape = *parsed;
  FabricBuilder fabric;
  std::vector<NodeIndex> edges;
  for (unsigned i = 0; i < shape.edges; ++i)
    edges.push_back(fabric.add_switch(fmt::format("edge{:03}", i), 2 * shape.hosts));
  std::vector<std::vector<NodeIndex>> lines;
  for (unsigned i = 0; i < shape.count; ++i) lines.push_back(build_director(fabric, shape, i));
  std::vector<std::vector<unsigned>> used(shape.count, std::vector<unsigned>(shape.lines));
  for (unsigned edge = 0; edge < shape.edges; ++edge) {
    for (unsigned host = 0; host < shape.hosts; ++host) {
      fabric.link(fabric.add_host(fmt::format("h{:03}-{:02}", edge, host)), 1, edges[edge], host + 1);
    }
    for (unsigned up = 0; up < shape.hosts; ++up) {
      const auto [director, line] = shape.board(edge, up);
      fabric.link(edges[edge], shape.hosts + 1 + up, lines[director][line], ++used[director][line]);
    }
  }
  return fabric.take();
}

}  // namespace smd::base::spec
