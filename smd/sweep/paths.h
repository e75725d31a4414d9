// SPDX-License-Identifier: Apache-2.0
#pragma once
// Directed routes from our own port, computed from the current Subnet and never stored in a node.

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "mad/transport.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// Shortest directed routes; of several the one by the lowest port numbers. Only switches forward.
class Paths {
 public:
  /// Links and nodes that no path may use; a path may still end at such a node.
  struct Avoid {
    std::set<Guid> nodes;
    std::set<std::pair<Guid, PortNum>> ports;  ///< either end of a link
  };

  /// `subnet` is only read here.
  explicit Paths(const Subnet& subnet) : Paths(subnet, {}) {}
  /// Shortest paths from our own port, breadth first. Both are only read here.
  Paths(const Subnet& subnet, const Avoid& avoid);

  /// To a node (index in Subnet::nodes) by whichever of its ports; nothing where it is not reached or
  /// further than 63 hops.
  std::optional<mad::DirectedPath> to(std::size_t node) const;

  /// By up to `most` different last links, nearest first: one of them is likely to be up.
  std::vector<mad::DirectedPath> ways(const Subnet& subnet, std::size_t node, std::size_t most) const;

  /// So that the MAD arrives at this very port (what a CA needs to be Set); of a switch any port will do.
  std::optional<mad::DirectedPath> to_port(const Subnet& subnet, std::size_t node, PortNum port) const;

 private:
  struct Step {
    std::int32_t parent = kUnreached;
    PortNum out;  ///< port of the parent that leads here
  };
  static constexpr std::int32_t kUnreached = -1, kSelf = -2;
  std::vector<Step> steps_;
  PortNum sm_port_;
  std::size_t sm_node_ = 0;
};

}  // namespace smd::sm::inline sweeping
