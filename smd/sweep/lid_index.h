// SPDX-License-Identifier: Apache-2.0
#pragma once
// The port of each LID, by the PortInfo that nodes have answered.

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

class LidIndex {
 public:
  struct Place {
    const Node* node = nullptr;
    PortNum port;
  };

  LidIndex() = default;
  /// Known end ports by each LID of theirs; of two with one LID the first in the order of the nodes.
  explicit LidIndex(std::shared_ptr<const Subnet> subnet);
  /// Whether it was made from this Subnet object.
  bool is_of(const Subnet* subnet) const { return subnet_.get() == subnet; }
  /// The end port that has the LID; a null node where none has.
  Place find(Lid lid) const;

 private:
  std::shared_ptr<const Subnet> subnet_;
  std::unordered_map<std::uint16_t, Place> by_lid_;  // looked up only, never walked
};

}  // namespace smd::sm::inline sweeping
