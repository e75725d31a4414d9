// SPDX-License-Identifier: Apache-2.0
// SL to VL tables of all end ports, as opensm dumps them (osm_dump.c, dump_sl2vl_tbl).
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

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

void print_switch(Out& out, const DumpView& view, const Node& node) {
  print_head(out, view, node, PortNum{0});
  for (std::size_t to = 1; to < node.ports.size(); ++to) {
    if (!node.ports[to].peer) continue;
    for (std::size_t in = 0; in < node.ports.size(); ++in) print_row(out, view, node, in, to, to);
  }
  out.print("{}\n\n", kSeparator);
}

struct EndPortAt {
  std::uint64_t order = 0;
  const Node* node = nullptr;
  PortNum port;
};

/// In opensm's order: it compares port GUIDs in network byte order as numbers of a little-endian processor.
std::vector<EndPortAt> in_opensm_order(const Subnet& subnet) {
  std::vector<EndPortAt> ends;
  const auto add = [&](const Node& node, std::size_t p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    ends.push_back({std::byteswap(port_guid(node, port).value()), &node, port});
  };
  for (const auto& node : subnet.nodes) {
    if (node->is_switch()) add(*node, 0);
    for (std::size_t p = 1; !node->is_switch() && p < node->ports.size(); ++p) {
      if (node->ports[p].peer) add(*node, p);
    }
  }
  std::ranges::sort(ends, {},
                    [](const EndPortAt& end) { return std::tuple(end.order, end.node->guid(), end.port); });
  return ends;
}

}  // namespace

void dump_opensm_sl2vl(Out& out, const DumpView& view) {
  for (const auto& end : in_opensm_order(view.subnet())) {
    if (out.stopped()) return;
    if (end.node->is_switch()) {
      print_switch(out, view, *end.node);
      continue;
    }
    print_head(out, view, *end.node, end.port);
    print_row(out, view, *end.node, 0, end.port.value(), 0);
    out.print("{}\n\n", kSeparator);
  }
}

}  // namespace smd::sm::inline dumps
