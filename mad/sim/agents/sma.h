// SPDX-License-Identifier: Apache-2.0
#pragma once
// The management agent of a node: answers Get and Set of SMP attributes from the node's state, as devices do.

#include "mad/sim/state/state.h"
#include "mad/wire/codec.h"
#include "mad/wire/smp.h"

namespace smd::sim {

/// One request in the agent's hands. `at` is the port where it came in (a switch's port 0 where it came by
/// LID or from the switch itself). Handlers put what the attribute is now into the data and return the
/// status.
struct Request {
  State& state;
  PortIndex at;
  wire::Smp& smp;
  bool set = false;

  /// The node that answers.
  Node& node() const { return state.node_of(at); }
  Port& here() const { return state.ports[at]; }  ///< the port by which the request came in
  /// Port of the node by number; nothing where it has none.
  std::optional<PortIndex> port(unsigned number) const {
    if (number > node().ports) return std::nullopt;
    return state.index(node(), number);
  }
  /// The port that the node's LID, keys and capabilities are at.
  PortIndex end_port() const { return node().is_switch() ? node().first_port : at; }
};

using Status = std::uint16_t;
inline constexpr Status kGood = wire::kStatusOk, kBadVersion = wire::kStatusBadVersion,
                        kBadMethod = wire::kStatusBadMethod,
                        kBadMethodAttribute = wire::kStatusBadMethodAttribute,
                        kInvalid = wire::kStatusBadField;

/// Encodes an attribute into the answer's data. Always kGood.
template <class A>
Status answer(Request& request, const A& attribute) {
  wire::encode(attribute, request.smp.data());
  return kGood;
}
/// Decodes the attribute that a Set carries.
template <class A>
A asked(const Request& request) {
  return wire::decode<A>(request.smp.data()).value_or(A{});
}

/// Fields that the node is told to forget by a fault get their old values back.
template <class A>
void forget(const Node& node, const A& before, A& now) {
  if (!node.faults) return;
  for (const auto& lost : node.faults->forgets) {
    if (lost.attribute != A::kAttribute) continue;
    wire::for_each_field<A>([&](const auto& row) {
      if (row.name != lost.field) return;
      for (std::size_t i = 0; i < row.place.count; ++i) row.set(now, i, row.get(before, i));
    });
  }
}

/// Serves a request in place: afterwards the SMP is the answer. False: no answer is sent.
bool serve(State& state, PortIndex at, wire::Smp& smp);

// One function an attribute.
/// Get only; a modifier other than 0: kInvalid.
Status node_info(Request& request);
/// Get only; a modifier other than 0: kInvalid.
Status node_description(Request& request);
/// The modifier is the block of 8; above GUIDCap: kInvalid. A Set leaves the first GUID as it is.
Status guid_info(Request& request);
/// The modifier is the port, bit 31 asks for extended speeds. Of a CA's other port a Set is ignored.
Status port_info(Request& request);
/// kBadMethodAttribute without CapabilityMask2.IsPortInfoExtendedSupported. A Set changes the FEC modes only.
Status port_info_extended(Request& request);
/// NVIDIA devices only, else kBadMethodAttribute. A Set enables or disables FDR10 where the device has it.
Status mlnx_ext_port_info(Request& request);
/// Switches only, else kBadMethodAttribute; a modifier other than 0: kInvalid.
Status switch_info(Request& request);
/// Switches only. The modifier is the block of 64; at LinearFDBCap or above: kInvalid.
Status linear_table(Request& request);
/// Switches only. Block in bits 0 to 8, position in bits 28 to 31 of the modifier; above the table: kInvalid.
Status multicast_table(Request& request);
/// Block in bits 0 to 15 of the modifier, a switch's port in bits 16 to 31; above the table: kInvalid.
Status p_key_table(Request& request);
/// Of a switch the modifier is the pair of ports; its bits for all ports need Capacities::optimized_sl_to_vl.
Status sl_to_vl_table(Request& request);
/// Part 1 to 4 in bits 16 to 31 of the modifier, a switch's port in bits 0 to 7; others: kInvalid.
Status vl_arbitration(Request& request);
/// Switches with adaptive routing only, else kBadMethodAttribute.
Status ar_info(Request& request);

/// M_Key of a request against that of a port. False: the request is dropped without an answer.
bool m_key_allows(State& state, PortIndex port, const wire::Smp& smp);

}  // namespace smd::sim
