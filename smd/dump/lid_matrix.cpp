// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/formats.h"

namespace smd::sm::inline dumps {

void dump_lid_matrix(Out& out, const DumpView& view, const HopTable& hops) {
  for (std::size_t index = 0; index < view.switches().size() && !out.stopped(); ++index) {
    const auto& sw = view.switches()[index];
    out.print("Switch: guid {}\n", sw.node->guid());
    for (unsigned value = 1; value <= view.top().value(); ++value) {
      const auto& owner = view.owner(Lid{static_cast<std::uint16_t>(value)});
      if (owner.node == nullptr || !owner.node->is_switch()) continue;
      const auto least = hops.hops(index, owner.leaf);
      if (least == HopTable::kNone) continue;
      out.print("0x{:04x}: {:02x}", value, least);
      for (std::size_t p = 1; p < sw.behind.size(); ++p) {
        out.print(" {:02x}", hops.hops_by(sw, PortNum{static_cast<std::uint8_t>(p)}, owner.leaf));
      }
      out.print(" # portguid {}\n", owner.node->guid());
    }
  }
}

}  // namespace smd::sm::inline dumps
