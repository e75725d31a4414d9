// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the fabric should be. A tuple of parts, each immutable and shared; a part whose inputs did not change
// is the same pointer as before.

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/partitions.h"
#include "mad/base/id.h"
#include "mad/base/link.h"
#include "routing/chain/chain.h"
#include "routing/multicast/table.h"
#include "routing/ranking/guid_ranking.h"
#include "routing/repair/reference_topology.h"
#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/report.h"
#include "smd/base/m_keys.h"
#include "smd/decide/link_limits.h"
#include "smd/decide/qos_part.h"
#include "smd/decide/qos_policy.h"
#include "smd/decide/sl_part.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// Base LID and LMC of every end port, ascending by port GUID (of a switch: the node GUID).
struct LidPart {
  struct Entry {
    Guid port;
    Lid base;
    std::uint8_t lmc = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;
  std::vector<Guid> without_lid;  ///< the LID space was full
  Lid top;                        ///< highest LID that is routed
  Lid sm_lid;
  std::uint8_t lmc = 0;  ///< of ports of CAs and routers
  /// Forwarding tables are too small for all: no LID from this one on is routed; 0: they are not.
  unsigned not_held_from = 0;

  /// Null where the port has no LID. By the port GUID; O(log n).
  const Entry* find(Guid port) const;
  friend bool operator==(const LidPart&, const LidPart&) = default;
};

/// What all ports, or all switches, have alike.
struct SettingsPart {
  std::uint64_t gid_prefix = 0;
  std::uint8_t subnet_timeout = 0;  ///< PortInfo.SubnetTimeOut
  Sl master_sm_sl;
  std::uint8_t life_time_value = 0;                       ///< SwitchInfo.LifeTimeValue
  std::uint8_t local_phy_errors = 0, overrun_errors = 0;  ///< thresholds
  bool ends_adaptive_routing = false;                     ///< of switches where another SM has left it on
  MKeySettings m_keys{};                                  ///< of all end ports
  friend bool operator==(const SettingsPart&, const SettingsPart&) = default;
};

/// What one port's PortInfo should say.
struct LinkSettings {
  std::uint8_t operational_vls = 1;  ///< PortInfo's code; 0: as they are, until the link is retrained
  Mtu neighbor_mtu = Mtu::m2048;
  std::optional<std::uint8_t> hoq_life;        ///< nothing: left alone, as at a CA
  std::optional<std::uint8_t> vl_stall_count;  ///< of switches only
  EnabledLinks enabled;                        ///< what the link may come up with
  /// The link came up with more than is enabled, or it is in operation with other VLs or a lower MTU than it
  /// must have: this end (a switch's; of two switches the lower GUID's) retrains it.
  bool retrain = false;
  friend bool operator==(const LinkSettings&, const LinkSettings&) = default;
};

/// Settings of the ports of nodes, in the order of the Subnet's nodes: links[node][port].
struct LinkPart {
  std::vector<std::vector<std::optional<LinkSettings>>> ports;
  friend bool operator==(const LinkPart&, const LinkPart&) = default;
};

/// What blocks of the tables must hold that attribute A carries. All other blocks stay as they are.
template <class A>
struct TablePart {
  struct Block {
    PeerPort at;
    std::size_t block = 0;
    A content{};
    friend bool operator==(const Block&, const Block&) = default;
  };
  std::vector<Block> blocks;
  std::vector<PeerPort> no_room;  ///< ports whose table is full
  friend bool operator==(const TablePart&, const TablePart&) = default;
};
using PKeyPart = TablePart<wire::PKeyTable>;
/// What the PKeyPart was compared with when it was decided. A node that is the same object later on holds
/// what it held then.
struct ComparedPKeys {
  std::vector<NodePtr> nodes;   ///< of the Subnet
  std::vector<Guid> differing;  ///< nodes with a port that held something else than its blocks, some twice
};
/// Null: not decided.
template <class A>
using TablePartPtr = std::shared_ptr<const TablePart<A>>;

/// What smd.toml, OpenSM's file and the API say of partitions. Null: nothing is known of it.
using PolicyPtr = std::shared_ptr<const config::PartitionPolicy>;

/// Partitions of a fabric: who is a member, and what follows for tables and ports. The tables themselves are
/// the PKeyPart.
struct PartitionPart {
  struct Member {
    Guid port;  ///< its port GUID
    PeerPort at;
    config::Membership membership = config::Membership::limited;
    bool index0 = false;
    friend bool operator==(const Member&, const Member&) = default;
  };
  struct Partition {
    PKey pkey;                    ///< as in the policy
    std::vector<Member> members;  ///< ascending by port
    config::PendingRules pending;
    friend bool operator==(const Partition&, const Partition&) = default;
  };
  /// A key of an end port, and the index that it has.
  struct Placed {
    Guid port;
    PKey key;
    std::uint16_t index = 0;
    friend auto operator<=>(const Placed&, const Placed&) = default;
  };
  /// A port of a switch next to a CA or router.
  struct Enforced {
    PeerPort at;
    bool in = false, out = false;
    friend bool operator==(const Enforced&, const Enforced&) = default;
  };
  struct NoRoom {
    PeerPort at;
    std::size_t capacity = 0;    ///< keys that the table has room for
    std::vector<PKey> left_out;  ///< in the order in which they would have come
    friend bool operator==(const NoRoom&, const NoRoom&) = default;
  };
  struct NotEnforced {
    PeerPort at;  ///< the port of the switch
    std::size_t capacity = 0, keys = 0;
    bool held_back = false;  ///< the link stays Armed
    friend bool operator==(const NotEnforced&, const NotEnforced&) = default;
  };

