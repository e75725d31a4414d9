// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "smd/dump/formats.h"

namespace smd::sm::inline dumps {
namespace {

struct Way {
  std::uint8_t hops = HopTable::kNone, best = HopTable::kNone;
};

/// Links to the end of a LID by its port in the table, and on the shortest way.
Way way(const HopTable& table, const DumpView::Switch& sw, std::size_t index, PortNum port,
        const DumpView::Owner& owner) {
  if (owner.leaf == DumpView::kNoSwitch) return {};
  Way way{.hops = owner.leaf == index ? std::uint8_t{0} : table.hops_by(sw, port, owner.leaf),
          .best = table.hops(index, owner.leaf)};
  if (way.hops == HopTable::kNone || owner.node->is_switch()) return way;
  ++way.hops;  // the link from the leaf to the end port
  ++way.best;
  return way;
}

/// The lowest port on a shortest way.
unsigned best_port(const HopTable& table, const DumpView::Switch& sw, std::size_t index, std::size_t leaf) {
  for (std::size_t p = 1; p < sw.behind.size(); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    if (table.hops_by(sw, port, leaf) == table.hops(index, leaf)) return port.value();
  }
  return 0;
}

}  // namespace

void dump_fdbs(Out& out, const DumpView& view, const HopTable& hops) {
  const unsigned top = view.top().value();
  std::vector<std::string> starts(std::size_t{top} + 1);  // of a line: the same for every switch
  for (unsigned lid = 1; lid <= top; ++lid) starts[lid] = fmt::format("0x{:04X} : ", lid);
  for (std::size_t index = 0; index < view.switches().size() && !out.stopped(); ++index) {
    const auto& sw = view.switches()[index];
    out.print("dump_ucast_routes: Switch {}\nLID    : Port : Hops : Optimal\n", sw.node->guid());
    for (unsigned value = 1; value <= top; ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto& owner = view.owner(lid);
      const auto port = routing::entry(sw.row, lid);
      out.text(starts[value]);
      if (owner.node == nullptr || port == routing::kNoRoute) {
        out.text("UNREACHABLE\n");
        continue;
      }
      const auto [n, best] = way(hops, sw, index, PortNum{port}, owner);
      if (n == HopTable::kNone) {
        out.print("{:03}  : HOPS UNKNOWN\n", port);
      } else if (n == best) {
        out.print("{:03}  : {:02}   : yes\n", port, n);
      } else {
        out.print("{:03}  : {:02}   : No {} hop path possible via port {}!\n", port, n, best,
                  best_port(hops, sw, index, owner.leaf));
      }
    }
  }
}

}  // namespace smd::sm::inline dumps
