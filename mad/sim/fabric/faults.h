// SPDX-License-Identifier: Apache-2.0
#pragma once
// What can go wrong in a fabric, done now. For faults at times see World::at.

#include <optional>
#include <string_view>
#include <vector>

#include "mad/sim/state/state.h"
#include "mad/wire/mad.h"

namespace smd::sim {

/// Probability from 0 to 1.
using Chance = double;

/// Each call takes effect at once and answers false where the node, port or link does not exist.
class Faults {
 public:
  /// `state` outlives it.
  explicit Faults(State& state) : state_(state) {}

  // Links. The cable stays: link_up brings back what link_down took.
  /// Both ends go Down at once and stay Down.
  bool link_down(const Place& place);
  /// Ends a flapping link too; training takes its time.
  bool link_up(const Place& place);
  /// Down, up, down, …, each for this time, until link_down or link_up.
  bool link_flaps(const Place& place, Duration period);
  /// The link is retrained, with no more than this from now on; unknown: with all that its ends support.
  bool link_rate(const Place& place, LinkWidth width, LinkSpeed speed);
  /// Moves the cable end at `from` to the free port `to`.
  bool move(const Place& from, const Place& to);
  /// Cuts every link between these nodes and the rest, until join().
  bool split(const std::vector<std::string>& nodes);
  /// Ends every split(); the links train again.
  void join();

  // Nodes.
  bool silent(std::string_view node, bool on = true);  ///< its agent answers nothing; packets pass
  /// A device without SMI, as the GSI device of a planarized adapter: agents of SMI classes are refused.
  bool no_smi(std::string_view node);
  bool slow(std::string_view node, Duration late);  ///< each answer comes so much later
  bool answers_only(std::string_view node, std::vector<std::uint16_t> attributes);  ///< empty: all again
  /// Every request for the attribute (0: all) is answered with the status; 0: well again.
  bool refuses(std::string_view node, std::uint16_t attribute, std::uint16_t status, bool sets_only = true);
  /// Sets of this field of this attribute (the field table's name) are answered well and not kept.
  /// Of a forwarding table: the entry of this LID ("17", "0xc001"), or "all".
  bool forgets(std::string_view node, std::uint16_t attribute, std::string field);
  /// How a switch takes LFT blocks above LinearFDBTop; switches only.
  bool above_top(std::string_view node, AboveTop does);
  /// Bit 31 of PortInfo's modifier is answered with this status; 0 ends it.
  bool refuses_extended_speeds(std::string_view node, std::uint16_t status = wire::kStatusBadField);
  /// PortInfo with bit 31 of the modifier is not answered at all.
  bool ignores_extended_speeds(std::string_view node, bool on = true);
  bool heal(std::string_view node);  ///< the end of all above, and of its loss; forgotten values stay lost
  bool reboot(std::string_view node, Duration takes = Duration{0});  ///< tables, LIDs, links: all lost
  bool remove(std::string_view node);                                ///< with its links, until restore()
  bool restore(std::string_view node);                               ///< as after a reboot
  bool rename(std::string_view node, std::string name);              ///< NodeDescription; trap 144
  bool set_guid(std::string_view node, Guid guid);                   ///< node GUID; ports follow
  bool set_system_image(std::string_view node, Guid guid);           ///< trap 145
  bool set_capabilities(const Place& place, std::uint32_t mask);     ///< of an end port; trap 144
  /// PortInfo.VLCap of all ports, 1 to 5: VL0, VL0-1, VL0-3, VL0-7, VL0-14. OperationalVLs are cut to it.
  bool vl_cap(std::string_view node, std::uint8_t code);
  /// SwitchInfo.LinearFDBCap in entries; switches only. Entries above it stay stored.
  bool linear_fdb_cap(std::string_view node, std::uint16_t cap);
  /// Of an NVIDIA switch: a reset switches it off, as a Set of ARInfo does.
  bool adaptive_routing(std::string_view node, Adaptive does);
  /// Ports by which packets to the LID leave where adaptive routing is on; none: those of the table again.
  bool adaptive_group(std::string_view node, Lid lid, std::vector<PortNum> ports);

  // Packets.
  void loss(Chance chance);  ///< each MAD, once a way
  /// Segments and acknowledgements of answers by RMPP that programs send.
  void rmpp_loss(Chance chance);
  bool node_loss(std::string_view node, Chance chance);  ///< MADs that have arrived at their end, this node
  bool link_loss(const Place& place, Chance chance);     ///< MADs that cross this port's link
  /// Of the whole fabric, in place of Options::latency.
  void latency(Latency latency);
  bool link_latency(const Place& place, Duration more);  ///< of this port's link, added to the hop's

  // Values changed behind the SM's back.
  // Of end ports; LMC and protection level (M_KeyProtectBits) stay where they are not named.
  /// LID and LMC of an end port; any value. False for other ports.
  bool set_lid(const Place& place, Lid lid, std::optional<std::uint8_t> lmc = std::nullopt);
  /// M_Key of an end port; 0: none.
  bool set_m_key(const Place& place, std::uint64_t key, std::optional<std::uint8_t> protect = std::nullopt);
  /// One entry of the port's P_Key table; false above the table, too.
  bool set_p_key(const Place& place, unsigned index, PKey key);
  /// A switch's port, not port 0, lets packets in or out with the P_Keys of its own table only.
  bool enforce_p_keys(const Place& place, bool in, bool out);
  /// The VL of packets of this SL that leave by `out`, having come in by port `in` of the same node.
  bool set_sl_to_vl(const Place& out, PortNum in, Sl sl, Vl vl);
  /// Block 1 and 2 are the low table, 3 and 4 the high one; false for others.
  bool set_vl_arbitration(const Place& place, unsigned block, const wire::VlArbitration& entries);
  /// One entry of a switch's LFT; false at LinearFDBCap or above.
  bool set_lft_entry(std::string_view node, Lid lid, PortNum port);

  // Counters and what is told of them.
  /// Sets a counter, which from then on grows by itself. Link integrity errors and buffer overruns raise
  /// traps 129 and 130 when they grow.
  bool set_counter(const Place& place, Counter counter, std::uint64_t value, double per_second = 0);
  /// The port says that it has too many errors: trap 129, 130 or 131.
  bool port_error(const Place& place, std::uint16_t trap);
  /// A Set with this M_Key comes to the port (and changes nothing): a wrong one raises trap 256.
  bool smp_with_m_key(const Place& place, std::uint64_t key);

 private:
  NodeFaults* node_faults(std::string_view node);

  State& state_;
};

}  // namespace smd::sim
