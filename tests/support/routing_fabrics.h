// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small fabrics for routing tests, straight as TopologyInput.

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::fabrics {

/// Takes the next free port of each switch.
class Builder {
 public:
  explicit Builder(std::string name = {}) : name_(std::move(name)) {}
  SwitchIndex add_switch(unsigned ports) {
    input_.switches.push_back({Guid{0x1000 + input_.switches.size()}, ports});
    next_.push_back(1);
    return static_cast<SwitchIndex>(input_.switches.size() - 1);
  }
  void link(SwitchIndex a, SwitchIndex b) {
    const auto a_port = take(a), b_port = take(b);
    input_.links.push_back({a, a_port, b, b_port});
  }
  void host(SwitchIndex s, EndKind kind = EndKind::compute) {
    const Guid guid{0x800000 + input_.end_ports.size()};
    input_.end_ports.push_back({guid, s, take(s), kind, guid, guid});
  }
  const std::string& name() const { return name_; }
  TopologyInput& input() { return input_; }
  const TopologyInput& input() const { return input_; }

 private:
  PortNum take(SwitchIndex s) { return PortNum{static_cast<std::uint8_t>(next_[s]++)}; }
  std::string name_;
  TopologyInput input_;
  std::vector<unsigned> next_;
};

/// Two levels: leaves, spines, hosts a leaf, cables between each pair.
inline Builder ft2(unsigned leaves, unsigned spines, unsigned hosts, unsigned cables = 1) {
  Builder b("ft2");
  for (unsigned i = 0; i < leaves + spines; ++i) b.add_switch(254);
  for (unsigned leaf = 0; leaf < leaves; ++leaf) {
    for (unsigned h = 0; h < hosts; ++h) b.host(leaf);
    for (unsigned spine = 0; spine < spines; ++spine) {
      for (unsigned c = 0; c < cables; ++c) b.link(leaf, leaves + spine);
    }
  }
  return b;
}

/// k pods of k/2 leaves and k/2 middle switches, k*k/4 cores, k*k*k/4 hosts.
inline Builder ft3(unsigned k) {
  Builder b("ft3");
  const unsigned half = k / 2;
  for (unsigned i = 0; i < 2 * k * half + half * half; ++i) b.add_switch(k);
  const auto leaf = [&](unsigned pod, unsigned i) { return pod * half + i; };
  const auto middle = [&](unsigned pod, unsigned i) { return k * half + pod * half + i; };
  const auto core = [&](unsigned i, unsigned j) { return 2 * k * half + i * half + j; };
  for (unsigned pod = 0; pod < k; ++pod) {
    for (unsigned i = 0; i < half; ++i) {
      for (unsigned h = 0; h < half; ++h) b.host(leaf(pod, i));
      for (unsigned j = 0; j < half; ++j) b.link(leaf(pod, i), middle(pod, j));
    }
    for (unsigned i = 0; i < half; ++i) {
      for (unsigned j = 0; j < half; ++j) b.link(middle(pod, i), core(i, j));
    }
  }
  return b;
}

inline Builder torus(unsigned x, unsigned y, unsigned hosts, bool wrap = true) {
  Builder b(wrap ? "torus" : "mesh");
  for (unsigned i = 0; i < x * y; ++i) b.add_switch(16 + hosts);
  for (unsigned i = 0; i < x * y; ++i) {
    for (unsigned h = 0; h < hosts; ++h) b.host(i);
  }
  for (unsigned i = 0; i < x; ++i) {
    for (unsigned j = 0; j < y; ++j) {
      if (i + 1 < x || (wrap && x > 1)) b.link(i * y + j, (i + 1) % x * y + j);
      if (j + 1 < y || (wrap && y > 1)) b.link(i * y + j, i * y + (j + 1) % y);
    }
  }
  return b;
}

/// Connected; parallel cables, cables to self, inner switches with and without hosts, aggregation nodes.
inline Builder irregular(std::uint64_t seed, unsigned switches, unsigned extra_links, unsigned hosts) {
  Builder b("irregular");
  std::mt19937_64 random(seed);
  const auto any = [&](unsigned n) { return static_cast<unsigned>(random() % std::max(1U, n)); };
  for (unsigned i = 0; i < switches; ++i) b.add_switch(254);
  for (unsigned i = 1; i < switches; ++i) b.link(i, any(i));
  for (unsigned i = 0; i < extra_links; ++i) b.link(any(switches), any(switches));
  for (unsigned i = 0; i < hosts; ++i)
    b.host(any(switches), any(8) == 0 ? EndKind::aggregation : EndKind::compute);
  return b;
}

/// With a second cable beside each between switches, at the port whose number is 100 more.
inline TopologyInput doubled(TopologyInput input) {
  for (auto& s : input.switches) s.ports = 200;
  const auto cables = input.links.size();
  for (std::size_t i = 0; i < cables; ++i) {
    auto second = input.links[i];
    second.a_port = PortNum{static_cast<std::uint8_t>(second.a_port.value() + 100)};
    second.b_port = PortNum{static_cast<std::uint8_t>(second.b_port.value() + 100)};
    input.links.push_back(second);
  }
  return input;
}

/// An aggregation node on every switch, at an additional port, or at the last one of switches of 254 ports.
inline TopologyInput with_aggregation_nodes(TopologyInput input) {
  for (SwitchIndex s = 0; s < input.switches.size(); ++s) {
    auto& ports = input.switches[s].ports;
    ports = std::min(ports + 1, 254U);
    const PortNum port{static_cast<std::uint8_t>(ports)};
    const Guid guid{0xa00000 + s};
    input.end_ports.push_back({guid, s, port, EndKind::aggregation, guid, guid});
  }
  return input;
}

/// Takes away links at random, `percent` of them.
inline Builder damaged(Builder b, std::uint64_t seed, unsigned percent) {
  std::mt19937_64 random(seed);
  auto& links = b.input().links;
  std::shuffle(links.begin(), links.end(), random);
  links.resize(links.size() - links.size() * percent / 100);
  return b;
}

/// A topology with LIDs: leaf by leaf in GUID order, hosts next to each other, or `gap` LIDs apart; then the
/// switches.
struct Routable {
  Topology topology;
  LidMap lids;
  std::vector<LidRange> switch_lids, end_lids;  ///< in the order of the input
};

inline Routable with_lids(const TopologyInput& input, std::uint8_t lmc = 0, unsigned gap = 0) {
  Routable r{Topology(input), {}, {}, {}};
  r.switch_lids.resize(input.switches.size());
  r.end_lids.resize(input.end_ports.size());
  std::uint32_t next = 1U << lmc;
  for (const auto& end : r.topology.end_ports()) {
    r.end_lids[end.input] = {Lid{static_cast<std::uint16_t>(next)}, lmc};
    next += (gap + 1) << lmc;
  }
  for (SwitchIndex s = 0; s < r.topology.switches(); ++s) {
    r.switch_lids[r.topology.input_of(s)] = {Lid{static_cast<std::uint16_t>(next)}, 0};
    next += gap + 1;
  }
  r.lids = LidMap(r.topology, r.switch_lids, r.end_lids);
  return r;
}

/// The same fabric with the same LIDs, listed in another order.
inline Routable shuffled(const Routable& fabric, const TopologyInput& input, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  TopologyInput other = input;
  std::vector<SwitchIndex> place(input.switches.size());  // new position of each switch
  std::iota(place.begin(), place.end(), SwitchIndex{0});
  std::shuffle(place.begin(), place.end(), random);
  auto switch_lids = fabric.switch_lids;
  for (SwitchIndex i = 0; i < place.size(); ++i) {
    other.switches[place[i]] = input.switches[i];
    switch_lids[place[i]] = fabric.switch_lids[i];
  }
  for (auto& link : other.links) {
    link.a = place[link.a];
    link.b = place[link.b];
    if (random() % 2 == 0) {
      std::swap(link.a, link.b);
      std::swap(link.a_port, link.b_port);
    }
  }
  std::shuffle(other.links.begin(), other.links.end(), random);
  std::vector<std::size_t> ends(input.end_ports.size());
  std::iota(ends.begin(), ends.end(), std::size_t{0});
  std::shuffle(ends.begin(), ends.end(), random);
  auto end_lids = fabric.end_lids;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    other.end_ports[i] = input.end_ports[ends[i]];
    if (other.end_ports[i].sw != kNoSwitch) other.end_ports[i].sw = place[other.end_ports[i].sw];
    end_lids[i] = fabric.end_lids[ends[i]];
  }
  Routable r{Topology(other), {}, std::move(switch_lids), std::move(end_lids)};
  r.lids = LidMap(r.topology, r.switch_lids, r.end_lids);
  return r;
}

}  // namespace smd::routing::fabrics
