// SPDX-License-Identifier: Apache-2.0
#pragma once
// A switch's multicast forwarding table.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mad/base/id.h"
#include "routing/multicast/tree.h"

namespace smd::routing {

/// Entry [mlid - 0xC000]; whole blocks of 32. Entries beyond the end are empty. Shared, never edited once it
/// is shared.
using McRow = std::vector<PortMask>;
inline constexpr std::size_t kMftBlock = 32;

inline std::size_t mlid_index(Lid mlid) {
  return static_cast<std::size_t>(mlid.value()) - kFirstMulticastLid.value();
}
inline Lid mlid_at(std::size_t index) {
  return Lid{static_cast<std::uint16_t>(kFirstMulticastLid.value() + index)};
}

/// Of a row that may be shorter, or missing.
inline PortMask entry(const McRow* row, std::size_t index) {
  return row != nullptr && index < row->size() ? (*row)[index] : PortMask{};
}

/// Makes the row long enough first.
inline PortMask& entry_of(McRow& row, std::size_t index) {
  if (index >= row.size()) row.resize((index / kMftBlock + 1) * kMftBlock);
  return row[index];
}

}  // namespace smd::routing
