// SPDX-License-Identifier: Apache-2.0
#pragma once
// Eight GUIDs of a port, as GUIDInfo holds them.

#include <array>
#include <cstdint>

#include "mad/base/id.h"

namespace smd::sm::inline common {

struct GuidBlock {
  Guid port;
  std::uint8_t block = 0;
  std::array<Guid, 8> guids{};
  friend bool operator==(const GuidBlock&, const GuidBlock&) = default;
};

}  // namespace smd::sm::inline common
