// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of what is decided that can be reconciled without the rest.

#include <cstdint>

#include "mad/base/enum_set.h"

namespace smd::sm::inline scheduling {

/// In the order in which one run does them.
enum class Part : std::uint8_t {
  fabric,      ///< all that decide() decides; what a sweep reconciles
  partitions,  ///< P_Key tables and what switches enforce
  qos,         ///< SL to VL and VL arbitration tables
  multicast,   ///< multicast forwarding tables and MulticastFDBTop
  guids,       ///< blocks of GUIDInfo that clients have asked for
  clients,     ///< PortInfo.ClientReregister
  ports,       ///< ports that an operator disables, enables or resets
  retraining,  ///< links that go down so that they come up within their limits
};
using PartSet = base::EnumSet<Part>;

/// Parts that subnet administration asks for between two sweeps, and that follow each light sweep.
constexpr PartSet kServiceParts{Part::multicast, Part::guids, Part::clients, Part::ports};

}  // namespace smd::sm::inline scheduling
