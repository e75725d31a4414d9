// SPDX-License-Identifier: Apache-2.0
// Copies of a fabric in which the switches have other indexes.
#include <algorithm>
#include <numeric>

#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline topology {
namespace {

/// By switch its position in `order`.
std::vector<SwitchIndex> positions_in(std::span<const SwitchIndex> order) {
  std::vector<SwitchIndex> place(order.size());
  for (SwitchIndex i = 0; i < order.size(); ++i) place[order[i]] = i;
  return place;
}

}  // namespace

Topology Topology::reordered(std::span<const SwitchIndex> order) const {
  const auto place = positions_in(order);
  Topology result;
  result.components_ = components_;
  result.cables_ = cables_;
  result.dropped_ = dropped_;
  result.copy_switches(*this, order);
  for (SwitchIndex i = 0; i < order.size(); ++i) result.from_input_[result.input_of_[i]] = i;
  result.by_guid_.resize(order.size());
  std::iota(result.by_guid_.begin(), result.by_guid_.end(), SwitchIndex{0});
  std::ranges::sort(result.by_guid_, {}, [&](SwitchIndex s) { return std::pair(result.guids_[s], s); });
  result.copy_ports(*this, order);
  for (auto& peer : result.peers_) {
    if (peer.sw != kNoSwitch) peer.sw = place[peer.sw];
  }
  result.copy_groups(*this, order, place);
  return result;
}

void Topology::copy_switches(const Topology& from, std::span<const SwitchIndex> order) {
  from_input_.resize(order.size());
  port_base_.assign(1, 0);
  end_base_.assign(1, 0);
  for (const auto s : order) {
    guids_.push_back(from.guids_[s]);
    input_of_.push_back(from.input_of_[s]);
    hosts_.push_back(from.hosts_[s]);
    component_.push_back(from.component_[s]);
    port_base_.push_back(port_base_.back() + from.ports(s) + 1);
    end_base_.push_back(end_base_.back() + from.end_base_[s + 1] - from.end_base_[s]);
    if (hosts_.back() != 0) leaves_.push_back(static_cast<SwitchIndex>(hosts_.size() - 1));
  }
}

/// Peers still have the old numbers of switches.
void Topology::copy_ports(const Topology& from, std::span<const SwitchIndex> order) {
  peers_.reserve(from.peers_.size());
  rates_.reserve(from.rates_.size());
  end_ports_.reserve(from.end_ports_.size());
  for (SwitchIndex i = 0; i < order.size(); ++i) {
    const auto s = order[i];
    const auto first = static_cast<std::ptrdiff_t>(from.port_base_[s]), last = first + from.ports(s) + 1;
    const auto shift = end_base_[i] - from.end_base_[s];
    for (auto at = from.peers_.begin() + first; at != from.peers_.begin() + last; ++at) {
      peers_.push_back(*at);
      if (at->end != kNoEnd) peers_.back().end += shift;
    }
    if (!from.rates_.empty())
      rates_.insert(rates_.end(), from.rates_.begin() + first, from.rates_.begin() + last);
    for (const auto& end : from.end_ports_of(s)) {
      end_ports_.push_back(end);
      end_ports_.back().sw = i;
    }
  }
  for (auto e = end_ports_.size(); e < from.end_ports_.size(); ++e) end_ports_.push_back(from.end_ports_[e]);
}

void Topology::copy_groups(const Topology& from, std::span<const SwitchIndex> order,
                           std::span<const SwitchIndex> place) {
  groups_.reserve(from.groups_.size());
  group_ports_.reserve(from.group_ports_.size());
  group_base_.assign(1, 0);
  for (const auto s : order) {
    const auto first = groups_.size();
    for (std::size_t g = 0; g < from.groups(s); ++g) {
      const auto group = from.group(s, g);
      groups_.push_back({place[group.peer], static_cast<std::uint32_t>(group_ports_.size()),
                         static_cast<std::uint32_t>(group.ports.size())});
      group_ports_.insert(group_ports_.end(), group.ports.begin(), group.ports.end());
    }
    std::ranges::sort(std::span(groups_).subspan(first), {}, &Group::peer);
    group_base_.push_back(static_cast<std::uint32_t>(groups_.size()));
  }
}

LidMap LidMap::reordered(const Topology& from, const Topology& to, std::span<const SwitchIndex> order) const {
  LidMap result = *this;
  std::vector<EndIndex> end_place(ends_.size());
  std::iota(end_place.begin(), end_place.end(), EndIndex{0});
  for (SwitchIndex i = 0; i < order.size(); ++i) {
    result.switches_[i] = switches_[order[i]];
    const auto ends = static_cast<EndIndex>(to.end_ports_of(i).size());
    for (EndIndex e = 0; e < ends; ++e) {
      end_place[from.first_end(order[i]) + e] = to.first_end(i) + e;
      result.ends_[to.first_end(i) + e] = ends_[from.first_end(order[i]) + e];
    }
  }
  const auto place = positions_in(order);
  for (auto& destination : result.destinations_) {
    if (destination.sw != kNoSwitch) destination.sw = place[destination.sw];
    if (destination.end != kNoEnd) destination.end = end_place[destination.end];
  }
  return result;
}

}  // namespace smd::routing::inline topology
