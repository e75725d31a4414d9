// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "smd/dump/formats.h"

namespace smd::sm::inline dumps {
namespace {

std::string_view long_type(NodeType type) {
  switch (type) {
    case NodeType::ca:
      return "Channel Adapter";
    case NodeType::switch_:
      return "Switch";
    case NodeType::router:
      return "Router";
    case NodeType::none:
      break;
  }
  return "unknown";
}

std::string owner_text(const DumpView::Owner& owner) {
  if (owner.node == nullptr) return "unknown node and type";
  return fmt::format("{} portguid {}: '{}'", long_type(owner.node->info.type),
                     shown_guid(*owner.node, owner.port), shown_name(*owner.node));
}

/// What the switch holds for the LID, where that is not `port`; empty where it is.
std::string held_text(const HeldLft& held, Lid lid, std::uint8_t port) {
  if (!held.known.test(lid.value() / routing::kLftBlock)) return " (not known of the switch)";
  const auto now = routing::entry(held.row.get(), lid);
  return now == port ? std::string() : fmt::format(" (the switch has {:03})", now);
}

}  // namespace

void dump_lfts(Out& out, const DumpView& view) {
  const unsigned top = view.top().value();
  std::vector<std::string> ends;  // of a line: the same for every switch
  for (unsigned lid = 0; lid <= top; ++lid) {
    ends.push_back(owner_text(view.owner(Lid{static_cast<std::uint16_t>(lid)})));
  }
  for (const auto& sw : view.switches()) {
    if (out.stopped()) return;
    out.print("Unicast lids [0-{}] of switch Lid {} guid {} ('{}'):\n", top,
              view.lid(*sw.node, PortNum{0}).base, sw.node->guid(), shown_name(*sw.node));
    for (unsigned lid = 0; lid <= top; ++lid) {
      const auto port = routing::entry(sw.row, Lid{static_cast<std::uint16_t>(lid)});
      if (port > sw.node->port_count()) continue;
      const bool mark = view.marks() == Marks::not_written;
      out.print("0x{:04x} {:03} # {}{}\n", lid, port, ends[lid],
                mark ? held_text(sw.node->lft, Lid{static_cast<std::uint16_t>(lid)}, port) : std::string());
    }
    out.print("{} lids dumped\n", top);  // the highest LID, not a count: so does OpenSM
  }
}

void dump_mcfdbs(Out& out, const DumpView& view) {
  for (const auto& sw : view.switches()) {
    const auto entries = routing::entries_of(view.multicast_row(*sw.node));
    if (out.stopped()) return;
    if (entries.empty()) continue;
    out.print("\nSwitch {}\nLID    : Out Port(s)\n", sw.node->guid());
    for (const auto& entry : entries) {
      out.print("0x{:04X} :", routing::mlid_at(entry.index).value());
      for (unsigned port = 0; port <= sw.node->port_count(); ++port) {
        if (entry.ports.test(port)) out.print(" 0x{:03X} ", port);
      }
      out.print("\n");
    }
  }
}

void dump_guid2lid(Out& out, const DumpView& view) {
  for (const auto& entry : view.lids().entries) {
    const auto last = entry.base.value() + (1U << entry.lmc) - 1U;
    out.print("{} 0x{:04x} 0x{:04x}\n\n", entry.port, entry.base.value(), last);
  }
}

}  // namespace smd::sm::inline dumps
