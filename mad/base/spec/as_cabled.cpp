// SPDX-License-Identifier: Apache-2.0
// The suffixes' effects: what fabrics as they are cabled have and generated ones do not.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "mad/base/fabric_edit.h"
#include "mad/base/random.h"
#include "mad/base/spec/args.h"
#include "mad/base/spec/suffixes.h"

namespace smd::base::spec {
namespace {

constexpr std::string_view kAggregationNode = "Mellanox Technologies Aggregation Node";

bool is_switch(const FabricNode& node) { return node.type == NodeType::switch_; }

/// Quantum switches show their aggregation node at the port behind the external ones: 41 of 40, 65 of 64.
unsigned aggregation_port(unsigned ports) { return ports <= 40 ? 41 : ports <= 64 ? 65 : ports + 1; }

/// Both ends get each other as peers and the rate.
void connect(Fabric& fabric, Peer one, Peer other, const LinkRate& rate) {
  const auto set = [&](Peer at, Peer to) {
    auto& port = fabric.nodes[at.node].ports[at.port.value()];
    port.peer = to;
    port.rate = rate;
  };
  set(one, other);
  set(other, one);
}

/// One end of each cable between two switches, in the order of nodes and ports.
std::vector<Peer> switch_cables(const Fabric& fabric) {
  std::vector<Peer> cables;
  for (NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    const auto& node = fabric.nodes[i];
    for (unsigned p = 1; is_switch(node) && p <= node.port_count(); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      const auto& peer = node.ports[p].peer;
      if (!peer || !is_switch(fabric.nodes[peer->node])) continue;
      if (std::pair(i, number) < std::pair(peer->node, peer->port)) cables.push_back({i, number});
    }
  }
  return cables;
}

/// GUIDs as one vendor's adapters and switches have them: 28 random bits, the lowest four free for ports.
class RandomGuids {
 public:
  explicit RandomGuids(std::uint64_t seed) : random_(seed) {}

  /// A GUID so that it and the next `ports` ones were not given yet.
  Guid draw(unsigned ports) {
    constexpr std::uint64_t kVendor = 0x900a840300000000U, kMask = 0x0fffffffU;
    const auto steps = ports / 16 + std::uint64_t{1};
    for (;;) {
      const auto first = random_.next() & kMask;
      bool fits = first + steps <= kMask;
      for (auto step = first; fits && step < first + steps; ++step) fits = !used_.contains(step);
      if (!fits) continue;
      for (auto step = first; step < first + steps; ++step) used_.insert(step);
      return Guid{kVendor | first << 4U};
    }
  }

