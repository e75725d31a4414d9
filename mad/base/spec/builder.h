// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts fabrics together for the specs: GUIDs counted up, all links 4xHDR.

#include <cstdint>
#include <string>

#include "mad/base/fabric.h"

namespace smd::base::spec {

class FabricBuilder {
 public:
  /// Memory for so many nodes in all; optional.
  void reserve(std::size_t nodes) { fabric_.nodes.reserve(nodes); }
  /// A switch with physical ports 1 to `ports`, not linked. GUIDs count up in the order of the calls.
  NodeIndex add_switch(std::string name, unsigned ports);
  /// A CA with ports 1 to `ports`, not linked, each with a port GUID of its own.
  NodeIndex add_host(std::string name, unsigned ports = 1);
  /// Both ports must exist and be free.
  void link(NodeIndex a, unsigned port_a, NodeIndex b, unsigned port_b);
  /// `node` must exist.
  void set_system_image(NodeIndex node, Guid image) { fabric_.nodes[node].system_image = image; }
  Guid guid(NodeIndex node) const { return fabric_.nodes[node].guid; }  ///< node GUID; `node` must exist
  /// The fabric as built so far; to be called once, as the last call.
  Fabric take() { return std::move(fabric_); }

 private:
  NodeIndex add(NodeType type, std::string name, unsigned ports);

  Fabric fabric_;
  std::uint64_t next_guid_ = 0x0002c90000000010U;
};

}  // namespace smd::base::spec
