// SPDX-License-Identifier: Apache-2.0
#pragma once
// SLs on the wire. QoS has classes, routing has layers; an SL stands for one of each.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "mad/base/id.h"

namespace smd::sm::inline decisions {

/// By the number of a class (a user's `sl = 3` is class 3) and a layer.
using WireSls = std::map<std::pair<Sl, unsigned>, Sl>;

/// Data VLs that `max_vls` of [qos] leaves the links between switches.
struct VlLimit {
  unsigned vls = 15;   ///< in force
  unsigned waits = 0;  ///< what the configuration says while that is too few for layers in use; 0: `vls`
  friend bool operator==(const VlLimit&, const VlLimit&) = default;
};

/// Where clients ask for the SL of each path. Where they need not, a class is an SL of the same number.
struct SlPart {
  /// In the order in which they keep VLs of their own; that of paths without another one is the first.
  std::vector<Sl> classes;
  unsigned layers = 1;       ///< that have SLs
  WireSls sls;               ///< of all classes and layers, and those kept for others that were in use
  std::vector<Sl> left_out;  ///< classes for which no SL is left: they have those of the first class
  VlLimit limit{};
  friend bool operator==(const SlPart&, const SlPart&) = default;
};

/// SLs that clients have from the SM before us (adopted_layers.h).
struct AdoptedSls {
  std::vector<Sl> sls;          ///< by layer; empty: they are not known
  std::uint64_t paths = 0;      ///< from end ports to LIDs at other switches
  std::uint64_t not_said = 0;   ///< of them those whose SL is not known
  std::uint64_t otherwise = 0;  ///< of them those with another SL than their pair's layer
  friend bool operator==(const AdoptedSls&, const AdoptedSls&) = default;
};

/// An SL is not just the number of a class.
bool has_layers(const SlPart& part);
/// The SL on the wire. `part` may be null. A class that is not in it, or a layer, counts as the first one.
Sl wire_sl(const SlPart* part, Sl of_class, unsigned layer);
/// The class that has this SL in a layer; nothing where none has.
std::optional<Sl> class_of(const SlPart* part, Sl on_wire, unsigned layer);

}  // namespace smd::sm::inline decisions