  /// A port in Init that gets back what it had.
  struct Restored {
    PeerPort at;
    std::vector<PKey> keys;
    friend bool operator==(const Restored&, const Restored&) = default;
  };
  /// It gets a key of the default partition, instead of those that it came with.
  struct NewPort {
    PeerPort at;
    PKey pkey;
    std::vector<PKey> had{};  ///< but for that of the default partition
    friend bool operator==(const NewPort&, const NewPort&) = default;
  };

  PolicyPtr policy;
  /// P_Key tables of all ports are smd's; false: those of `sm_ports` only.
  bool managed = false;
  /// A link to a switch port that cannot enforce what it must stays Armed.
  bool enforcement_required = false;
  /// End ports of our own SM and of those that we obey: full members of the default partition.
  std::vector<PeerPort> sm_ports;
  std::vector<Partition> partitions;      ///< in the order of the policy; empty unless managed
  std::vector<Placed> placed;             ///< ascending
  std::vector<Enforced> enforced;         ///< ascending by node and port
  std::vector<NoRoom> no_room;            ///< ascending by node and port
  std::vector<NotEnforced> not_enforced;  ///< the same; tables that are too small
  // Of ports in Init.
  std::vector<Restored> restored;
  std::vector<NewPort> new_ports;  ///< while nothing is managed
  bool keeps_foreign = true;       ///< keys that belong to no partition stay

  /// Null where the port is not next to a CA or router, or nothing is decided for it. O(log n).
  const Enforced* find_enforced(const PeerPort& at) const;
  /// The port of a switch stays Armed, because it cannot enforce what it must.
  bool holds_back(const PeerPort& at) const;
  friend bool operator==(const PartitionPart&, const PartitionPart&) = default;
};

/// An entry that a switch holds whatever it is told (see NotKept).
struct KeptEntry {
  Guid node;
  Lid lid;
  std::uint8_t port = 0;
  friend auto operator<=>(const KeptEntry&, const KeptEntry&) = default;
};

/// Forwarding tables by switch, ascending by GUID, with the proof that they were checked by.
struct RoutePart {
  struct Row {
    Guid node;
    std::shared_ptr<const routing::LftRow> row;
  };
  /// How the tables came to be.
  enum class Origin : std::uint8_t { fresh, repaired, adopted };
  std::vector<Row> rows;
  Lid top;             ///< LinearFDBTop of every switch
  std::string engine;  ///< the one whose tables these are; "adopted": those of the master before us
  Origin origin = Origin::fresh;
  std::uint64_t would_change = 0;  ///< adopted: entries in which fresh tables differ
  std::string would_be;            ///< adopted: the engine of those
  /// Fresh: why the tables before were not repaired; empty where there were none.
  std::string not_repaired;
  std::vector<routing::Refusal> fell_back_from;
  /// Roots that the chain has found for the engine; empty: those of the configuration.
  std::vector<Guid> roots;
  bool by_load = false;  ///< no engine for trees took the fabric: the engine was chosen by its load
  std::string shape;     ///< of the fabric, where the engine is that of "auto"; empty else
  std::string why;       ///< and why it is this one, in one line that begins with the shape
  /// The engine that [routing] asks for since these tables were made: its layers would give pairs other SLs,
  /// so it waits for smd resweep converge --engine. Empty: there is none.
  std::string engine_waits;
  /// The engine that "auto" had chosen before these tables, and that could not route what was left then: it
  /// comes back when nothing is missing. No name: it is the one of these.
  struct LeftEngine {
    std::string name;
    std::vector<Guid> roots;
    friend bool operator==(const LeftEngine&, const LeftEngine&) = default;
  };
  LeftEngine left_engine;
  routing::Verification verification;
  routing::Layers layers;
  /// Data VLs of the links between switches by which layers may be kept apart; 1: paths have one layer.
  unsigned vls = 1;
  /// Layers in which packets may still travel while these tables are written; null: those of the tables.
  std::shared_ptr<const routing::Layers> layers_before;
  /// Pairs of switches whose paths have another layer, and clients another SL, than they had at first.
  std::uint64_t pairs_moved = 0;
  std::uint64_t host_pairs_moved = 0;  ///< of them those with hosts at both switches
  /// Of tables of another SM that were there when we became master; null: there were none.
  std::shared_ptr<const AdoptedSls> adopted_sls;
  bool sls_replaced =
      false;  ///< pairs have another SL than the file of the configuration says: no link is lost
  /// Layers that go with its SLs: those that pairs of switches had first. Null: they are not known.
  std::shared_ptr<const routing::PairLayers> adopted_layers;
  /// The operator has asked for these tables: the layers that they give are the ones to come back to.
  bool new_layers = false;
  std::shared_ptr<const routing::Topology> topology;
  std::shared_ptr<const routing::LidMap> lid_map;
  std::shared_ptr<const routing::ReferenceTopology>
      reference;  ///< the widest cabling seen, this one included
  /// Which ends of links are up in these tables; null: as the engine ranks the reference.
  std::shared_ptr<const routing::GuidRanking> ranking;
  std::vector<Guid> beyond;  ///< beyond_tables(): switches that no route leads to, ascending
  /// Of them those that have come (back) with fewer links than the engine needs: they wait for more.
  std::vector<Guid> waiting;
  // Inputs: equal ones make the same part.
  std::vector<KeptEntry> kept;  ///< ascending
  routing::TopologyInput input;
  config::RoutingConfig config;

