// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a link is: the kinds of its ends, its width and speed, the states of a port.

#include <cstdint>
#include <string_view>

namespace smd {

/// NodeInfo.NodeType; other values occur on the wire and are kept.
enum class NodeType : std::uint8_t { none = 0, ca = 1, switch_ = 2, router = 3 };

/// PortInfo.PortState (libibmad's IB_PORT_STATE_F).
enum class PortState : std::uint8_t { no_change = 0, down = 1, init = 2, armed = 3, active = 4 };

/// PortInfo.PortPhysState (libibmad's IB_PORT_PHYS_STATE_F).
enum class PhysState : std::uint8_t {
  no_change = 0,
  sleep = 1,
  polling = 2,
  disabled = 3,
  training = 4,
  link_up = 5,
  error_recovery = 6,
  phy_test = 7
};

/// One active width as PortInfo.LinkWidthActive codes it (a bit mask for Enabled and Supported); 16 is 2X.
enum class LinkWidth : std::uint8_t { unknown = 0, x1 = 1, x4 = 2, x8 = 4, x12 = 8, x2 = 16 };

/// One speed of a lane, whichever of the wire's three fields says it (LinkSpeed, LinkSpeedExt, FDR10 of
/// MlnxExtPortInfo), slowest first.
enum class LinkSpeed : std::uint8_t { unknown, sdr, ddr, qdr, fdr10, fdr, edr, hdr, ndr, xdr };

/// PortInfo's MTU codes (NeighborMTU, MTUCap).
enum class Mtu : std::uint8_t { none = 0, m256 = 1, m512 = 2, m1024 = 3, m2048 = 4, m4096 = 5 };

/// "CA", "switch", "router", "none"; "unknown" for a reserved value.
constexpr std::string_view to_string(NodeType type) {
  switch (type) {
    case NodeType::none:
      return "none";
    case NodeType::ca:
      return "CA";
    case NodeType::switch_:
      return "switch";
    case NodeType::router:
      return "router";
  }
  return "unknown";
}

/// "Down", "Init", "Armed", "Active", "NoChange"; "unknown" for a reserved value.
constexpr std::string_view to_string(PortState state) {
  switch (state) {
    case PortState::no_change:
      return "NoChange";
    case PortState::down:
      return "Down";
    case PortState::init:
      return "Init";
    case PortState::armed:
      return "Armed";
    case PortState::active:
      return "Active";
  }
  return "unknown";
}

/// As ibnetdiscover writes it: "4x"; "??" where unknown.
constexpr std::string_view to_string(LinkWidth width) {
  switch (width) {
    case LinkWidth::unknown:
      return "??";
    case LinkWidth::x1:
      return "1x";
    case LinkWidth::x4:
      return "4x";
    case LinkWidth::x8:
      return "8x";
    case LinkWidth::x12:
      return "12x";
    case LinkWidth::x2:
      return "2x";
  }
  return "??";
}

/// As ibnetdiscover writes it: "EDR"; "???" where unknown.
constexpr std::string_view to_string(LinkSpeed speed) {
  switch (speed) {
    case LinkSpeed::unknown:
      return "???";
    case LinkSpeed::sdr:
      return "SDR";
    case LinkSpeed::ddr:
      return "DDR";
    case LinkSpeed::qdr:
      return "QDR";
    case LinkSpeed::fdr10:
      return "FDR10";
    case LinkSpeed::fdr:
      return "FDR";
    case LinkSpeed::edr:
      return "EDR";
    case LinkSpeed::hdr:
      return "HDR";
    case LinkSpeed::ndr:
      return "NDR";
    case LinkSpeed::xdr:
      return "XDR";
  }
  return "???";
}

/// Bytes of payload; 0 for none or an unknown code.
constexpr unsigned bytes(Mtu mtu) {
  const auto code = static_cast<unsigned>(mtu);
  return code >= 1 && code <= 5 ? 128U << code : 0U;
}

}  // namespace smd
