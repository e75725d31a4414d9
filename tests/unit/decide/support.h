// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of LID decisions share.

#include "smd/decide/decided.h"

namespace smd::sm {

/// Base LID of a port, by its GUID; 0 where it has none.
inline Lid base_lid(const LidPart& part, Guid port) {
  const auto* entry = part.find(port);
  return entry != nullptr ? entry->base : Lid{};
}

}  // namespace smd::sm
