// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/port_views.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "smd/inventory/switch_levels.h"
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline decisions {
namespace {

using Level = std::optional<unsigned>;

const Node* peer_node(const Subnet& subnet, const Port& port) {
  return port.peer ? subnet.find(port.peer->node) : nullptr;
}

class Views {
 public:
  Views(const Subnet& subnet, const Stored* stored, ViewedPorts which)
      : subnet_(subnet),
        stored_(stored),
        which_(which),
        levels_(switch_levels(subnet, stored != nullptr ? stored->inventory.get() : nullptr)) {}

  PortViews make() {
    for (std::size_t i = 0; i < subnet_.nodes.size(); ++i) {
      const auto& node = *subnet_.nodes[i];
      for (std::size_t p = 0; p < node.ports.size(); ++p) add(i, PortNum{static_cast<std::uint8_t>(p)});
    }
    number_rails();
    return std::move(made_);
  }

 private:
  struct PortOfMachine {
    Guid port;
    std::size_t view = kAbsent;
  };
  static constexpr auto kAbsent = static_cast<std::size_t>(-1);
  using Machines = std::map<Guid, std::vector<PortOfMachine>>;

  /// Adapters of a machine (SystemImageGUID) by GUID, from 1 on, as `smd route --health` numbers them.
  void number_rails() {
    Machines machines;
    for (std::size_t i = 0; i < made_.views.size(); ++i) {
      const auto& view = made_.views[i];
      const auto image = subnet_.find(view.node_guid)->info.system_image;
      if (view.type == NodeType::ca && image != Guid{}) machines[image].push_back({view.port_guid, i});
    }
    if (stored_ != nullptr && stored_->inventory) add_absent(*stored_->inventory, machines);
    for (auto& [image, ports] : machines) {
      if (ports.size() < 2) continue;
      std::ranges::sort(ports, {}, &PortOfMachine::port);
      for (std::size_t i = 0; i < ports.size(); ++i) {
        if (ports[i].view != kAbsent) made_.views[ports[i].view].rail = static_cast<unsigned>(i + 1);
      }
    }
  }

  /// A cable that fails moves no port to another rail.
  void add_absent(const Inventory& inventory, Machines& machines) const {
    std::set<std::pair<Guid, PortNum>> there;
    for (const auto& place : made_.places) there.emplace(place.node, place.port);
    for (const auto& [guid, node] : inventory.nodes()) {
      const auto machine = machines.find(node.image);
      if (machine == machines.end()) continue;
      inventory.for_each_link(guid, [&](const LinkEnd& end, const KnownLink&) {
        if (!there.contains({end.node, end.port}))
          machine->second.push_back({absent_port_guid(*stored_, end)});
      });
    }
  }

  void add(std::size_t index, PortNum num) {
    const auto& node = *subnet_.nodes[index];
    const auto& port = node.ports[num.value()];
    const bool external = !is_end_port(node, num);
    if (external && (which_ == ViewedPorts::end_ports || !node.is_switch())) return;
    const auto guid = port_guid(node, num);
    const auto* peer = external ? peer_node(subnet_, port) : nullptr;
    if (guid == Guid{}) return;
    const auto at_switch = !node.is_switch() && port.peer ? subnet_.index_of(port.peer->node) : std::nullopt;
    made_.views.push_back({.port_guid = guid,
                           .node_guid = node.guid(),
                           .node_name = node.description,
                           .port = num,
                           .type = node.info.type,
                           .level = node.is_switch() ? levels_[index]
                                    : at_switch      ? levels_[*at_switch]
                                                     : Level(),
                           .to_switch = peer != nullptr && peer->is_switch()});
    made_.places.push_back({node.guid(), num});
  }

  const Subnet& subnet_;
  const Stored* stored_;
  ViewedPorts which_;
  std::vector<Level> levels_;
  PortViews made_{};
};

}  // namespace

PortViews port_views(const Subnet& subnet, const Stored* stored, ViewedPorts which) {
  return Views(subnet, stored, which).make();
}

Guid absent_port_guid(const Stored& stored, const LinkEnd& end) {
  const Guid behind{end.node.value() + end.port.value()};
  return stored.lids.contains(end.node) || !stored.lids.contains(behind) ? end.node : behind;
}

}  // namespace smd::sm::inline decisions
