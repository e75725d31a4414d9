// SPDX-License-Identifier: Apache-2.0
// dragonfly and dragonflyplus: groups of switches, all groups linked to all.
#include <fmt/format.h>

#include "mad/base/spec/builder.h"
#include "mad/base/spec/generators.h"

namespace smd::base::spec {

// Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008): a routers
// a group, all linked to all, h global links each, p hosts each, a*h + 1 groups with one link between any
// two. Which global channel goes where is left open there; here channel j of group x (router j/h, its port
// j%h) goes to group x + 1 + j, and so arrives at channel a*h - 1 - j there.
Result dragonfly(Args args) {
  const auto numbers =
      spec::numbers(args, {{"A", 1, kMostPorts}, {"H", 1, kMostPorts}, {"P", 0, kMostPorts}});
  if (!numbers) return std::unexpected(numbers.error());
  const unsigned routers = (*numbers)[0], globals = (*numbers)[1];
  const unsigned hosts = args.size() > 2 ? (*numbers)[2] : globals;
  const unsigned channels = routers * globals, groups = channels + 1, ports = hosts + routers - 1 + globals;
  const auto switches = times(groups, routers);
  if (auto why = too_large(switches, times(switches, hosts), ports); !why.empty()) {
    return std::unexpected(std::move(why));
  }

  FabricBuilder fabric;
  for (unsigned i = 0; i < switches; ++i) {
    fabric.add_switch(fmt::format("g{:03}-r{:02}", i / routers, i % routers), ports);
  }
  for (unsigned i = 0; i < switches; ++i) {
    const unsigned group = i / routers, router = i % routers;
    for (unsigned host = 0; host < hosts; ++host) {
      fabric.link(fabric.add_host(fmt::format("h{:03}-{:02}-{:02}", group, router, host)), 1, i, host + 1);
    }
    for (unsigned other = router + 1; other < routers; ++other) {
      fabric.link(i, hosts + other, group * routers + other, hosts + router + 1);
    }
    for (unsigned k = 0; k < globals; ++k) {
      const unsigned channel = router * globals + k, back = channels - 1 - channel;
      const unsigned there = (group + 1 + channel) % groups;
      if (there < group) continue;  // that group has made the link
      fabric.link(i, hosts + routers + k, there * routers + back / globals, hosts + routers + back % globals);
    }
  }
  return fabric.take();
}

// Shpiner et al., "Dragonfly+" (HiPINEB 2017): a group is a two-level Clos, its spines carry the global
// links. Here spine s of each group is linked once to spine s of every other group.
Result dragonflyplus(Args args) {
  const auto numbers = spec::numbers(args, {{"GROUPS", 1, kMostPorts},
                                            {"LEAVES", 1, kMostPorts},
                                            {"SPINES", 1, kMostPorts},
                                            {"HOSTS", 0, kMostPorts}});
  if (!numbers) return std::unexpected(numbers.error());
  const unsigned groups = (*numbers)[0], leaves = (*numbers)[1], spines = (*numbers)[2],
                 hosts = (*numbers)[3];
  const unsigned leaf_ports = hosts + spines, spine_ports = leaves + groups - 1, size = leaves + spines;
  auto why =
      too_large(times(groups, size), times(groups, times(leaves, hosts)), std::max(leaf_ports, spine_ports));
  if (!why.empty()) return std::unexpected(std::move(why));

  FabricBuilder fabric;
  for (unsigned group = 0; group < groups; ++group) {
    for (unsigned i = 0; i < leaves; ++i)
      fabric.add_switch(fmt::format("g{:03}-l{:02}", group, i), leaf_ports);
    for (unsigned i = 0; i < spines; ++i)
      fabric.add_switch(fmt::format("g{:03}-s{:02}", group, i), spine_ports);
  }
  for (unsigned group = 0; group < groups; ++group) {
    for (unsigned leaf = 0; leaf < leaves; ++leaf) {
      const NodeIndex here = group * size + leaf;
      for (unsigned host = 0; host < hosts; ++host) {
        fabric.link(fabric.add_host(fmt::format("h{:03}-{:02}-{:02}", group, leaf, host)), 1, here, host + 1);
      }
      for (unsigned s = 0; s < spines; ++s)
        fabric.link(here, hosts + 1 + s, group * size + leaves + s, leaf + 1);
    }
    for (unsigned s = 0; s < spines; ++s) {
      for (unsigned other = group + 1; other < groups; ++other) {
        fabric.link(group * size + leaves + s, leaves + other, other * size + leaves + s, leaves + group + 1);
      }
    }
  }
  return fabric.take();
}

}  // namespace smd::base::spec
