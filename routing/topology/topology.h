// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fabric as engines see it: dense, compact, and independent of the order of the input.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/input.h"

namespace smd::routing::inline topology {

using EndIndex = std::uint32_t;  ///< position in Topology::end_ports()
inline constexpr EndIndex kNoEnd = std::numeric_limits<EndIndex>::max();

/// All cables from one switch to one neighbour.
struct NeighbourGroup {
  SwitchIndex peer = 0;
  std::span<const PortNum> ports;  ///< ours, ascending
};

struct EndPort {
  Guid guid;
  SwitchIndex sw = kNoSwitch;
  PortNum port;
  EndKind kind = EndKind::compute;
  Guid node;
  Guid system_image;
  EndIndex input = 0;  ///< position in TopologyInput::end_ports
};

/// What a switch port leads to: a switch (`sw`, `port`), an end port (`end`), or nothing.
struct PortPeer {
  SwitchIndex sw = kNoSwitch;
  EndIndex end = kNoEnd;
  PortNum port;
};

/// Immutable. Switches are sorted by GUID (unless reordered()), groups by the neighbour's index, end ports by
/// (switch, port). A cable from a switch to itself is in peer() but in no group.
class Topology {
 public:
  Topology() = default;
  /// O(n log n) in switches, links and end ports.
  explicit Topology(const TopologyInput& input);

  /// The same fabric with the switches in another order: `order` names each once, the first becomes 0. For
  /// algorithms that break ties by SwitchIndex. End ports follow their switches.
  Topology reordered(std::span<const SwitchIndex> order) const;

  /// Number of switches; SwitchIndex is 0 to switches() - 1.
  std::size_t switches() const { return guids_.size(); }
  Guid guid(SwitchIndex s) const { return guids_[s]; }  ///< `s` is below switches(), here and below
  /// Highest port number, port 0 not counted.
  unsigned ports(SwitchIndex s) const { return port_base_[s + 1] - port_base_[s] - 1; }
  /// Position in TopologyInput::switches, and the inverse.
  SwitchIndex input_of(SwitchIndex s) const { return input_of_[s]; }
  /// Below the size of the input.
  SwitchIndex from_input(SwitchIndex input) const { return from_input_[input]; }
  /// The switch with this GUID; kNoSwitch if there is none.
  SwitchIndex find(Guid guid) const;

  /// Number of neighbours.
  std::size_t groups(SwitchIndex s) const { return group_base_[s + 1] - group_base_[s]; }
  /// Neighbour group `g` of `s`, below groups(s).
  NeighbourGroup group(SwitchIndex s, std::size_t g) const {
    const auto& entry = groups_[group_base_[s] + g];
    return {entry.peer, std::span(group_ports_).subspan(entry.first, entry.count)};
  }
  /// Accepts any port number: nonexistent ports and port 0 lead to nothing.
  PortPeer peer(SwitchIndex s, PortNum port) const {
    return port.value() <= ports(s) ? peers_[port_base_[s] + port.value()] : PortPeer{};
  }
  /// Dense index of (switch, port), for ports 0 to ports(s).
  std::size_t channel(SwitchIndex s, PortNum port) const { return port_base_[s] + port.value(); }
  /// All numbers of channel() are below it.
  std::size_t channels() const { return port_base_.empty() ? 0 : port_base_.back(); }

  /// Whether all cables between switches have the same rate, or none is known.
  bool one_rate() const { return rates_.empty(); }
  /// Rate of the cable at the port, in a unit of which all rates of the fabric are whole multiples; never 0.
  std::uint32_t rate(SwitchIndex s, PortNum port) const { return one_rate() ? 1 : rates_[channel(s, port)]; }

  std::span<const EndPort> end_ports() const { return end_ports_; }
  /// The end ports of one switch, a part of end_ports(). `first_end(s)` is the index of the first.
  std::span<const EndPort> end_ports_of(SwitchIndex s) const {
    return std::span(end_ports_).subspan(end_base_[s], end_base_[s + 1] - end_base_[s]);
  }
  /// Index in end_ports() of the switch's first end port, or of the next switch's where it has none.
  EndIndex first_end(SwitchIndex s) const { return end_base_[s]; }
  /// Number of end ports of a switch that are not aggregation nodes. A leaf has at least one, wherever it is.
  std::uint32_t hosts(SwitchIndex s) const { return hosts_[s]; }
  bool leaf(SwitchIndex s) const { return hosts_[s] != 0; }  ///< has hosts
  std::span<const SwitchIndex> leaves() const { return leaves_; }

  /// Connected switches have the same component number.
  std::uint32_t component(SwitchIndex s) const { return component_[s]; }
  /// Number of components; component() is below it.
  std::uint32_t components() const { return components_; }
  std::size_t cables() const { return cables_; }  ///< between different switches
  /// Links and end ports of the input that were left out (TopologyInput).
  std::size_t dropped() const { return dropped_; }

 private:
  struct Group {
    SwitchIndex peer;
    std::uint32_t first, count;
  };
  void place_switches(const TopologyInput& input);
  void place_links(const TopologyInput& input);
  void settle_rates();
  void place_end_ports(const TopologyInput& input);
  void make_groups();
  void find_components();
  void copy_switches(const Topology& from, std::span<const SwitchIndex> order);
  void copy_ports(const Topology& from, std::span<const SwitchIndex> order);
  void copy_groups(const Topology& from, std::span<const SwitchIndex> order,
                   std::span<const SwitchIndex> place);
  PortPeer* free_port(SwitchIndex s, PortNum port);

  std::vector<Guid> guids_;
  std::vector<SwitchIndex> by_guid_;  ///< sorted by GUID; empty: all are
  std::vector<SwitchIndex> input_of_, from_input_;
  std::vector<std::uint32_t> port_base_, group_base_, end_base_, hosts_, component_;
  std::vector<PortPeer> peers_;
  std::vector<std::uint32_t> rates_;  ///< by channel; empty: all alike
  std::vector<Group> groups_;
  std::vector<PortNum> group_ports_;
  std::vector<EndPort> end_ports_;
  std::vector<SwitchIndex> leaves_;
  std::uint32_t components_ = 0;
  std::size_t cables_ = 0, dropped_ = 0;
};

/// What a missing route means.
enum class RouteNeed : std::uint8_t {
  none,      ///< nothing: no end port uses it, or only aggregation nodes among each other
  by_rule,   ///< a host and an aggregation node of different switches: left out where the engine has no path
  required,  ///< two hosts, or end ports of one switch
};

/// The strictest need of the end ports of switch `from` for a route to `to`.
RouteNeed route_need(const Topology& topology, SwitchIndex from, EndIndex to);

/// End ports that are not aggregation nodes, in the numbering of quality figures: by switch in the order of
/// the file, then by port; those without a switch last, in the order of the input.
std::vector<EndIndex> hosts_in_file_order(const Topology& topology);

}  // namespace smd::routing::inline topology
