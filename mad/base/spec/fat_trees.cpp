// SPDX-License-Identifier: Apache-2.0
// ft2 and ft3: complete trees of switches of one radix; rails: a two-level tree by rails.
#include <fmt/format.h>

#include "mad/base/spec/builder.h"
#include "mad/base/spec/generators.h"

namespace smd::base::spec {
namespace {

constexpr Rule kRadix{"K", 2, kMostPorts, true};

void build_pod(FabricBuilder& fabric, const std::vector<NodeIndex>& cores, unsigned half, unsigned pod) {
  std::vector<NodeIndex> aggs, edges;
  for (unsigned i = 0; i < half; ++i) {
    aggs.push_back(fabric.add_switch(fmt::format("agg{:02}-{:02}", pod, i), 2 * half));
  }
  for (unsigned i = 0; i < half; ++i) {
    edges.push_back(fabric.add_switch(fmt::format("edge{:02}-{:02}", pod, i), 2 * half));
  }
  for (unsigned i = 0; i < half; ++i) {
    for (unsigned j = 0; j < half; ++j) {
      fabric.link(fabric.add_host(fmt::format("h{:02}-{:02}-{:02}", pod, i, j)), 1, edges[i], j + 1);
    }
    for (unsigned j = 0; j < half; ++j) fabric.link(edges[i], half + 1 + j, aggs[j], i + 1);
  }
  for (unsigned i = 0; i < half; ++i) {
    for (unsigned j = 0; j < half; ++j) fabric.link(aggs[i], half + 1 + j, cores[i * half + j], pod + 1);
  }
}

/// `groups` times `rails` leaves and as many spines as asked for, each leaf linked to each spine once.
std::vector<NodeIndex> build_rail_switches(FabricBuilder& fabric, unsigned leaves, unsigned spines,
                                           unsigned hosts) {
  std::vector<NodeIndex> result;
  for (unsigned leaf = 0; leaf < leaves; ++leaf) {
    result.push_back(fabric.add_switch(fmt::format("leaf{:03}", leaf), hosts + spines));
  }
  for (unsigned i = 0; i < spines; ++i) {
    const auto spine = fabric.add_switch(fmt::format("spine{:03}", i), leaves);
    for (unsigned leaf = 0; leaf < leaves; ++leaf) fabric.link(result[leaf], hosts + 1 + i, spine, leaf + 1);
  }
  return result;
}

}  // namespace

Result ft2(Args args) {
  const auto numbers = spec::numbers(args, {kRadix});
  if (!numbers) return std::unexpected(numbers.error());
  const unsigned radix = (*numbers)[0], half = radix / 2;
  FabricBuilder fabric;
  std::vector<NodeIndex> leaves, spines;
  for (unsigned i = 0; i < radix; ++i)
    leaves.push_back(fabric.add_switch(fmt::format("leaf{:03}", i), radix));
  for (unsigned i = 0; i < half; ++i)
    spines.push_back(fabric.add_switch(fmt::format("spine{:03}", i), radix));
  for (unsigned i = 0; i < radix; ++i) {
    for (unsigned j = 0; j < half; ++j) {
      fabric.link(fabric.add_host(fmt::format("h{:05}", i * half + j)), 1, leaves[i], j + 1);
    }
    for (unsigned j = 0; j < half; ++j) fabric.link(leaves[i], half + 1 + j, spines[j], i + 1);
  }
  return fabric.take();
}

Result ft3(Args args) {
  const auto radix_only = numbers(args.first(1), {kRadix});
  if (!radix_only) return std::unexpected(radix_only.error());
  const unsigned radix = (*radix_only)[0], half = radix / 2;
  const auto numbers = spec::numbers(args, {kRadix, {"PODS", 1, radix}});
  if (!numbers) return std::unexpected(numbers.error());
  const unsigned pods = args.size() > 1 ? (*numbers)[1] : radix;
  const std::uint64_t switches = times(half, half) + times(pods, radix),
                      hosts = times(pods, times(half, half));
  if (auto why = too_large(switches, hosts, radix); !why.empty()) return std::unexpected(std::move(why));

  FabricBuilder fabric;
  fabric.reserve(switches + hosts);
  std::vector<NodeIndex> cores;
  for (unsigned i = 0; i < half; ++i) {
    for (unsigned j = 0; j < half; ++j) {
      cores.push_back(fabric.add_switch(fmt::format("core{:02}-{:02}", i, j), radix));
    }
  }
  for (unsigned pod = 0; pod < pods; ++pod) build_pod(fabric, cores, half, pod);
  return fabric.take();
}

Result rails(Args args) {
  const auto numbers = spec::numbers(
      args,
      {{"LEAVES", 1, kMostLids}, {"SPINES", 1, kMostPorts}, {"HOSTS", 1, kMostPorts}, {"RAILS", 1, 254}});
  if (!numbers) return std::unexpected(numbers.error());
  const unsigned leaves = (*numbers)[0], spines = (*numbers)[1], hosts = (*numbers)[2], rails = (*numbers)[3];
  if (leaves % rails != 0) {
    return std::unexpected(fmt::format("LEAVES is {}: a multiple of RAILS ({}) is needed", leaves, rails));
  }
  auto why =
      too_large(std::uint64_t{leaves} + spines, times(leaves, hosts), std::max(leaves, hosts + spines));
  if (!why.empty()) return std::unexpected(std::move(why));

  FabricBuilder fabric;
  const auto leaf = build_rail_switches(fabric, leaves, spines, hosts);
  for (unsigned host = 0; host < leaves / rails * hosts; ++host) {
    const unsigned group = host / hosts, place = host % hosts;
    Guid image;
    for (unsigned rail = 0; rail < rails; ++rail) {
      const auto hca = fabric.add_host(fmt::format("h{:04}-r{}", host, rail));
      if (rail == 0) image = fabric.guid(hca);
      fabric.set_system_image(hca, image);
      fabric.link(hca, 1, leaf[group * rails + rail], place + 1);
    }
  }
  return fabric.take();
}

}  // namespace smd::base::spec
