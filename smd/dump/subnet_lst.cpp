// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "smd/dump/formats.h"

namespace smd::sm::inline dumps {
namespace {

std::string_view short_type(NodeType type) {
  switch (type) {
    case NodeType::ca:
      return "CA";
    case NodeType::switch_:
      return "SW";
    case NodeType::router:
      return "Rt";
    case NodeType::none:
      break;
  }
  return "**";
}

std::string_view state_text(PortState state) {
  switch (state) {
    case PortState::init:
      return "INI";
    case PortState::armed:
      return "ARM";
    case PortState::active:
      return "ACT";
    case PortState::no_change:
    case PortState::down:
      break;
  }
  return "DWN";
}

/// Gb/s of a lane, as far as the format has a name.
std::string_view speed_text(LinkSpeed speed) {
  switch (speed) {
    case LinkSpeed::sdr:
      return "2.5";
    case LinkSpeed::ddr:
      return "5";
    case LinkSpeed::qdr:
      return "10";
    case LinkSpeed::fdr10:
      return "FDR10";
    case LinkSpeed::fdr:
      return "14";
    case LinkSpeed::edr:
      return "25";
    case LinkSpeed::hdr:
      return "50";
    case LinkSpeed::ndr:
      return "100";
    case LinkSpeed::xdr:
      return "200";
    case LinkSpeed::unknown:
      break;
  }
  return "??";
}

/// Braces end the name for ibdmchk, which then loses the line: they become round ones.
std::string braced_name(const Node& node) {
  auto name = shown_name(node);
  std::ranges::replace(name, '{', '(');
  std::ranges::replace(name, '}', ')');
  name.erase(name.find_last_not_of(' ') + 1);  // ibdmchk does not read a node whose name ends in a blank
  return name;
}

void end_text(Out& out, const DumpView& view, const Node& node, PortNum port, bool near) {
  const auto lid = view.lid(node, port).base;
  const bool is_sm = lid.unicast() && lid == view.lids().sm_lid;
  out.print("{{ {}{} Ports:{:02X} SystemGUID:{:016x} NodeGUID:{:016x} PortGUID:{:016x} ",
            short_type(node.info.type), is_sm ? "-SM" : "", node.info.num_ports,
            node.info.system_image.value(), node.guid().value(), shown_guid(node, port).value());
  // The two ends differ: OpenSM prints the far end's vendor wider and its device as the upper half of 32
  // bits.
  if (near) {
    out.print("VenID:{:06X} DevID:{:04X} ", node.info.vendor_id, node.info.device_id);
  } else {
    out.print("VenID:{:08X} DevID:{:04X} ", node.info.vendor_id, std::uint32_t{node.info.device_id} << 16);
  }
  out.print("Rev:{:08X} {{{}}} LID:{:04X} PN:{:02X} }} ", node.info.revision, braced_name(node), lid.value(),
            port.value());
}

}  // namespace

void dump_subnet_lst(Out& out, const DumpView& view) {
  for (const auto& node : view.subnet().nodes) {
    for (unsigned p = 1; p <= node->port_count() && !out.stopped(); ++p) {
      const auto& port = node->ports[p];
      const auto* peer = port.peer ? view.subnet().find(port.peer->node) : nullptr;
      if (peer == nullptr || port.peer->port.value() >= peer->ports.size()) continue;
      const PortNum number{static_cast<std::uint8_t>(p)};
      end_text(out, view, *node, number, true);
      end_text(out, view, *peer, port.peer->port, false);
      const auto rate = link_rate(*node, number);
      out.print("PHY={} LOG={} SPD={}\n",
                rate.width == LinkWidth::unknown ? std::string_view("??") : to_string(rate.width),
                state_text(port.info.port_state), speed_text(rate.speed));
    }
  }
}

}  // namespace smd::sm::inline dumps
