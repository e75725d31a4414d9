// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of an engine: a forwarding table per switch, and the layers of the paths.

#include <cstdint>
#include <memory>
#include <vector>

#include "mad/base/id.h"

namespace smd::routing {

/// A linear forwarding table: entry [lid] is the output port, 255 means no route. Whole blocks of 64 entries,
/// at least up to the highest LID. Shared, and never modified once it is in Routes.
using LftRow = std::vector<std::uint8_t>;
inline constexpr std::size_t kLftBlock = 64;
inline constexpr std::uint8_t kNoRoute = kNoPort.value();

/// Layers are indexes; SLs and VLs are assigned elsewhere. Packets of different layers never wait for each
/// other.
struct Layers {
  unsigned count = 1;
  /// Layer of the paths to each LID; empty: all in layer 0.
  std::vector<std::uint8_t> by_lid;
  /// Layer 0 where by_lid has no entry.
  unsigned to(Lid lid) const { return lid.value() < by_lid.size() ? by_lid[lid.value()] : 0U; }
  friend bool operator==(const Layers&, const Layers&) = default;
};

struct Routes {
  std::vector<std::shared_ptr<const LftRow>> rows;  ///< by SwitchIndex of the Topology
  Layers layers;
};

/// The entry for a LID in a row that may be null or shorter than the LID space: kNoRoute there.
inline std::uint8_t entry(const LftRow* row, Lid lid) {
  return row != nullptr && lid.value() < row->size() ? (*row)[lid.value()] : kNoRoute;
}

}  // namespace smd::routing
