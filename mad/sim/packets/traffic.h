// SPDX-License-Identifier: Apache-2.0
#pragma once
// MADs under way: from a client or an agent over the links to an agent or a client.

#include "mad/base/gid.h"
#include "mad/sim/state/state.h"

namespace smd::sim {

/// Sends from an end port (or, of an answer to a directed SMP, from where the request came in). Without
/// delays all that follows has happened on return.
void emit(State& state, PortIndex from, Packet packet);

/// A client's MAD: its TID gets the client's upper half where it is a request.
void send_from_client(State& state, const Client& client, Outgoing mad);

/// Null where it is detached. Valid until a client attaches or detaches.
Client* find_client(State& state, ClientId id);
/// The same, to read.
const Client* find_client(const State& state, ClientId id);

}  // namespace smd::sim