 private:
  Random random_;
  std::unordered_set<std::uint64_t> used_;
};

/// New node GUIDs by the old ones. An aggregation node's stays next to that of its switch.
void give_guids(Fabric& fabric, RandomGuids& guids) {
  std::unordered_map<Guid, Guid> images;
  for (auto& node : fabric.nodes) {
    const auto old = node.guid;
    const auto above = node.name == kAggregationNode ? node.ports[1].peer : std::nullopt;
    if (above) {
      const auto& sw = fabric.nodes[above->node];  // switches come before their nodes
      node.guid = node.ports[1].guid = Guid{sw.guid.value() + 8};
    } else {
      node.guid = guids.draw(is_switch(node) ? 0 : node.port_count());
    }
    images.emplace(old, node.guid);
    node.id = fmt::format("{}-{:016x}", is_switch(node) ? 'S' : 'H', node.guid.value());
  }
  for (auto& node : fabric.nodes) {
    auto found = images.find(node.system_image);
    if (found == images.end()) found = images.emplace(node.system_image, guids.draw(0)).first;
    node.system_image = found->second;
  }
}

/// The order of ibnetdiscover(8): breadth first from a host by ports, only through switches; switches come
/// first. What cannot be reached from there follows in the old order.
std::vector<NodeIndex> discovery_order(const Fabric& fabric, NodeIndex first) {
  std::vector<NodeIndex> met{first};
  std::vector<bool> known(fabric.nodes.size(), false);
  known[first] = true;
  for (std::size_t next = 0; next < met.size(); ++next) {
    const auto& node = fabric.nodes[met[next]];
    if (next != 0 && !is_switch(node)) continue;
    for (const auto& port : node.ports) {
      if (!port.peer || known[port.peer->node]) continue;
      known[port.peer->node] = true;
      met.push_back(port.peer->node);
    }
  }
  for (NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    if (!known[i]) met.push_back(i);
  }
  std::vector<NodeIndex> order;
  order.reserve(met.size());
  for (const bool switches : {true, false}) {
    std::ranges::copy_if(met, std::back_inserter(order),
                         [&](NodeIndex i) { return is_switch(fabric.nodes[i]) == switches; });
  }
  return order;
}

Fabric reordered(Fabric fabric, const std::vector<NodeIndex>& order) {
  std::vector<NodeIndex> moved(order.size());
  for (NodeIndex i = 0; i < order.size(); ++i) moved[order[i]] = i;
  Fabric result;
  result.nodes.reserve(order.size());
  for (const auto from : order) {
    auto& node = result.nodes.emplace_back(std::move(fabric.nodes[from]));
    for (auto& port : node.ports) {
      if (port.peer) port.peer->node = moved[port.peer->node];
    }
  }
  return result;
}

}  // namespace

std::expected<Fabric, std::string> with_aggregation_nodes(Fabric fabric) {
  std::uint64_t switches = 0, host_ports = 0, most = 0;
  for (const auto& node : fabric.nodes) {
    switches += is_switch(node) ? 1 : 0;
    host_ports += is_switch(node) ? 0 : node.port_count();
    if (is_switch(node)) most = std::max<std::uint64_t>(most, aggregation_port(node.port_count()));
  }
  if (auto why = too_large(switches, host_ports + switches, most); !why.empty())
    return std::unexpected("+an: " + why);

  const auto plain = fabric.nodes.size();
  fabric.nodes.reserve(plain + switches);
  for (NodeIndex i = 0; i < plain; ++i) {
    if (!is_switch(fabric.nodes[i])) continue;
    const auto port = aggregation_port(fabric.nodes[i].port_count());
    fabric.nodes[i].ports.resize(port + 1);
    auto node = FabricNode{.type = NodeType::ca,
                           .guid = Guid{fabric.nodes[i].guid.value() + 8},
                           .system_image = fabric.nodes[i].system_image,
                           .vendor_id = fabric.nodes[i].vendor_id,
                           .device_id = 0xcf09,
                           .id = {},
                           .name = std::string(kAggregationNode),
                           .enhanced_port0 = false,
                           .ports = std::vector<FabricPort>(2)};
    node.id = fmt::format("H-{:016x}", node.guid.value());
    node.ports[1].guid = node.guid;
    fabric.nodes.push_back(std::move(node));
    connect(fabric, {i, PortNum{static_cast<std::uint8_t>(port)}},
            {static_cast<NodeIndex>(fabric.nodes.size() - 1), PortNum{1}},
            {.speed = LinkSpeed::hdr, .text = {}});
  }
  return fabric;
}

Fabric with_cut(const Fabric& fabric, const Cut& cut) {
  auto cables = switch_cables(fabric);
  const auto share = (cables.size() * std::uint64_t{cut.thousandths} + 50'000) / 100'000;
  const auto count =
      std::min<std::uint64_t>(cables.size(), cut.thousandths == 0 ? 0 : std::max<std::uint64_t>(1, share));
  Random random(cut.seed);
  random.shuffle(cables);
  cables.resize(count);
  return without(fabric, {.nodes = {}, .links = std::move(cables)});
}

Fabric with_speeds(Fabric fabric, const Speeds& speeds) {
  Random random(speeds.seed);
  for (const auto end : switch_cables(fabric)) {
    auto& port = fabric.nodes[end.node].ports[end.port.value()];
    if (!port.peer) continue;
    const auto peer = *port.peer;
    port.rate.speed = speeds.speeds[random.below(speeds.speeds.size())];
    fabric.nodes[peer.node].ports[peer.port.value()].rate.speed = port.rate.speed;
  }
  return fabric;
}

Fabric with_random_guids(const Fabric& fabric, std::uint64_t seed) {
  auto result = fabric;
  if (result.nodes.empty()) return result;
  RandomGuids guids(seed);
  give_guids(result, guids);
  std::vector<NodeIndex> hosts;
  for (NodeIndex i = 0; i < result.nodes.size(); ++i) {
    if (!is_switch(result.nodes[i]) && result.nodes[i].name != kAggregationNode) hosts.push_back(i);
  }
  auto random = Random(seed).fork(1);
  const auto first = hosts.empty() ? NodeIndex{0} : hosts[random.below(hosts.size())];
  const auto order = discovery_order(result, first);
  return reordered(std::move(result), order);
}

}  // namespace smd::base::spec
