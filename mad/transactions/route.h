// SPDX-License-Identifier: Apache-2.0
#pragma once
// Routes as a MAD carries them, and as an operator reads them.

#include <string>

#include "mad/transport.h"
#include "mad/wire/packet.h"

namespace smd::mad {

/// Writes the route into a subnet management MAD: the class, and for a directed route its path, both LIDs
/// permissive. MADs of other classes stay as they are.
void write_route(wire::Mad& mad, const Route& route);

/// As smpquery -D takes it and OpenSM prints it: "0,1,4,7", "0" for ourselves; "LID 12".
std::string to_string(const Route& route);

}  // namespace smd::mad
