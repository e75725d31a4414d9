// SPDX-License-Identifier: Apache-2.0
#pragma once
// All that a simulated fabric holds. Plain data: what happens to it is in links, forward, sma, traps, faults.
// Sized for 50,000 nodes and 310,000 ports; unwritten tables cost nothing.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "mad/base/fabric.h"
#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/sim/state/adaptive.h"
#include "mad/sim/state/client.h"
#include "mad/sim/state/counters.h"
#include "mad/sim/state/counts.h"
#include "mad/sim/state/options.h"
#include "mad/sim/state/packet.h"
#include "mad/sim/state/place.h"
#include "mad/sim/state/random.h"
#include "mad/sim/state/schedule.h"
#include "mad/wire/attributes.h"

namespace smd::sim {

/// Sets of speeds: bit n is LinkSpeed n.
using SpeedSet = std::uint16_t;
constexpr SpeedSet speed_bit(LinkSpeed speed) {  ///< unknown: bit 0
  return static_cast<SpeedSet>(1U << static_cast<unsigned>(speed));
}

/// Tables of a port that were written at least once.
struct PortTables {
  std::vector<std::uint16_t> pkeys;         ///< whole capacity
  std::vector<std::uint64_t> guids;         ///< whole capacity; [0] is not used
  std::optional<std::uint64_t> sl_to_vl;    ///< of a CA port, 4 bits an SL
  std::vector<wire::VlArbitration> vl_arb;  ///< 4 blocks: low, low, high, high
  std::unique_ptr<wire::PortInfoExtended> extended;
  std::unique_ptr<PortCounters> counters;
  std::uint64_t m_key_lease_end = 0;  ///< virtual nanoseconds; 0: no lease runs
};

struct Port {
  wire::PortInfo info;
  PortIndex peer = kNowhere;  ///< the cable, whether the link is up or not
  NodeIndex node = 0;
  PortNum number;
  LinkSpeed cable_speed = LinkSpeed::unknown;  ///< what cable and file allow; unknown: everything
  LinkWidth cable_width = LinkWidth::unknown;
  bool cut = false;       ///< fault: the cable carries nothing (set at both ends)
  bool disabled = false;  ///< PhysState Disabled was set
  bool split = false;     ///< fault: between two parts of a split fabric
  bool fdr10_enabled = true;
  LinkSpeed speed = LinkSpeed::unknown;  ///< of the link as it came up
  std::uint8_t vls = 1;                  ///< OperationalVLs that count (Firmware::vls_at_once)
  TimePoint trained_at{};                ///< of the link; at its end with the smaller index
  std::uint32_t reregisters = 0;         ///< ClientReregister was set so often
  std::uint32_t loss = 0;                ///< of 2^32
  std::uint32_t extra_latency = 0;       ///< nanoseconds
  Guid guid;
  std::unique_ptr<PortTables> tables;

  /// Physically; the logical state may be anything.
  bool link_up() const { return info.phys_state == PhysState::link_up; }
};

/// Forwarding tables of a switch, as long as what was written into them.
struct SwitchTables {
  wire::SwitchInfo info;
  std::vector<std::uint8_t> lft;   ///< by LID; above the end: 255
  std::vector<std::uint16_t> mft;  ///< [(MLID - 0xC000) * positions + position]
  std::vector<std::uint64_t>
      sl_to_vl;  ///< [in * (ports + 1) + out], 4 bits an SL, SL 0 lowest; empty: identity
  unsigned mft_positions = 1;
  bool zero_top_is_none = false;             ///< MulticastFDBTop 0: nothing is forwarded by the table
  std::unique_ptr<AdaptiveTables> adaptive;  ///< null: the switch does not know ARInfo
};

struct Refusal {
  std::uint16_t attribute = 0, status = 0;
  bool sets_only = true;
};
struct Forgotten {
  std::uint16_t attribute = 0;
  std::string field;
};

/// What a switch does with Sets of blocks of its LFT whose first LID is above LinearFDBTop.
enum class AboveTop : std::uint8_t { accepted, ignored, refused };

/// Adaptive routing of an NVIDIA switch; none: it does not know the attribute.
enum class Adaptive : std::uint8_t { off, on, none };

/// What is wrong with a node; healthy nodes have none.
struct NodeFaults {
  bool silent = false;
  std::uint16_t extended_speeds_status = 0;  ///< of answers to PortInfo with bit 31 of the modifier
  bool ignores_extended_speeds = false;
  bool no_smi = false;  ///< programs at its ports cannot register SMI classes
  AboveTop above_top = AboveTop::accepted;
  Duration late{0};
  std::uint32_t loss = 0;           ///< of 2^32
  std::optional<TimePoint> back{};  ///< of a reboot: when it is there again
  std::vector<std::uint16_t> answers_only;
  std::vector<Refusal> refusals;
  std::vector<Forgotten> forgets;
};

/// A link that goes down and up by itself.
struct Flap {
  Duration period{0};
  std::uint64_t timer = 0;
};

/// A trap that is sent again and again until it is repressed.
struct PendingTrap {
  PortIndex port = kNowhere;  ///< from where it is sent
  wire::Notice notice{};
  std::uint64_t tid = 0;
  TimePoint last{};      ///< when it was sent last
  bool pending = false;  ///< not repressed yet; kept afterwards for `last`
  std::uint64_t timer = 0;
};

struct Node {
  NodeType type = NodeType::ca;
  bool gone = false;         ///< removed or rebooting
  std::uint32_t boots = 0;   ///< how often it went down
  std::uint16_t ports = 0;   ///< number of external ports
  PortIndex first_port = 0;  ///< of port 0; a CA's port 0 is not used
  std::uint32_t vendor_id = 0;
  std::uint16_t device_id = 0;
  std::uint8_t vl_cap = 0;  ///< PortInfo.VLCap of its ports; 0: that of the options
  Guid guid, system_image;
  LinkWidth widest = LinkWidth::x4;
  SpeedSet speeds = 0;
  TimePoint busy_until{};  ///< its agent serves one request after the other
  std::string id, name;
  std::unique_ptr<SwitchTables> sw;
  std::unique_ptr<NodeFaults> faults;

