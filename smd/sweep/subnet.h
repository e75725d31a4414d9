// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the fabric is, as far as we have been told: nodes, ports, links and the tables they hold.
// Immutable once made: a sweep and `advance` each make a new Subnet and share the nodes that did not change.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mad/base/guid_index.h"
#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/transactions/extended_speeds.h"
#include "mad/transport.h"
#include "mad/wire/ar_info.h"
#include "mad/wire/node.h"
#include "mad/wire/port_ext.h"
#include "mad/wire/port_info.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/switch.h"
#include "mad/wire/tables.h"
#include "smd/sweep/table_kinds.h"
#include "smd/tables/held_table.h"

namespace smd::sm::inline sweeping {

/// The other end of a link: node and port number there.
struct PeerPort {
  Guid node;
  PortNum port;
  friend bool operator==(const PeerPort&, const PeerPort&) = default;
};

/// Parts that a block of a multicast forwarding table has, by groups of 16 ports.
inline constexpr std::size_t kMftPositions = 16;

/// A field that a node answers a Set of well and does not keep. Not planned again while the same value is
/// desired.
struct NotKept {
  std::uint16_t attribute = 0;
  PortNum port;
  std::string field;  ///< name in the attribute's field table
  std::uint64_t desired = 0;
  friend bool operator==(const NotKept&, const NotKept&) = default;
};

struct Port {
  bool known = false;  ///< PortInfo was read (or acknowledged) in this or an earlier sweep
  wire::PortInfo info;
  Guid guid;  ///< CA and router ports once reached; a switch's ports have the node's
  std::optional<PeerPort> peer;
  std::optional<wire::MlnxExtPortInfo> mlnx;
  OfEachTable<HeldPtr> tables;

  /// The table that attribute A carries; null: not asked for yet, or there is none.
  template <class A>
  const HeldPtr<A>& held() const {
    return std::get<HeldPtr<A>>(tables);
  }
  /// The same, to change.
  template <class A>
  HeldPtr<A>& held() {
    return std::get<HeldPtr<A>>(tables);
  }
  /// At least Init when it was read.
  bool linked() const { return known && info.port_state > PortState::down; }
};

/// What is known of ARInfo of an NVIDIA switch.
enum class ArKnown : std::uint8_t {
  not_asked,
  asked,  ///< it answered, or was silent; or it comes from a reset, which ends adaptive routing
  lacks,  ///< it refused the question: it does not know the attribute
};

/// One node: all ports behind one node GUID.
struct Node {
  wire::NodeInfo info;      ///< `port` and `local_port` are those of the place where the node was met first
  std::string description;  ///< as people are to see it: printable, or as the map of names has it
  std::string reported;     ///< NodeDescription where it is another one; else empty
  std::optional<wire::SwitchInfo> switch_info;  ///< switches that answered
  std::vector<Port> ports;  ///< index: port number; [0] is a switch's management port, unused elsewhere
  HeldLft lft;              ///< switches
  /// Rows whose blocks may be in the switch's table where `lft` does not know it: Sets of them were not
  /// answered.
  std::vector<std::shared_ptr<const routing::LftRow>> lft_sent;
  HeldMft mft;                                  ///< switches
  ArKnown ar_known = ArKnown::not_asked;        ///< switches
  std::shared_ptr<const wire::ArInfo> ar_info;  ///< null: nothing is known
  std::vector<NotKept> not_kept;
  bool refuses_extended_speeds = false;  ///< PortInfo with bit 31 of the modifier was refused or ignored

