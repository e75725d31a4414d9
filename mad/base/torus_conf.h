// SPDX-License-Identifier: Apache-2.0
#pragma once
// OpenSM's torus-2QoS.conf: the size of a torus or mesh, and which switches show its directions.

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/file_error.h"
#include "mad/base/id.h"

namespace smd::base {

/// The file as torus-2QoS.conf(5) describes it. Dimensions 0, 1, 2 are x, y, z.
struct TorusConf {
  static constexpr std::size_t kDimensions = 3;

  /// A switch and some of its neighbours, all by node GUID.
  struct Seed {
    Guid from;
    /// By dimension the neighbour in the positive and in the negative direction. At least one of both where
    /// the dimension has a size, both in a ring of four switches.
    std::array<std::optional<Guid>, kDimensions> plus{}, minus{};
    std::array<int, kDimensions> dateline{};  ///< so far `from` is behind the origin, less than a size
    friend bool operator==(const Seed&, const Seed&) = default;
  };
  std::array<unsigned, kDimensions> size{};  ///< 1: there is no such dimension
  std::array<bool, kDimensions> mesh{};      ///< the dimension is a path, no ring; always with two switches
  std::vector<Seed> seeds;                   ///< the first one whose switches are all there counts
  std::vector<PortNum> port_order;           ///< the ports that are visited first
  friend bool operator==(const TorusConf&, const TorusConf&) = default;
};

/// All errors at once. What limits OpenSM's memory or its messages (portgroup_max_ports, max_changes) is
/// checked and ignored.
std::expected<TorusConf, FileErrors> read_torus_conf(std::string_view text, const std::string& file_name);
/// A file that read_torus_conf() reads as `conf`.
std::string torus_conf_text(const TorusConf& conf);

}  // namespace smd::base