  /// Null where the node is no routed switch. O(log n).
  const std::shared_ptr<const routing::LftRow>* find(Guid node) const;
};

/// A multicast LID that has a group, and its members. Groups that share a LID are one here.
struct GroupMembers {
  struct Member {
    Guid port;
    bool receives = true;  ///< false: it sends only
    friend bool operator==(const Member&, const Member&) = default;
  };
  Lid mlid;
  std::vector<Member> members;
  friend bool operator==(const GroupMembers&, const GroupMembers&) = default;
};
/// Ascending by MLID.
using GroupList = std::vector<GroupMembers>;

struct MulticastContext;  // smd/decide/multicast.h

/// Multicast forwarding tables by switch, ascending by GUID; a switch without one has none to be changed.
struct McPart {
  struct Row {
    Guid node;
    std::shared_ptr<const routing::McRow> row;
  };
  std::vector<Row> rows;
  std::size_t top = 0;       ///< entries in use: the highest MLID is 0xC000 + top - 1
  std::vector<Lid> unknown;  ///< MLIDs that switches forward and that have no members: kept for a while
  // Inputs: equal ones make the same part.
  std::shared_ptr<const GroupList> groups;
  std::shared_ptr<const routing::Topology> topology;
  bool keeps_unknown = false;
  std::shared_ptr<const MulticastContext> context;  ///< of `topology`, for the next part on the same one

  /// Null where the node is no switch of the part. O(log n).
  const std::shared_ptr<const routing::McRow>* find(Guid node) const;
};

struct Decided {
  std::shared_ptr<const SettingsPart> settings;
  std::shared_ptr<const LidPart> lids;
  std::shared_ptr<const LinkPart> links;
  OfEachTable<TablePartPtr> tables;  ///< of ports
  std::shared_ptr<const RoutePart> routes;
  std::shared_ptr<const McPart> multicast;
  std::shared_ptr<const PartitionPart> partitions = nullptr;
  /// Null: every table may differ from what was decided of it.
  std::shared_ptr<const ComparedPKeys> compared_pkeys = nullptr;
  /// Null: QoS is off, all paths have SL 0.
  std::shared_ptr<const QosPolicyPart> qos_policy = nullptr;
  /// SL to VL and VL arbitration tables. Null: QoS is off, they stay as they are.
  std::shared_ptr<const QosPart> qos_tables = nullptr;
  /// SLs of classes and layers. Null: clients need not ask, an SL is the number of a class.
  std::shared_ptr<const SlPart> service_levels = nullptr;

  /// The tables that attribute A carries.
  template <class A>
  const TablePartPtr<A>& part() const {
    return std::get<TablePartPtr<A>>(tables);
  }
  /// The same, to fill in.
  template <class A>
  TablePartPtr<A>& part() {
    return std::get<TablePartPtr<A>>(tables);
  }
};

/// How long the parts took; zero for a part that was reused.
struct DecideTimes {
  double lids_ms = 0, links_ms = 0, topology_ms = 0, route_ms = 0, verify_ms = 0, multicast_ms = 0;
};

}  // namespace smd::sm::inline decisions
