// SPDX-License-Identifier: Apache-2.0
// SL to VL tables of all end ports, as opensm dumps them (osm_dump.c, dump_sl2vl_tbl).
#include <array>
#include <string_view>

#include "smd/dump/formats.h"
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline dumps {
namespace {

constexpr std::string_view kHeader = "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15";
constexpr std::string_view kSeparator = "#--------------------------------------------------------";

/// What is decided for packets from one port to another, else what is known to be held; empty: nothing is.
wire::SlToVl mapping(const DumpView& view, const Node& node, std::size_t in, PortNum out) {
  const auto index = view.subnet().index_of(node.guid());
  const PortNum from{static_cast<std::uint8_t>(in)};
  if (const auto* map = index ? view.sl_to_vl(*index, from, out) : nullptr; map != nullptr) return *map;
  const auto& held = node.ports[out.value()].held<wire::SlToVl>();
  return held && held->known.test(in) ? held->row[in] : wire::SlToVl{};
}

void print_row(Out& out, const DumpView& view, const Node& node, std::size_t in, std::size_t to,
               std::size_t shown) {
  out.print("{:<3} {:<3} :", in, shown);
  const auto map = mapping(view, node, in, PortNum{static_cast<std::uint8_t>(to)});
  for (const auto vl : map.vls) out.print(" {:<2}", vl.value());
  out.print("\n");
}

void print_head(Out& out, const DumpView& view, const Node& node, PortNum port) {
  static constexpr std::array<std::string_view, 4> kTypes{"UNKNOWN", "Channel Adapter", "Switch", "Router"};
  out.print("{} {}, base LID {}, \"{}\"\n{}\n{}\n", kTypes[static_cast<std::size_t>(node.info.type) & 3U],
            port_guid(node, port), view.lid(node, port).base.value(), shown_name(node), kHeader, kSeparator);
}

}  // namespace

void dump_opensm_sl2vl(Out& out, const DumpView& view) {
  for (const auto& node : view.subnet().nodes) {
    if (out.stopped()) return;
    const auto ports = node->ports.size();
    if (node->is_switch()) {
      print_head(out, view, *node, PortNum{0});
      for (std::size_t to = 1; to < ports; ++to) {
        if (!node->ports[to].peer) continue;
        for (std::size_t in = 0; in < ports; ++in) print_row(out, view, *node, in, to, to);
      }
      out.print("{}\n\n", kSeparator);
      continue;
    }
    for (std::size_t p = 1; p < ports; ++p) {
      if (!node->ports[p].peer) continue;
      print_head(out, view, *node, PortNum{static_cast<std::uint8_t>(p)});
      print_row(out, view, *node, 0, p, 0);
      out.print("{}\n\n", kSeparator);
    }
  }
}

}  // namespace smd::sm::inline dumps