  /// The node GUID.
  Guid guid() const { return info.node; }
  bool is_switch() const { return info.type == NodeType::switch_; }  ///< by its NodeInfo
  /// As the node reports it, before a name map.
  const std::string& own_description() const { return reported.empty() ? description : reported; }
  /// Sets the name to show; own_description() stays.
  void name(std::string shown);
  /// Whether the node answers PortInfo with bit 31 of the modifier; of a node that was read once.
  mad::ExtendedSpeeds extended_speeds() const {
    return refuses_extended_speeds ? mad::ExtendedSpeeds::refused : mad::ExtendedSpeeds::answered;
  }
  /// Its port 0 has states and tables of its own, as an adapter's port has.
  bool has_enhanced_port0() const { return switch_info && switch_info->enhanced_port0; }
  /// A switch that is known to have entries in force.
  bool forwards() const { return switch_info && switch_info->linear_fdb_top != 0; }
  /// Packets may leave it by other ports than its forwarding table says.
  bool routes_adaptively() const { return ar_info && ar_info->enabled; }
  /// Null where it has no such port.
  const Port* port(PortNum number) const;
  /// Physical ports; 0 while its ports are not read.
  unsigned port_count() const { return ports.empty() ? 0 : static_cast<unsigned>(ports.size() - 1); }
};

using NodePtr = std::shared_ptr<const Node>;

/// A place behind a port of a known node that did not answer, or whose answers make no node.
struct Unresponsive {
  PeerPort behind;            ///< the port that leads there; node 0 is ourselves
  Guid node;                  ///< 0 where even NodeInfo was not answered and no node was known there before
  std::string reason;         ///< which MAD, along which path, how often, what came back
  std::string description{};  ///< of `node`, where it was known before
};

/// A Set of ours that the node did not answer well, the last time that it was sent.
struct RefusedSet {
  PeerPort at;
  std::uint16_t attribute = 0;
  std::string reason;  ///< which MAD, along which path, how often, what came back
};

/// A table of a port that smd does not decide and that is other than when smd saw it first as master.
struct AlteredTable {
  PeerPort at;
  std::uint16_t attribute = 0;  ///< P_KeyTable, SLtoVLMappingTable, VLArbitrationTable
  std::string entries;          ///< "index 1 0x8001, now 0x0000"; the first few of many
  bool restarted = false;       ///< lost by a restart of the node; else changed externally
  friend bool operator==(const AlteredTable&, const AlteredTable&) = default;
};

/// Two places that show one node GUID (or one port GUID): none of the newcomers is put in service.
struct DuplicateGuid {
  Guid guid;
  std::vector<PeerPort> places;
};

/// Another SM: a port with CapabilityMask.IsSM, and its answer to SMInfo.
struct OtherSm {
  PeerPort at;
  std::string node_description;
  Lid lid;
  /// Where the SM did not answer: what it answered last, as Master if our own port has its LID as
  /// MasterSMLID, else as Not Active.
  wire::SmInfo info;
  bool answered = true;
};

/// Switch ports that an earlier SM had enforce P_Keys, and the node that this was meant for: the one at the
/// other end when smd took the fabric over; 0: none was.
using EnforcedFor = std::map<std::pair<Guid, PortNum>, Guid>;

struct Subnet {
  std::vector<NodePtr> nodes;  ///< ascending GUID, each GUID once
  Guid sm_node;                ///< where our own port is
  PortNum sm_port;
  std::vector<Unresponsive> unresponsive;
  std::vector<DuplicateGuid> duplicates;
  std::vector<OtherSm> other_sms;
  /// SMs that have answered in this run and do not now, as they answered last; their ports are in the fabric.
  std::vector<OtherSm> former_sms;
  std::vector<RefusedSet> refused;    ///< of the last plan
  std::set<Guid> unanswered;          ///< nodes that have left a Set without an answer, since we are master
  std::vector<AlteredTable> altered;  ///< ascending node GUID; kept by TableBaseline
  std::shared_ptr<const EnforcedFor> enforced;  ///< null: not known of any port (offline)
  /// Switches that do not answer any more while links to them are up, as they were: they still forward by
  /// those tables.
  std::vector<NodePtr> unmanaged;
  /// CAs and routers that do not answer any more while their links are up, as they were: packets may reach
  /// them, so that the routes have them yet.
  std::vector<NodePtr> silent_hosts;
  /// What nodes are looked up by, where it is there.
  std::shared_ptr<const base::GuidIndex> places;

  /// Makes `places`; worth it for many lookups.
  void index();
  /// Index of the node in `nodes`; nothing where it is not there. O(log n) without `places`.
  std::optional<std::size_t> index_of(Guid node) const;
  /// Null where it is not in `nodes`. Valid as long as the node is part of a version of the Subnet.
  const Node* find(Guid node) const;
  /// The far end of a port, where both ends are known.
  const Port* peer_of(const Port& port) const;
};

/// End port: a port that has LIDs of its own (a switch's port 0, every linked CA and router port).
bool is_end_port(const Node& node, PortNum port);

/// Our own port has no link: what is left of the fabric is ourselves.
bool is_cut_off(const Subnet& subnet);

/// Entries that a switch's forwarding table has: as many as it says, and no fewer than it forwards by and has
/// shown or acknowledged. 0 where SwitchInfo is not known.
unsigned lft_capacity(const Node& node);

/// As it may stand in a log line or a file: control characters as blanks, which ibnetdiscover prints too.
std::string printable(std::string text);

/// The name of a node with the control characters that it came with, unless a map names it. Lives as long as
/// the node.
const std::string& raw_name(const Node& node);

/// "0x0002c90000000010 leaf000 port 3": how a log line names a port.
std::string port_text(const Node& node, PortNum port);

}  // namespace smd::sm::inline sweeping
