// SPDX-License-Identifier: Apache-2.0
#pragma once
// Users of the fabric: programs that send and receive MADs at a port.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mad/sim/state/place.h"
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

/// What an agent of a umad device asks to be given unasked, as struct ib_user_mad_reg_req2 says it. Class 0:
/// nothing, only answers to what it sends.
struct Registration {
  Interface interface = Interface::gsi;
  std::uint8_t mgmt_class = 0, version = 0;
  std::array<std::uint64_t, 2> methods{};  ///< bit n of the first: method n
  std::uint32_t oui = 0;                   ///< of the vendor classes 0x30 to 0x4F
  bool rmpp = false;                       ///< MADs of several segments come as one
};

struct Client {
  ClientId id = 0;
  PortIndex port = kNowhere;
  Interface interface = Interface::smi;
  std::optional<Registration> agent{};  ///< nothing: it takes all MADs that no agent has registered for
  std::vector<mad::Received> inbox{};   ///< arrived, not yet taken by the carrier
  std::uint64_t sent = 0, received = 0;
};

}  // namespace smd::sim
