// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a question for SL to VL or VL arbitration tables sees of a port.

#include <cstdint>
#include <optional>

#include "smd/sa/policy.h"
#include "smd/sa/record_kind.h"

namespace smd::sa {

/// How far a port's table is known.
enum class VlTableState : std::uint8_t {
  none,    ///< the port uses one data VL, or has no link: the record is all zero
  held,    ///< it was read
  unread,  ///< it will be, when nothing else is to be done
  refused  ///< the port did not give it
};

/// Of a block of the table that attribute A carries.
template <class A>
VlTableState vl_table_state(const sm::Node& node, PortNum port, const sm::BlockSet& blocks,
                            std::size_t block) {
  const auto& held = node.ports[port.value()].held<A>();
  if (!blocks.test(block)) return VlTableState::none;
  if (held && held->known.test(block)) return VlTableState::held;
  return held && held->asked.test(block) ? VlTableState::refused : VlTableState::unread;
}

/// fill(span of the record's bytes), where there is something to say.
template <class Fill>
void emit_vl_table(RecordSink& sink, VlTableState state, Fill&& fill) {
  if (state == VlTableState::unread) sink.later(fill);
  if (state == VlTableState::none || state == VlTableState::held) sink(fill);
}

/// Calls fn(node, port, LID) for the ports that have such records: the end ports of adapters and routers, all
/// ports of switches; of the latter `only_port` where it is given. Ports that share no partition with the
/// requester are shown to trusted requesters only.
template <class Fn>
void for_each_vl_table_port(const Directory& directory, const RecordFilter& only,
                            std::optional<PortNum> only_port, Fn&& fn) {
  const Viewer viewer(only.requester, only.trusted);
  for_each_node(directory, only, [&](const sm::Node& node) {
    for (unsigned i = 0; i < node.ports.size(); ++i) {
      const PortNum number{static_cast<std::uint8_t>(i)};
      if (node.is_switch() ? only_port && *only_port != number : !sm::is_end_port(node, number)) continue;
      const auto lid = directory.lid_of(node, number);
      if (!lid || (only.lid && *lid != *only.lid)) continue;
      if (!viewer.sees(node, number)) continue;
      fn(node, number, *lid);
    }
  });
}

}  // namespace smd::sa