  bool is_switch() const { return sw != nullptr; }  ///< has switch tables
};

/// Packets that did not arrive, counted by reason.
struct Drops {
  std::uint64_t no_link = 0, bad_path = 0, no_route = 0, not_active = 0, looped = 0, wrong_lid = 0, lost = 0,
                silent = 0, m_key = 0, unequal_vls = 0, no_client = 0, malformed = 0, refused = 0;
};

/// A Set that an agent has carried out, or refused.
struct DoneSet {
  PortIndex at = kNowhere;  ///< where the request came in
  std::uint16_t attribute = 0, status = 0;
  std::uint32_t modifier = 0;
};

/// A MAD at the moment when it leaves a port for the fabric.
struct SentPacket {
  std::span<const std::uint8_t> mad;
  Lid slid{}, dlid{};
  Sl sl{};
  PKey pkey{};
  std::uint32_t qp = 0;
  bool smp = false;
  std::optional<mad::GlobalRoute> grh{};
  GidBytes sgid{};  ///< where there is a global route
};

struct State {
  Options options;
  TimePoint now{};
  std::vector<Node> nodes;
  std::vector<Port> ports;
  Random random;
  Schedule schedule;
  SmpCounts counts;
  Drops drops;
  std::uint32_t loss = 0;       ///< of 2^32, every MAD
  std::uint32_t rmpp_loss = 0;  ///< of 2^32, segments and acknowledgements of answers by RMPP
  /// Is called after each Set, before its answer is on the way.
  std::move_only_function<void(const DoneSet&)> on_set;
  /// Is called for each MAD that leaves a port.
  std::move_only_function<void(const SentPacket&)> on_packet;
  /// Sends what an agent makes by itself, a trap: emit() of packets/, which in turn calls the agents. Fabric
  /// sets it.
  void (*send)(State& state, PortIndex from, Packet packet) = nullptr;
  std::vector<PendingTrap> traps;
  std::map<PortIndex, Flap> flaps;  ///< by one end of the link
  std::uint64_t next_trap_tid = 1;
  std::uint32_t restless = 0;  ///< counts what ports that are down have shown
  std::uint64_t next_timer = 1;

  std::vector<Client> clients;                 ///< ascending id
  std::unordered_map<PortIndex, ClientId> sm;  ///< the client that holds the issm device of a port
  std::vector<ClientId> ready;                 ///< clients with something in the inbox
  ClientId next_client = 1;

  /// Nothing is checked: `port` is an index of `ports`, `number` 0 to node.ports.
  Node& node_of(PortIndex port) { return nodes[ports[port].node]; }
  const Node& node_of(PortIndex port) const { return nodes[ports[port].node]; }
  PortIndex index(const Node& node, unsigned number) const { return node.first_port + number; }
  Port& port(const Node& node, unsigned number) { return ports[node.first_port + number]; }
  const Port& port(const Node& node, unsigned number) const { return ports[node.first_port + number]; }
};

/// By name, id of the file, or GUID as text; the first that fits.
std::optional<NodeIndex> find_node(const State& state, std::string_view node);
/// Another node fits as well: two have this name.
bool is_ambiguous(const State& state, std::string_view node);
/// NODE or NODE:PORT; a node's name may hold colons.
std::optional<NodeIndex> parse_place(const State& state, std::string_view text,
                                     std::optional<unsigned>& port);
/// Of an adapter or router any port, of a switch port 0.
bool is_end_port(const State& state, PortIndex port);
/// The port itself; of a switch's port its port 0.
PortIndex end_port_of(const State& state, PortIndex port);
/// Port 0 of a CA: its first port with a cable. Nothing: no such node or port. Of several nodes with the
/// name: the first.
std::optional<PortIndex> find_port(const State& state, const Place& place);
/// The port's counters, made where it has none yet.
PortCounters& counters_of(State& state, PortIndex port);
/// "0x0002c90000000010 leaf000 port 3".
std::string port_text(const State& state, PortIndex port);

}  // namespace smd::sim
