// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a question for SL to VL or VL arbitration tables sees of a port.

#include <cstdint>
#include <optional>

#include "smd/sa/policy.h"
#include "smd/sa/record_kind.h"

namespace smd::sa {

/// How far a port's table is known.
enum class Lanes : std::uint8_t {
  none,    ///< the port uses one lane, or has no link: nothing is told apart, and the record is all zero
  held,    ///< it was read
  unread,  ///< it will be, when nothing else is to be done
  refused  ///< the port did not give it
};

/// `has`, `known` and `asked` are of one kind of table.
inline Lanes lanes_of(bool has, bool known, bool asked) {
  if (!has) return Lanes::none;
  if (known) return Lanes::held;
  return asked ? Lanes::refused : Lanes::unread;
}

/// fill(span of the record's bytes), where there is something to say.
template <class Fill>
void emit_lanes(Emit& emit, Lanes state, Fill&& fill) {
  if (state == Lanes::unread) emit.later(fill);
  if (state == Lanes::none || state == Lanes::held) emit(fill);
}

/// Calls fn(node, port, LID) for the ports that have such records: the end ports of adapters and routers, all
/// ports of switches; of the latter `only_port` where it is given. Ports that share no partition with who
/// asks are shown to those only who know the SM_Key.
template <class Fn>
void for_each_lane_port(const Directory& directory, const Only& only, std::optional<PortNum> only_port,
                        Fn&& fn) {
  for_each_node(directory, only, [&](const sm::Node& node) {
    for (unsigned i = 0; i < node.ports.size(); ++i) {
      const PortNum number{static_cast<std::uint8_t>(i)};
      if (node.is_switch() ? only_port && *only_port != number : !sm::is_end_port(node, number)) continue;
      const auto lid = directory.lid_of(node, number);
      if (!lid || (only.lid && *lid != *only.lid)) continue;
      const bool own = only.asker != nullptr && only.asker->node == &node && only.asker->port == number;
      if (!own && !only.trusted && only.asker != nullptr &&
          !share_pkey(only.asker->pkeys, node.ports[i].pkeys.get()))
        continue;
      fn(node, number, *lid);
    }
  });
}

}  // namespace smd::sa
