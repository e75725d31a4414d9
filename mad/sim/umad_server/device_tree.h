// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a program sees that is attached to ports of the fabric: one HCA a node, and the files of Linux's sysfs
// for it (Documentation/ABI/stable/sysfs-class-infiniband).

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "mad/sim/state/state.h"

namespace smd::sim {

/// A node whose ports the program has; `mlx5_0` and so on in the order in which they were given.
struct AttachedNode {
  NodeIndex node = 0;
  std::vector<PortIndex> ports;  ///< ascending; that of a switch is port 0
};

/// Lines NODE or NODE:PORT. Without a port: all ports of the node. The error is one sentence.
std::expected<std::vector<AttachedNode>, std::string> attached_nodes(const State& state,
                                                                     std::string_view places);

/// The port of umadN and issmN; nothing where there are fewer.
std::optional<PortIndex> device_port(const std::vector<AttachedNode>& nodes, std::size_t index);

/// All files with their present content, as "path\0content\0" each; what is in one folder stands together.
std::string device_files(const State& state, const std::vector<AttachedNode>& nodes);

}  // namespace smd::sim
