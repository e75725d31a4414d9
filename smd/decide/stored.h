// SPDX-License-Identifier: Apache-2.0
#pragma once
// What outlives a sweep: decisions of earlier ones that bind the next. smd/store keeps it beyond a process.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mad/base/id.h"
#include "mad/base/lid_file.h"
#include "routing/repair/guid_layers.h"
#include "routing/repair/reference_topology.h"
#include "smd/decide/decided.h"
#include "smd/decide/link_limits.h"
#include "smd/inventory/inventory.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

struct Stored {
  struct LidRange {
    Lid base;
    std::uint8_t lmc = 0;
    unsigned count() const { return 1U << lmc; }  ///< LIDs, a power of 2
    friend bool operator==(const LidRange&, const LidRange&) = default;
  };
  /// By port GUID, also of ports that are gone: they get the same LID when they come back.
  std::map<Guid, LidRange> lids;

  /// What a port answered well to and did not keep. A restart of the node takes its LID away and ends this.
  struct Unkept {
    Lid lid;  ///< of the port, or of its switch
    std::vector<NotKept> fields;
    friend bool operator==(const Unkept&, const Unkept&) = default;
  };
  /// By node GUID and port.
  std::map<std::pair<Guid, PortNum>, Unkept> not_kept;

  /// Ports that were taken down once for what is enabled at them: a link that comes up as before stays up.
  std::set<std::tuple<Guid, PortNum, EnabledLinks>> retrained;
  /// The widest cabling that was seen: repairs compare with it. Null: none yet.
  std::shared_ptr<const routing::ReferenceTopology> reference;
  /// Layers of pairs of switches: those that they had first and come back to, and those in force. Null: paths
  /// have had one layer.
  std::shared_ptr<const routing::GuidLayers> layers_home, layers_now;
  /// Whose tables switches hold, with the roots that were found for it. No name: none was there yet.
  struct Engine {
    std::string name;
    std::vector<Guid> roots;  ///< RoutePart::roots
    std::string rules;        ///< of [routing], what it was chosen by
    friend bool operator==(const Engine&, const Engine&) = default;
  };
  Engine engine;
  /// The engine that "auto" had to leave for that one, and comes back to. No name: there is none.
  RoutePart::LeftEngine left_engine;
  /// Of forwarding tables that are to converge, once or when nothing is missing: digest_of_tables(). 0: they
  /// are what they converge to, or not ours.
  std::uint64_t repaired_tables = 0;
  /// SLs of classes in layers: clients keep them as long as their connections. Empty: none were given.
  WireSls wire_sls;
  /// What belongs to the fabric, and what of it is lost. Null: nothing is recorded yet.
  InventoryPtr inventory;
  /// Indexes in P_Key tables by port GUID and key; also of keys that a port has no more: they get the same
  /// index when they come back.
  std::map<std::pair<Guid, PKey>, std::uint16_t> pkeys;

  /// P_Keys of an end port, and what the port of a switch before it has for it: of another SM, while no
  /// partition is configured (port_keys.h).
  struct PortKeys {
    std::vector<PKey> keys, at_switch;  ///< by index, no free entries at the end
    bool in = false, out = false;       ///< what the switch enforces
    std::int64_t seen = 0;              ///< seconds since 1970, by a day
    friend bool operator==(const PortKeys&, const PortKeys&) = default;
  };
  std::map<Guid, PortKeys> port_keys;  ///< by port GUID

  /// SL to VL and VL arbitration tables of a port: of another SM, while no QoS is configured
  /// (port_vl_tables.h).
  struct PortVlTables {
    PortNum port;
    HeldPtr<wire::SlToVl> sl_to_vl;            ///< null: it has none
    HeldPtr<wire::VlArbitration> arbitration;  ///< null: it has none
    friend bool operator==(const PortVlTables& a, const PortVlTables& b) {
      return a.port == b.port && same_blocks(a.sl_to_vl, b.sl_to_vl) &&
             same_blocks(a.arbitration, b.arbitration);
    }
  };
  using NodeVlTables = std::vector<PortVlTables>;  ///< ascending by port; ports whose tables matter
  std::map<Guid, NodeVlTables> vl_tables;          ///< by node GUID

  /// M_Key of an end port.
  struct MKey {
    std::uint64_t key = 0;     ///< what it is to have, or has shown
    std::uint64_t before = 0;  ///< what it may have still; 0: nothing
    Guid node;                 ///< where it was seen last
    PortNum port;
    friend bool operator==(const MKey&, const MKey&) = default;
  };
  using MKeys = std::map<Guid, MKey>;
  MKeys m_keys;  ///< by port GUID
  /// Of other times: keys of this SM before it went on with another SM's state, and of another SM that was
  /// master of a part of the fabric. Ports that do not answer to theirs may have these. Not kept by a store,
  /// and no part of what is compared.
  MKeys former_m_keys;

  friend bool operator==(const Stored& a, const Stored& b) {
    const bool same =
        a.reference == b.reference || (a.reference && b.reference && *a.reference == *b.reference);
    const bool same_inventory =
        a.inventory == b.inventory || (a.inventory && b.inventory && *a.inventory == *b.inventory);
    const auto same_layers = [](const auto& one, const auto& other) {
      return one == other || (one && other && *one == *other);
    };
    return same && same_inventory && same_layers(a.layers_home, b.layers_home) &&
           same_layers(a.layers_now, b.layers_now) && a.lids == b.lids && a.not_kept == b.not_kept &&
           a.retrained == b.retrained && a.pkeys == b.pkeys && a.port_keys == b.port_keys &&
           a.vl_tables == b.vl_tables && a.m_keys == b.m_keys && a.wire_sls == b.wire_sls &&
           a.engine == b.engine && a.left_engine == b.left_engine && a.repaired_tables == b.repaired_tables;
  }
};
using StoredPtr = std::shared_ptr<const Stored>;  ///< never null

/// What a sweep found, with the notes on nodes that `before` (may be null) does not have: they are as they
/// were left, or they would not have their LIDs.
Subnet recall(Subnet found, const Subnet* before, const Stored& stored);

/// With the decision's LIDs and the Subnet's notes; the same pointer where nothing is new. Of ports that are
/// gone what can never be given back to them is forgotten.
StoredPtr remember(const StoredPtr& before, const Subnet& subnet, const Decided& decided);

/// With the indexes of the keys that `part` (may be null) has placed, as remember() has them; the same
/// pointer where nothing is new.
StoredPtr remember_pkeys(const StoredPtr& before, const PartitionPart* part);

/// LIDs of another manager's file, for ports without stored LIDs. Ranges that are no 2^n LIDs at a multiple
/// of 2^n are left out.
Stored with_lids(Stored stored, const base::GuidLids& lids);

}  // namespace smd::sm::inline decisions
