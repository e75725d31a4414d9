// SPDX-License-Identifier: Apache-2.0
#pragma once
// MADs under way: from a client or an agent over the links to an agent or a client.

#include "mad/base/gid.h"
#include "mad/sim/state.h"

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

/// Sends from an end port (or, of an answer to a directed SMP, from where the request came in). Without
/// delays all that follows has happened on return.
void emit(State& state, PortIndex from, Packet packet);

/// A client's MAD: its TID gets the client's upper half where it is a request.
void send_from_client(State& state, const Client& client, Outgoing mad);

Client* find_client(State& state, ClientId id);
const Client* find_client(const State& state, ClientId id);

}  // namespace smd::sim
