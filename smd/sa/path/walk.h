// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way of a packet through the tables that are installed, and what it can carry.

#include <cstdint>
#include <optional>
#include <vector>

#include "mad/base/rate.h"
#include "smd/sa/directory.h"

namespace smd::sa {

/// A link on the way, from the node that sends to the one that receives.
struct Step {
  const sm::Node* from = nullptr;
  const sm::Node* to = nullptr;
  PortNum out, in;
  friend bool operator==(const Step&, const Step&) = default;
};

struct Way {
  Mtu mtu = Mtu::m4096;  ///< the smallest of its links
  StaticRate rate;       ///< the slowest of its links
  unsigned links = 0;
};

/// From one end port to a LID of another; nothing where the tables do not lead there. Of a port to itself its
/// own MTU and rate.
/// `steps`, where it is not null, gets the links.
std::optional<Way> walk(const Directory& directory, const EndPort& from, const EndPort& to, Lid dlid,
                        std::vector<Step>* steps = nullptr);

}  // namespace smd::sa
