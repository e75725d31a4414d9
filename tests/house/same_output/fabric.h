// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fabrics of same_output: a spec or a file, with damage, other GUIDs, another order of nodes, larger
// switches.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "mad/base/fabric.h"
#include "mad/base/fabric_spec.h"
#include "mad/base/file_error.h"

namespace smd::test::same_output {

/// The same numbers on every machine: the distributions of the standard library are not used.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t operator()() { return engine_(); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (auto left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::mt19937_64 engine_;
};

struct FabricOptions {
  std::string fabric;                  ///< a spec or the name of a file
  std::optional<std::uint64_t> guids;  ///< a seed: random GUIDs, and the nodes in random order
  std::uint64_t seed = 1;              ///< of damage and of the positions of cables
  unsigned cut = 0;                    ///< so many cables between switches are missing
  unsigned lose = 0;                   ///< so many switches are missing
  unsigned ports = 0;  ///< switches with fewer ports get so many, with their cables at random ones
};

/// One end of a cable.
struct End {
  base::NodeIndex node = 0;
  unsigned port = 0;
};

inline bool is_switch(const base::FabricNode& node) { return node.type == NodeType::switch_; }

/// Cables between two switches, each once.
inline std::vector<End> switch_cables(const base::Fabric& fabric) {
  std::vector<End> cables;
  for (base::NodeIndex n = 0; n < fabric.nodes.size(); ++n) {
    const auto& node = fabric.nodes[n];
    for (unsigned p = 1; is_switch(node) && p < node.ports.size(); ++p) {
      const auto& peer = node.ports[p].peer;
      if (!peer || !is_switch(fabric.nodes[peer->node])) continue;
      if (std::pair(peer->node, unsigned{peer->port.value()}) > std::pair(n, p)) cables.push_back({n, p});
    }
  }
  return cables;
}

inline std::vector<base::NodeIndex> switches(const base::Fabric& fabric) {
  std::vector<base::NodeIndex> found;
  for (base::NodeIndex n = 0; n < fabric.nodes.size(); ++n) {
    if (is_switch(fabric.nodes[n])) found.push_back(n);
  }
  return found;
}

inline void unplug(base::Fabric& fabric, End end) {
  auto& port = fabric.nodes[end.node].ports[end.port];
  if (!port.peer) return;
  fabric.nodes[port.peer->node].ports[port.peer->port.value()].peer.reset();
  port.peer.reset();
}

/// The nodes of `order` (old indices), in that order; cables to others are gone.
inline base::Fabric rearranged(const base::Fabric& fabric, const std::vector<base::NodeIndex>& order) {
  std::vector<std::optional<base::NodeIndex>> place(fabric.nodes.size());
  for (base::NodeIndex to = 0; to < order.size(); ++to) place[order[to]] = to;
  base::Fabric result;
  for (const auto from : order) {
    auto& node = result.nodes.emplace_back(fabric.nodes[from]);
    for (auto& port : node.ports) {
      if (!port.peer) continue;
      if (const auto to = place[port.peer->node]) {
        port.peer->node = *to;
      } else {
        port.peer.reset();
      }
    }
  }
  return result;
}

inline void move_to_ports(base::Fabric& fabric, unsigned count, Random& random) {
  for (base::NodeIndex n = 0; n < fabric.nodes.size(); ++n) {
    auto& node = fabric.nodes[n];
    if (!is_switch(node) || node.ports.size() > count) continue;
    std::vector<unsigned> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1U);
    random.shuffle(numbers);
    std::vector<base::FabricPort> ports(count + std::size_t{1});
    ports[0] = node.ports[0];
    for (unsigned p = 1; p < node.ports.size(); ++p) ports[numbers[p - 1]] = node.ports[p];
    node.ports = std::move(ports);
    for (unsigned p = 1; p < node.ports.size(); ++p) {
      const auto& peer = node.ports[p].peer;
      if (!peer) continue;
      // A cable from the switch to itself has no place here: no fabric of the list has one at such a switch.
      if (peer->node == n) throw std::runtime_error("a switch with a cable to itself cannot be enlarged");
      fabric.nodes[peer->node].ports[peer->port.value()].peer =
          base::Peer{n, PortNum{static_cast<std::uint8_t>(p)}};
    }
  }
}

inline void give_random_guids(base::Fabric& fabric, Random& random) {
  for (auto& node : fabric.nodes) {
    // The lowest byte is left for the ports of a node.
    node.guid = Guid{(random() & 0x0000'FFFF'FFFF'FF00U) | 0x0002'0000'0000'0000U};
    node.system_image = node.guid;
    for (auto& port : node.ports) port.guid = Guid{};
    char id[32];
    std::snprintf(id, sizeof id, "%c-%016llx", is_switch(node) ? 'S' : 'H',
                  static_cast<unsigned long long>(node.guid.value()));
    node.id = id;
  }
}

inline base::Fabric make(const FabricOptions& options) {
  auto loaded = base::load_fabric(options.fabric);
  if (!loaded) throw std::runtime_error(options.fabric + ": no fabric");
  auto fabric = std::move(*loaded);
  Random random(options.seed);
  for (auto left = options.cut; left > 0; --left) {
    const auto cables = switch_cables(fabric);
    if (!cables.empty()) unplug(fabric, cables[random.below(cables.size())]);
  }
  auto lost = switches(fabric);
  random.shuffle(lost);
  lost.resize(std::min<std::size_t>(lost.size(), options.lose));
  std::vector<base::NodeIndex> order;
  for (base::NodeIndex n = 0; n < fabric.nodes.size(); ++n) {
    if (std::ranges::find(lost, n) == lost.end()) order.push_back(n);
  }
  if (options.ports != 0) move_to_ports(fabric, options.ports, random);
  if (options.guids) {
    Random other(*options.guids);
    give_random_guids(fabric, other);
    other.shuffle(order);
  }
  return rearranged(fabric, order);
}

/// Linked ports of adapters that cables join to the first of them; the first is the manager's.
inline std::vector<End> joined_hosts(const base::Fabric& fabric) {
  std::vector<End> hosts;
  std::vector<bool> seen(fabric.nodes.size());
  const auto linked = [&](base::NodeIndex n) -> unsigned {
    const auto& ports = fabric.nodes[n].ports;
    for (unsigned p = 1; p < ports.size(); ++p) {
      if (ports[p].peer) return p;
    }
    return 0;
  };
  for (base::NodeIndex n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].type != NodeType::ca || linked(n) == 0) continue;
    if (hosts.empty()) {
      std::deque<base::NodeIndex> next{n};
      seen[n] = true;
      while (!next.empty()) {
        const auto at = next.front();
        next.pop_front();
        if (at != n && !is_switch(fabric.nodes[at])) continue;
        for (const auto& port : fabric.nodes[at].ports) {
          if (!port.peer || seen[port.peer->node]) continue;
          seen[port.peer->node] = true;
          next.push_back(port.peer->node);
        }
      }
    }
    if (seen[n]) hosts.push_back({n, linked(n)});
  }
  return hosts;
}

}  // namespace smd::test::same_output
