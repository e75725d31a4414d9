// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two kinds of lines that matter in a fabric file, taken apart. The views point into the line.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "mad/base/id.h"
#include "mad/base/link.h"

namespace smd::base::net {

/// `Switch<TAB>24 "S-0002c90000000010"  # "leaf 1" base port 0 lid 6 lmc 0`
struct NodeLine {
  NodeType type = NodeType::ca;
  unsigned ports = 0;  ///< 1 to 254
  std::string_view id;
  std::optional<std::string_view> name;
  bool enhanced_port0 = false;
  Lid lid;
  std::uint8_t lmc = 0;
};

/// What ibsim's options allow a port, as bit masks of PortInfo; 0: not said.
struct Enabled {
  std::uint8_t width = 0, speed = 0, speed_ext = 0;
  bool any() const { return (width | speed | speed_ext) != 0; }  ///< at least one mask was given
};

/// `[1](2c90000000071)  "S-0002c90000000010"[3]  # lid 4 lmc 0 "leaf 1" lid 6 4xEDR`
struct PortLine {
  bool alias = false;      ///< ibsim: `@[1] "NAME"` gives the port a name for other modules
  std::uint64_t port = 0;  ///< as written
  Guid guid;
  std::string_view remote_id;
  std::uint64_t remote_port = 1;  ///< as written; ibsim's default
  Guid remote_guid;
  std::optional<Lid> lid;  ///< CA and router ports
  std::uint8_t lmc = 0;
  Lid remote_lid;
  std::string_view rate;  ///< "4xEDR", "4x ??? (IBA extension)"; empty: none given
  Enabled enabled;
};

/// Takes a node's line apart; `rest` is the text behind the word that says the type. The error has no line
/// number.
std::expected<NodeLine, std::string> parse_node_line(NodeType type, std::string_view rest);
/// Takes a port's line apart, which starts with '[' or "@[". The error has no line number.
std::expected<PortLine, std::string> parse_port_line(NodeType type, std::string_view line);
/// The number of `width=…`, `vendid=…`: up to the next space.
std::expected<std::uint64_t, std::string> parse_value(std::string_view text, std::uint64_t last);

/// Found text for a message: of sensible length, without control characters, in quotes.
std::string show(std::string_view found);

}  // namespace smd::base::net
