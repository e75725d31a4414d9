// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Keys that end ports hold, as far as they are known and in use.

#include <optional>
#include <vector>

#include "smd/decide/stored.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// The port's P_Key table without the free entries at its end. Nothing where a block is not known, unless all
/// that is known is as made: behind that further ones are not read of a port that begins anew.
std::optional<std::vector<PKey>> known_keys(const Port& port);

/// We have written keys past the first block of this end port's table, or another SM has, as far as that is
/// stored: they may be there still, whatever the first block holds.
bool had_further_keys(const Stored& stored, Guid port);

/// Another SM had given some port other keys than the full default one alone.
bool any_other_keys(const Stored& stored);

/// Packets come and go by this end port: what its table says is what it has been given. A switch's port 0
/// begins anew with its switch.
bool is_in_service(const Node& node, const Port& port);

/// `fn(node, num, port)` for end ports with a GUID.
template <class Fn>
void for_each_end_port(const Subnet& subnet, Fn fn) {
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      if (is_end_port(*node, num) && port_guid(*node, num) != Guid{}) fn(*node, num, node->ports[p]);
    }
  }
}

}  // namespace smd::sm::inline decisions
