// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of an engine: a forwarding table per switch, and the layers of the paths.

#include <algorithm>
#include <cstddef>
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

/// In PairLayers of pairs that have none yet.
inline constexpr unsigned kNoLayer = 255;

/// The layer of the paths between two switches, the same in both directions. Switches are indexes of the
/// Topology.
class PairLayers {
 public:
  /// No pairs: empty().
  PairLayers() = default;
  /// All pairs of so many switches, in `layer`. Memory: half a byte a pair of (from, to).
  explicit PairLayers(std::size_t switches, unsigned layer = 0)
      : layers_(switches * (switches + 1) / 2, static_cast<std::uint8_t>(layer)) {}

  bool empty() const { return layers_.empty(); }
  /// Both below the number of switches; 0 if empty().
  unsigned at(std::size_t a, std::size_t b) const { return empty() ? 0U : layers_[place(a, b)]; }
  /// Not of an empty map.
  void set(std::size_t a, std::size_t b, unsigned layer) {
    layers_[place(a, b)] = static_cast<std::uint8_t>(layer);
  }
  /// One more switch, whose pairs (with itself, too) have `layer`.
  void add_switch(std::size_t switches_before, unsigned layer) {
    layers_.insert(layers_.end(), switches_before + 1, static_cast<std::uint8_t>(layer));
  }
  /// 0 if empty().
  unsigned highest() const { return empty() ? 0U : *std::ranges::max_element(layers_); }
  friend bool operator==(const PairLayers&, const PairLayers&) = default;

 private:
  static std::size_t place(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax(a, b);
    return high * (high + 1) / 2 + low;
  }
  std::vector<std::uint8_t> layers_;
};

/// Layers are indexes; SLs and VLs are assigned elsewhere. Packets of different layers never wait for each
/// other. A path has the layer of its two switches if by_pair has any, else that of its LID.
struct Layers {
  unsigned count = 1;
  /// Layer of the paths to each LID; empty: all in layer 0.
  std::vector<std::uint8_t> by_lid;
  PairLayers by_pair;
  /// Layer 0 where by_lid has no entry.
  unsigned to(Lid lid) const { return lid.value() < by_lid.size() ? by_lid[lid.value()] : 0U; }
  /// Of the path from switch `from` to `lid`, which is at switch `at`.
  unsigned of(std::size_t from, std::size_t at, Lid lid) const {
    return by_pair.empty() ? to(lid) : by_pair.at(from, at);
  }
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
