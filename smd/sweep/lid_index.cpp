// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/lid_index.h"

#include <utility>

namespace smd::sm::inline sweeping {

LidIndex::LidIndex(std::shared_ptr<const Subnet> subnet) : subnet_(std::move(subnet)) {
  for (const auto& node : subnet_->nodes) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto& port = node->ports[p];
      if (!port.known || !is_end_port(*node, num) || !port.info.lid.unicast()) continue;
      const auto base = unsigned{port.info.lid.value()};
      for (unsigned lid = base; lid < base + (1U << port.info.lmc) && lid <= kLastUnicastLid.value(); ++lid)
        by_lid_.try_emplace(static_cast<std::uint16_t>(lid), Place{node.get(), num});
    }
  }
}

LidIndex::Place LidIndex::find(Lid lid) const {
  const auto it = by_lid_.find(lid.value());
  return it == by_lid_.end() ? Place{} : it->second;
}

}  // namespace smd::sm::inline sweeping
