// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of an engine: a forwarding table per switch, and the layers of the paths.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
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

/// The VL index of a hop between switches: the layer of the path, or, as in OpenSM's torus-2QoS(8), by the
/// dimensions of the ports by which packets come in and go out. Of a layer, bit d says which VLs a path has
/// in dimension d. Bit 0 of the index is the layer's bit of the dimension of the port out; bit 1 is set for
/// the first hop after a turn to a lower dimension, if there are four indexes.
class VlMap {
 public:
  /// Of a port that leads to no switch of the lattice.
  static constexpr std::uint8_t kNoDimension = 3;
  static constexpr unsigned kWithoutTurns = 2, kWithTurns = 4;

  /// The layer's own.
  VlMap() = default;
  /// `dimensions`: by switch and port, port 0 first, 0 to 2 or kNoDimension. `indexes`: kWithoutTurns or
  /// kWithTurns.
  VlMap(unsigned indexes, std::vector<std::vector<std::uint8_t>> dimensions)
      : indexes_(indexes), dimensions_(std::move(dimensions)) {}

  /// False: the index is the layer.
  bool by_port() const { return indexes_ != 0; }
  /// Different indexes of hops; 0 unless by_port().
  unsigned indexes() const { return indexes_; }
  /// kNoDimension where nothing is known of the port, and unless by_port().
  std::uint8_t dimension(std::size_t s, PortNum port) const {
    return s < dimensions_.size() && port.value() < dimensions_[s].size() ? dimensions_[s][port.value()]
                                                                          : kNoDimension;
  }
  /// Whether packets that come in by one dimension and go out by another have bit 1 of the index.
  bool turns(std::uint8_t in, std::uint8_t out) const {
    return indexes_ == kWithTurns && in != kNoDimension && out < in;
  }
  /// Of a path of this layer that crosses switch `s`; `in`: 0 where it begins there, or the port of its
  /// source.
  unsigned vl(std::size_t s, PortNum in, PortNum out, unsigned layer) const {
    return by_port() ? vl_of(dimension(s, in), dimension(s, out), layer) : layer;
  }
  /// The same by dimensions; requires by_port().
  unsigned vl_of(std::uint8_t in, std::uint8_t out, unsigned layer) const {
    if (out == kNoDimension) return 0;
    return (layer >> out & 1U) | (turns(in, out) ? 2U : 0U);
  }
  friend bool operator==(const VlMap&, const VlMap&) = default;

 private:
  unsigned indexes_ = 0;
  std::vector<std::vector<std::uint8_t>> dimensions_;
};

/// Layers are indexes; SLs and VLs are assigned elsewhere. Packets of different VL indexes never wait for
/// each other. A path has the layer of its two switches if by_pair has any, else that of its LID.
struct Layers {
  unsigned count = 1;
  /// Layer of the paths to each LID; empty: all in layer 0.
  std::vector<std::uint8_t> by_lid;
  PairLayers by_pair;
  VlMap vls{};  ///< of their hops
  /// Layer 0 where by_lid has no entry.
  unsigned to(Lid lid) const { return lid.value() < by_lid.size() ? by_lid[lid.value()] : 0U; }
  /// Of the path from switch `from` to `lid`, which is at switch `at`.
  unsigned of(std::size_t from, std::size_t at, Lid lid) const {
    return by_pair.empty() ? to(lid) : by_pair.at(from, at);
  }
  /// VLs by which links between switches keep their packets apart.
  unsigned vl_indexes() const { return vls.by_port() ? vls.indexes() : count; }
  friend bool operator==(const Layers&, const Layers&) = default;
};

struct Routes {
  std::vector<std::shared_ptr<const LftRow>> rows;  ///< by SwitchIndex of the Topology
  Layers layers;
  /// Of fresh tables of a tree by round robin: its cabling, as built, is too irregular for them to be even,
  /// and other tables may carry less.
  bool uneven = false;
};

/// The entry for a LID in a row that may be null or shorter than the LID space: kNoRoute there.
inline std::uint8_t entry(const LftRow* row, Lid lid) {
  return row != nullptr && lid.value() < row->size() ? (*row)[lid.value()] : kNoRoute;
}

}  // namespace smd::routing
