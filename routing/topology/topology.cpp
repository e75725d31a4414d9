// SPDX-License-Identifier: Apache-2.0
#include "routing/topology/topology.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace smd::routing::inline topology {
namespace {

struct Cable {
  SwitchIndex a, b;
  PortNum a_port, b_port;
  std::uint32_t mbps;
  auto key() const { return std::tuple(a, a_port, b, b_port); }
};

/// An end port before it is stored. Its position comes first in the key, so the result does not depend on the
/// order of the input.
struct Placed {
  EndPort end;
  auto key() const { return std::tuple(end.sw, end.port, end.guid, end.input); }
};

}  // namespace

Topology::Topology(const TopologyInput& input) {
  place_switches(input);
  place_links(input);
  place_end_ports(input);
  make_groups();
  find_components();
}

void Topology::place_switches(const TopologyInput& input) {
  const std::size_t n = input.switches.size();
  input_of_.resize(n);
  std::iota(input_of_.begin(), input_of_.end(), SwitchIndex{0});
  std::ranges::sort(input_of_, {}, [&](SwitchIndex i) { return std::pair(input.switches[i].guid, i); });
  from_input_.resize(n);
  guids_.resize(n);
  port_base_.assign(n + 1, 0);
  for (SwitchIndex s = 0; s < n; ++s) {
    const auto& spec = input.switches[input_of_[s]];
    from_input_[input_of_[s]] = s;
    guids_[s] = spec.guid;
    port_base_[s + 1] = port_base_[s] + 1 + std::min(spec.ports, 254U);
  }
  peers_.resize(port_base_[n]);
}

PortPeer* Topology::free_port(SwitchIndex s, PortNum port) {
  if (port.value() == 0 || port.value() > ports(s)) return nullptr;
  auto* const peer = &peers_[port_base_[s] + port.value()];
  return peer->sw == kNoSwitch && peer->end == kNoEnd ? peer : nullptr;
}

void Topology::place_links(const TopologyInput& input) {
  std::vector<Cable> cables;
  cables.reserve(input.links.size());
  for (const auto& link : input.links) {
    if (link.a >= switches() || link.b >= switches()) {
      ++dropped_;
      continue;
    }
    Cable cable{from_input_[link.a], from_input_[link.b], link.a_port, link.b_port, link.mbps};
    if (std::tuple(cable.b, cable.b_port) < std::tuple(cable.a, cable.a_port)) {
      std::swap(cable.a, cable.b);
      std::swap(cable.a_port, cable.b_port);
    }
    cables.push_back(cable);
  }
  std::ranges::sort(cables, {}, [](const Cable& cable) { return std::pair(cable.key(), cable.mbps); });
  const auto repeated = std::ranges::unique(cables, {}, &Cable::key);
  cables.erase(repeated.begin(), repeated.end());
  rates_.assign(peers_.size(), 0);
  for (const auto& cable : cables) {
    auto* const a = free_port(cable.a, cable.a_port);
    auto* const b = free_port(cable.b, cable.b_port);
    if (a == nullptr || b == nullptr) {
      ++dropped_;
      continue;
    }
    *a = {cable.b, kNoEnd, cable.b_port};
    *b = {cable.a, kNoEnd, cable.a_port};
    if (cable.a == cable.b) continue;
    rates_[channel(cable.a, cable.a_port)] = rates_[channel(cable.b, cable.b_port)] = cable.mbps;
    ++cables_;
  }
  settle_rates();
}

/// Unknown rates become the most common rate, the fastest of equally common ones.
void Topology::settle_rates() {
  std::map<std::uint32_t, std::size_t> known;
  std::uint32_t last = 0;
  std::size_t* count = nullptr;  // of the last rate: neighbouring cables mostly have the same
  for (const auto rate : rates_) {
    if (rate == 0) continue;
    if (rate != last) count = &known[rate];
    last = rate;
    ++*count;
  }
  if (known.size() <= 1) {
    rates_ = {};
    return;
  }
  std::uint32_t unit = 0, usual = 0;
  std::size_t most = 0;
  for (const auto& [rate, cables] : known) {
    unit = std::gcd(unit, rate);
    if (cables >= most) usual = rate;
    most = std::max(most, cables);
  }
  for (auto& rate : rates_) rate = (rate != 0 ? rate : usual) / unit;
}

