// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way of a packet through the tables that are installed, and what it can carry.

#include <cstdint>
#include <optional>

#include "mad/base/rate.h"
#include "smd/sa/directory.h"

namespace smd::sa {

struct Way {
  Mtu mtu = Mtu::m4096;  ///< the smallest of its links
  StaticRate rate;       ///< the slowest of its links
  unsigned links = 0;
};

/// From one end port to a LID of another; nothing where the tables do not lead there. Of a port to itself its
/// own MTU and rate.
std::optional<Way> walk(const Directory& directory, const EndPort& from, const EndPort& to, Lid dlid);

}  // namespace smd::sa
