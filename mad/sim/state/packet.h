// SPDX-License-Identifier: Apache-2.0
#pragma once
// A MAD between the port that sends it and the agent or client that it arrives at.

#include <cstdint>
#include <vector>

#include "mad/base/gid.h"
#include "mad/base/id.h"
#include "mad/transport.h"

namespace smd::sim {

struct Packet {
  std::vector<std::uint8_t> bytes{};
  bool is_smp = false;    ///< QP0: VL15
  bool directed = false;  ///< by its own path; else by `to`
  Lid slid{};
  PKey pkey{};      ///< of a GMP; `to` has its index at the port where the packet is
  GidBytes sgid{};  ///< where `to` has a global route
  mad::LidRoute to{};
};

}  // namespace smd::sim