void Topology::place_end_ports(const TopologyInput& input) {
  std::vector<Placed> placed;
  placed.reserve(input.end_ports.size());
  for (EndIndex i = 0; i < input.end_ports.size(); ++i) {
    const auto& spec = input.end_ports[i];
    const auto sw = spec.sw < switches() ? from_input_[spec.sw] : kNoSwitch;
    if (sw == kNoSwitch && spec.sw != kNoSwitch) {
      ++dropped_;
      continue;
    }
    placed.push_back({{spec.guid, sw, spec.port, spec.kind, spec.node, spec.system_image, i}});
  }
  std::ranges::sort(placed, {}, &Placed::key);
  end_base_.assign(switches() + 1, 0);
  hosts_.assign(switches(), 0);
  for (const auto& [end] : placed) {
    if (end.sw != kNoSwitch) {
      auto* const peer = free_port(end.sw, end.port);
      if (peer == nullptr) {
        ++dropped_;
        continue;
      }
      peer->end = static_cast<EndIndex>(end_ports_.size());
      ++end_base_[end.sw + 1];
      if (end.kind != EndKind::aggregation) ++hosts_[end.sw];
    }
    end_ports_.push_back(end);
  }
  std::partial_sum(end_base_.begin(), end_base_.end(), end_base_.begin());
  for (SwitchIndex s = 0; s < switches(); ++s) {
    if (leaf(s)) leaves_.push_back(s);
  }
}

void Topology::make_groups() {
  group_base_.assign(1, 0);
  std::vector<std::pair<SwitchIndex, PortNum>> links;
  for (SwitchIndex s = 0; s < switches(); ++s) {
    links.clear();
    for (unsigned p = 1; p <= ports(s); ++p) {
      const auto peer = peers_[port_base_[s] + p].sw;
      if (peer != kNoSwitch && peer != s) links.emplace_back(peer, PortNum{static_cast<std::uint8_t>(p)});
    }
    std::ranges::sort(links);
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (i == 0 || links[i].first != links[i - 1].first) {
        groups_.push_back({links[i].first, static_cast<std::uint32_t>(group_ports_.size()), 0});
      }
      ++groups_.back().count;
      group_ports_.push_back(links[i].second);
    }
    group_base_.push_back(static_cast<std::uint32_t>(groups_.size()));
  }
}

void Topology::find_components() {
  constexpr auto kNone = ~std::uint32_t{0};
  component_.assign(switches(), kNone);
  std::vector<SwitchIndex> stack;
  for (SwitchIndex first = 0; first < switches(); ++first) {
    if (component_[first] != kNone) continue;
    component_[first] = components_;
    stack.push_back(first);
    while (!stack.empty()) {
      const auto s = stack.back();
      stack.pop_back();
      for (std::size_t g = 0; g < groups(s); ++g) {
        const auto peer = group(s, g).peer;
        if (component_[peer] != kNone) continue;
        component_[peer] = components_;
        stack.push_back(peer);
      }
    }
    ++components_;
  }
}

SwitchIndex Topology::find(Guid guid) const {
  if (!by_guid_.empty()) {
    const auto found = std::ranges::lower_bound(by_guid_, guid, {}, [&](SwitchIndex s) { return guids_[s]; });
    return found != by_guid_.end() && guids_[*found] == guid ? *found : kNoSwitch;
  }
  const auto at = std::ranges::lower_bound(guids_, guid);
  return at != guids_.end() && *at == guid ? static_cast<SwitchIndex>(at - guids_.begin()) : kNoSwitch;
}

RouteNeed route_need(const Topology& topology, SwitchIndex from, EndIndex to) {
  const auto& end = topology.end_ports()[to];
  if (topology.end_ports_of(from).empty()) return RouteNeed::none;
  const bool from_host = topology.leaf(from), to_host = end.kind != EndKind::aggregation;
  if (end.sw == from) return from_host ? RouteNeed::required : RouteNeed::none;
  if (from_host && to_host) return RouteNeed::required;
  return from_host || to_host ? RouteNeed::by_rule : RouteNeed::none;
}

std::vector<EndIndex> hosts_in_file_order(const Topology& topology) {
  const auto ends = topology.end_ports();
  std::vector<EndIndex> hosts;
  for (EndIndex e = 0; e < ends.size(); ++e) {
    if (ends[e].kind != EndKind::aggregation) hosts.push_back(e);
  }
  std::ranges::sort(hosts, {}, [&](EndIndex e) {
    const auto& end = ends[e];
    const bool alone = end.sw == kNoSwitch;
    return std::tuple(alone ? kNoSwitch : topology.input_of(end.sw), alone ? PortNum{} : end.port, end.input);
  });
  return hosts;
}

}  // namespace smd::routing::inline topology
