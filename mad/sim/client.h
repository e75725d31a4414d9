// SPDX-License-Identifier: Apache-2.0
#pragma once
// Users of the fabric: whoever sends and receives MADs at a port.

#include <cstdint>
#include <vector>

#include "mad/sim/place.h"
#include "mad/transport.h"

namespace smd::sim {

/// Never used twice in one fabric; also the upper half of the TIDs of its requests.
using ClientId = std::uint32_t;

/// A MAD on its way from a client into the fabric.
struct Outgoing {
  std::vector<std::uint8_t> bytes{};
  mad::Route route{};
  std::chrono::milliseconds give_up{0};
};

struct Client {
  ClientId id = 0;
  PortIndex port = kNowhere;
  Interface interface = Interface::smi;
  std::vector<mad::Received> inbox{};  ///< arrived, not yet taken by the carrier
  std::uint64_t sent = 0, received = 0;
};

}  // namespace smd::sim
