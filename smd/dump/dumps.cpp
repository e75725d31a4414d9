// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mad/base/split.h"

namespace smd::sm::inline dumps {
namespace {

// Longest lines of each format; names have up to 64 bytes.

std::uint64_t linked_ports(const DumpView& view) {
  std::uint64_t n = 0;
  for (const auto& node : view.subnet().nodes) {
    n += static_cast<std::uint64_t>(
        std::ranges::count_if(node->ports, [](const Port& port) { return port.peer.has_value(); }));
  }
  return n;
}

std::uint64_t name_bytes(const Node& node) { return node.description.size(); }

std::uint64_t all_names(const DumpView& view) {
  std::uint64_t n = 0;
  for (const auto& node : view.subnet().nodes) n += name_bytes(*node);
  return n;
}

std::uint64_t subnet_lst_size(const DumpView& view) {
  constexpr std::uint64_t kLine = 340;  // without the two names
  std::uint64_t names = 0;
  for (const auto& node : view.subnet().nodes) {
    names += 2 * name_bytes(*node) * static_cast<std::uint64_t>(node->ports.size());
  }
  return linked_ports(view) * kLine + names;
}

std::uint64_t fdbs_size(const DumpView& view) {
  // A line that is not 'yes' is longer, by 35 bytes; they are few, or the tables are not ours.
  constexpr std::uint64_t kHeader = 81, kLine = 27;
  return view.switches().size() * (kHeader + kLine * view.top().value());
}

std::uint64_t mcfdbs_size(const DumpView& view) {
  std::uint64_t size = 0;
  for (const auto& sw : view.switches()) {
    const auto entries = routing::entries_of(view.multicast_row(*sw.node));
    size += entries.empty() ? 0 : 48;
    for (const auto& entry : entries) size += 9 + 7 * entry.ports.count();
  }
  return size;
}

std::uint64_t lfts_size(const DumpView& view) {
  constexpr std::uint64_t kHeader = 110, kLine = 58, kMark = 26;
  std::uint64_t lines = 0;
  for (unsigned lid = 1; lid <= view.top().value(); ++lid) {
    const auto& owner = view.owner(Lid{static_cast<std::uint16_t>(lid)});
    if (owner.node != nullptr) lines += kLine + name_bytes(*owner.node);
    if (owner.node != nullptr && view.marks() != Marks::none) lines += kMark;
  }
  return view.switches().size() * (kHeader + lines) + all_names(view);
}

std::uint64_t guid2lid_size(const DumpView& view) {
  constexpr std::uint64_t kEntry = 34;
  return view.lids().entries.size() * kEntry;
}

std::uint64_t topology_net_size(const DumpView& view) {
  constexpr std::uint64_t kNode = 250, kLine = 120;
  return view.subnet().nodes.size() * kNode + linked_ports(view) * (kLine + 64) + all_names(view);
}

std::uint64_t lid_matrix_size(const DumpView& view) {
  constexpr std::uint64_t kHeader = 33, kLine = 40, kPort = 3;
  std::uint64_t bytes = 0;
  for (const auto& sw : view.switches()) {
    bytes += kHeader + view.switches().size() * (kLine + kPort * sw.behind.size());
  }
  return bytes;
}

std::uint64_t path_sl_size(const DumpView& view) {
  constexpr std::uint64_t kLine = 27;
  std::uint64_t sources = 0, lids = 0;  // a CA is written once, or once for each port
  for (const auto& node : view.subnet().nodes) {
    if (!node->is_switch()) sources += std::max(1U, node->port_count());
  }
  for (unsigned lid = 1; lid <= view.top().value(); ++lid) {
    const auto* node = view.owner(Lid{static_cast<std::uint16_t>(lid)}).node;
    if (node != nullptr && !node->is_switch()) ++lids;
  }
  return sources * lids * kLine;
}

std::uint64_t opensm_sl2vl_size(const DumpView& view) {
  constexpr std::uint64_t kHead = 230, kLine = 58;
  std::uint64_t size = all_names(view);
  for (const auto& node : view.subnet().nodes) {
    const auto ports = node->ports.size();
    size += node->is_switch() ? kHead + ports * ports * kLine : ports * (kHead + kLine + name_bytes(*node));
  }
  return size;
}

std::uint64_t sl2vl_size(const DumpView& view) {
  constexpr std::uint64_t kLine = 68;
  std::uint64_t lines = 0;
  for (const auto& sw : view.switches()) lines += sw.node->ports.size() * sw.node->ports.size();
  return lines * kLine;
}

constexpr std::array kFormats{
    DumpFormat{"opensm-subnet.lst", true, dump_subnet_lst, nullptr, subnet_lst_size},
    DumpFormat{"opensm.fdbs", true, nullptr, dump_fdbs, fdbs_size},
    DumpFormat{"opensm.mcfdbs", true, dump_mcfdbs, nullptr, mcfdbs_size},
    DumpFormat{"opensm-lfts.dump", true, dump_lfts, nullptr, lfts_size},
    DumpFormat{"guid2lid", true, dump_guid2lid, nullptr, guid2lid_size},
    DumpFormat{"topology.net", true, dump_topology_net, nullptr, topology_net_size},
    DumpFormat{"opensm-lid-matrix.dump", false, nullptr, dump_lid_matrix, lid_matrix_size},
    DumpFormat{"opensm-sl2vl.dump", false, dump_opensm_sl2vl, nullptr, opensm_sl2vl_size},
    DumpFormat{"path-sl.txt", false, dump_path_sl, nullptr, path_sl_size, true},
    DumpFormat{"sl2vl.txt", false, dump_sl2vl, nullptr, sl2vl_size, true},
};

}  // namespace

std::span<const DumpFormat> dump_formats() { return kFormats; }

DumpList default_dumps(bool layered) {
  DumpList list;
  for (const auto& format : kFormats) {
    if (format.by_default || (layered && format.layered)) list.push_back(&format);
  }
  return list;
}

std::expected<DumpList, std::string> parse_dump_list(std::string_view list, std::string_view what) {
  DumpList wanted;
  for (const auto name : base::split_list(list)) {
    const auto* format = std::ranges::find(kFormats, name, &DumpFormat::name);
    if (format == kFormats.end()) {
      std::string names;
      for (const auto& known : kFormats)
        fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", known.name);
      return std::unexpected(fmt::format("{} \"{}\": not a dump ({})", what, name, names));
    }
    if (std::ranges::find(wanted, format) == wanted.end()) wanted.push_back(format);
  }
  return wanted;
}

}  // namespace smd::sm::inline dumps
