// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way of a packet through the tables that are installed, and what it can carry.

#include <cstdint>
#include <optional>
#include <vector>

#include "mad/base/rate.h"
#include "smd/sa/directory.h"

namespace smd::sa {

/// A link on the way, from the node that sends to the one that receives.
struct Step {
  const sm::Node* from = nullptr;
  const sm::Node* to = nullptr;
  PortNum out, in;
  friend bool operator==(const Step&, const Step&) = default;
};

struct Way {
  Mtu mtu = Mtu::m4096;  ///< the smallest of its links
  StaticRate rate;       ///< the slowest of its links
};

/// From one LID to another and back; of a port to itself its own MTU and rate.
struct RoundTrip {
  std::optional<Way> there;  ///< nothing: the tables do not lead there
  bool back = false;         ///< there is a way back
};
/// `slid` is a LID of `from`, `dlid` one of `to`.
RoundTrip round_trip(const Directory& directory, const EndPort& from, const EndPort& to, Lid slid, Lid dlid);

/// Whether packets with this SL arrive: no node on the way maps it to VL 15. Tables that are not known drop
/// nothing.
bool carries(const Directory& directory, const EndPort& from, const EndPort& to, Lid dlid, Sl sl);

/// The VL on which a packet with this SL leaves `node` by port `out`, having come in by `in` (0: it is the
/// node's own): 0 where the link has one VL, else by the table as it was read; 15: it is dropped. Nothing:
/// the table is not known.
std::optional<Vl> vl_of(const sm::Node& node, PortNum in, PortNum out, Sl sl);

/// The links from an end port to a LID of another, one after the other; empty where the tables do not lead
/// there, and of a port to itself.
std::vector<Step> steps_between(const Directory& directory, const EndPort& from, const EndPort& to, Lid dlid);

}  // namespace smd::sa
