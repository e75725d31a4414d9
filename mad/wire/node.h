// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeInfo and NodeDescription. Layout: libibmad's IB_NODE_* fields, the kernel's struct ib_node_info.

#include <string>
#include <tuple>

#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/wire/codec.h"

namespace smd::wire {

/// What a node is. `port` and `local_port` are those of the port that was asked through.
struct NodeInfo {
  static constexpr std::uint16_t kAttribute = 0x0011;
  static constexpr std::string_view kName = "NodeInfo";
  static constexpr std::size_t kBytes = 40;
  std::uint8_t base_version = 0, class_version = 0;
  NodeType type{};
  std::uint8_t num_ports = 0;  ///< physical ports; a switch's port 0 is not counted
  Guid system_image{}, node{}, port{};
  std::uint16_t partition_cap = 0;  ///< entries of the P_Key table
  std::uint16_t device_id = 0;
  std::uint32_t revision = 0;
  PortNum local_port{};
  std::uint32_t vendor_id = 0;  ///< 24 bits

  /// Rows of the byte layout: libibmad's IB_NODE_*, the kernel's struct ib_node_info.
  static constexpr auto fields() {
    using T = NodeInfo;
    return std::tuple{field("BaseVersion", &T::base_version, 0, 8),
                      field("ClassVersion", &T::class_version, 8, 8),
                      field("NodeType", &T::type, 16, 8),
                      field("NumPorts", &T::num_ports, 24, 8),
                      field("SystemImageGUID", &T::system_image, 32, 64),
                      field("NodeGUID", &T::node, 96, 64),
                      field("PortGUID", &T::port, 160, 64),
                      field("PartitionCap", &T::partition_cap, 224, 16),
                      field("DeviceID", &T::device_id, 240, 16, Style::hex),
                      field("Revision", &T::revision, 256, 32, Style::hex),
                      field("LocalPortNum", &T::local_port, 288, 8),
                      field("VendorID", &T::vendor_id, 296, 24, Style::hex)};
  }
  friend bool operator==(const NodeInfo&, const NodeInfo&) = default;
};
static_assert(well_formed<NodeInfo>());

/// A node's name: up to 64 bytes, UTF-8 by custom, any bytes in fact; what follows a NUL is not read.
struct NodeDescription {
  static constexpr std::uint16_t kAttribute = 0x0010;
  static constexpr std::string_view kName = "NodeDescription";
  static constexpr std::size_t kBytes = 64;
  std::string text{};

  /// Row of the byte layout: 64 bytes of text.
  static constexpr auto fields() {
    return std::tuple{text_field("NodeString", &NodeDescription::text, 0, 64)};
  }
  friend bool operator==(const NodeDescription&, const NodeDescription&) = default;
};
static_assert(well_formed<NodeDescription>());

}  // namespace smd::wire
