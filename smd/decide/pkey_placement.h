// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which index of a port's P_Key table each key gets. Programs name keys by their index: the index of a key
// never moves while the key is decided for the port.

#include <cstdint>
#include <utility>
#include <vector>

#include "mad/base/id.h"

namespace smd::sm::inline decisions {

struct WantedKey {
  PKey key{};
  bool index0 = false;  ///< it belongs at index 0; of one key of a port at most
  friend bool operator==(const WantedKey&, const WantedKey&) = default;
};

struct PlacementInput {
  std::vector<WantedKey> keys{};  ///< those that a full table has room for come first
  std::vector<PKey> held{};       ///< by index, as many as the table has; PKey{} is a free entry
  /// Indexes that keys have had on this port, of keys that are not wanted now too.
  std::vector<std::pair<PKey, std::uint16_t>> stored{};
  std::vector<std::uint16_t> kept{};  ///< indexes of keys of others that stay, ascending
  bool in_service = false;  ///< the port is Armed or Active: index 0 changes by WantedKey::index0 alone
  bool held_first = false;  ///< what the port holds counts more than what is stored
  bool reindex = false;     ///< index 0 is decided anew: the default key, else the one that is there
};

struct Placement {
  std::vector<PKey> table{};     ///< by index, as many entries as PlacementInput::held
  std::vector<PKey> left_out{};  ///< keys without room, in the order of PlacementInput::keys
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// Pure. New keys take entries that were never used, then those whose keys are gone, the lowest first.
Placement place_keys(const PlacementInput& in);

}  // namespace smd::sm::inline decisions
