// SPDX-License-Identifier: Apache-2.0
#pragma once
// How other SMs are reached.

#include <optional>

#include "smd/sweep/paths.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline availability {

/// Directed route to the port of another SM; nothing where no link leads to it any more.
inline std::optional<mad::DirectedPath> path_to(const Paths& paths, const Subnet& subnet,
                                                const OtherSm& other) {
  const auto index = subnet.index_of(other.at.node);
  return index ? paths.to_port(subnet, *index, other.at.port) : std::nullopt;
}

}  // namespace smd::sm::inline availability
