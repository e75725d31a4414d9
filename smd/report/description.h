// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a log line calls a node.

#include <string>

#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Its NodeDescription; empty for a node that is not in `subnet`.
inline std::string description_of(const Subnet& subnet, Guid node) {
  const auto* found = subnet.find(node);
  return found != nullptr ? found->description : std::string{};
}

}  // namespace smd::sm::inline reports
