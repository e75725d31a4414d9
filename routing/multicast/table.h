// SPDX-License-Identifier: Apache-2.0
#pragma once
// A switch's multicast forwarding table.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

inline constexpr std::size_t kMftBlock = 32;  ///< entries of one SMP, for 16 ports each

/// Index of a multicast LID in a row, and the inverse.
inline std::size_t mlid_index(Lid mlid) {
  return static_cast<std::size_t>(mlid.value()) - kFirstMulticastLid.value();
}
inline Lid mlid_at(std::size_t index) {  ///< `index`: 0 to 0x3FFE
  return Lid{static_cast<std::uint16_t>(kFirstMulticastLid.value() + index)};
}

/// Entry [mlid - 0xC000]. Only entries with a port are stored: a large fabric has thousands of groups, and
/// most switches forward few of them. Never modified once shared.
class McRow {
 public:
  struct Entry {
    std::uint16_t index = 0;
    PortMask ports;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// Ports of the entry; none where the row has no such entry. O(log n) in entries.
  PortMask operator[](std::size_t index) const {
    const auto found = std::ranges::lower_bound(entries_, index, {}, &Entry::index);
    return found != entries_.end() && found->index == index ? found->ports : PortMask{};
  }
  /// Sets an entry; cheap in ascending order.
  void set(std::size_t index, const PortMask& ports) {
    const auto at = entries_.empty() || entries_.back().index < index
                        ? entries_.end()
                        : std::ranges::lower_bound(entries_, index, {}, &Entry::index);
    const bool found = at != entries_.end() && at->index == index;
    if (found && ports.any()) at->ports = ports;
    if (found && ports.none()) entries_.erase(at);
    if (!found && ports.any()) entries_.insert(at, {static_cast<std::uint16_t>(index), ports});
  }
  std::span<const Entry> entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  /// One more than the index of the last entry with a port.
  std::size_t end() const { return entries_.empty() ? 0 : entries_.back().index + std::size_t{1}; }
  friend bool operator==(const McRow&, const McRow&) = default;

 private:
  std::vector<Entry> entries_;
};

/// The entry of a row that may be null.
inline PortMask entry(const McRow* row, std::size_t index) {
  return row != nullptr ? (*row)[index] : PortMask{};
}
/// The entries of a row that may be null.
inline std::span<const McRow::Entry> entries_of(const McRow* row) {
  return row != nullptr ? row->entries() : std::span<const McRow::Entry>();
}

}  // namespace smd::routing::inline multicast
