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

  Node& node() const { return state.node_of(at); }
  Port& here() const { return state.ports[at]; }
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

/// Puts an attribute into the answer.
template <class A>
Status answer(Request& request, const A& attribute) {
  wire::encode(attribute, request.smp.data());
  return kGood;
}
/// The attribute that a Set carries.
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
Status node_info(Request& request);
Status node_description(Request& request);
Status guid_info(Request& request);
Status port_info(Request& request);
Status port_info_extended(Request& request);
Status mlnx_ext_port_info(Request& request);
Status switch_info(Request& request);
Status linear_table(Request& request);
Status multicast_table(Request& request);
Status p_key_table(Request& request);
Status sl_to_vl_table(Request& request);
Status vl_arbitration(Request& request);
Status ar_info(Request& request);

/// M_Key of a request against that of a port. False: the request is dropped without an answer.
bool m_key_allows(State& state, PortIndex port, const wire::Smp& smp);

}  // namespace smd::sim
