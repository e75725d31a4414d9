// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a packet goes by what is programmed into the switches, without sending one.

#include <optional>
#include <string>
#include <vector>

#include "mad/sim/state/state.h"

namespace smd::sim {

/// A node on the way. `out` is 0 where the packet ends in the switch itself, and at the last node.
struct Hop {
  NodeIndex node = 0;
  PortNum in{}, out{};
  std::optional<Vl> vl{};  ///< on the link behind `out`, where it came so far
  friend bool operator==(const Hop&, const Hop&) = default;
};

enum class Fate : std::uint8_t {
  delivered,
  no_link,        ///< the port that the table names has no link, or the start has none
  not_active,     ///< a link on the way is not Active at both ends
  no_route,       ///< the table says 255, or nothing, or the LID is above LinearFDBTop
  not_the_lid,    ///< came to a switch that takes the LID for its own, which it is not
  ca_in_between,  ///< came to a CA or router that has another LID
  loop,           ///< passed a switch by the same port twice
  no_vl,          ///< SL2VL gives VL15, or a VL that the link has not
  unequal_vls,    ///< the ends of a link have different OperationalVLs: no flow control for the packet's VL
  starved,        ///< neither table of the VL arbitration gives the lane anything
  no_p_key,       ///< an end, or a port that enforces partitions, has not got the key
  no_q_key,       ///< it arrived, and the queue pair has another Q_Key
};
/// Text for reports: "no route". Static storage.
std::string_view to_string(Fate fate);

struct Walk {
  Fate fate = Fate::no_link;
  std::vector<Hop> hops;  ///< the start first, where it ended or died last
  PortIndex end = kNowhere;
  std::optional<PKey> pkey{};                                 ///< of the packet
  bool delivered() const { return fate == Fate::delivered; }  ///< arrived at the end port of its DLID
};

/// A data packet from an end port (CA port or switch port 0) to a LID, without a P_Key in all partitions.
Walk walk(const State& state, PortIndex from, Lid dlid, Sl sl = Sl{},
          std::optional<PKey> pkey = std::nullopt);
/// "h0[1] -> 3[leaf0]7 -> …: delivered".
std::string to_string(const State& state, const Walk& walk);

/// A multicast packet: the end ports that it reaches, ascending, and whether any switch saw it twice (a loop
/// or two paths: both are errors of the tree).
struct Spread {
  std::vector<PortIndex> reached;
  bool twice = false;
};
/// Follows the MFTs as they are now, from a switch's port or out of an end port; nothing is sent.
Spread spread(const State& state, PortIndex from, Lid mlid);

}  // namespace smd::sim
