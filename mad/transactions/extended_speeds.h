// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace smd::mad {

/// What is known of a node and bit 31 of PortInfo's modifier, by which an SM says that it knows extended
/// speeds.
enum class ExtendedSpeeds : std::uint8_t { unknown, answered, refused };

}  // namespace smd::mad
