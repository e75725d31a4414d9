// SPDX-License-Identifier: Apache-2.0
#pragma once
// A snapshot as a question sees it: its end ports by LID and by GUID.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mad/base/gid.h"
#include "mad/base/guid_index.h"
#include "mad/base/id.h"
#include "routing/routes.h"
#include "smd/sa/path/links.h"
#include "smd/snapshot/snapshot.h"

namespace smd::sa {

/// The P_Key table of a port, as far as it is known.
using HeldPKeys = sm::HeldBlocks<wire::PKeyTable>;

/// A port that has LIDs: of a CA or router, or port 0 of a switch. What a PathRecord needs of it is one line
/// of the processor's cache.
struct alignas(64) EndPort {
  const sm::Node* node = nullptr;
  PortNum port;
  Guid guid;
  Lid lid;  ///< the base LID
  std::uint8_t lmc = 0;
  std::uint32_t place = 0;           ///< among the end ports
  std::uint32_t sw = kNowhere;       ///< of a switch's port 0: the switch, by its place among the switches
  sm::QosPortClass qos = 0;          ///< in the QoS policy
  const HeldPKeys* pkeys = nullptr;  ///< that it has and is to have (granted_pkeys.h); null: not known

  const sm::Port& info() const { return node->ports[port.value()]; }  ///< lives as long as the node
  unsigned lids() const { return 1U << lmc; }                         ///< from the base LID on
};

/// What paths of the port (an end port of `node`) are granted by; without `place` and `sw`, which are those
/// of a Directory. The node outlives it.
EndPort end_port_of(const sm::Decided& decided, const sm::Node& node, PortNum port);

/// A switch's forwarding table, to be looked into quickly.
class Entries {
 public:
  Entries() = default;
  /// Null: no entries. The row outlives it.
  explicit Entries(const routing::LftRow* row)
      : first_(row != nullptr ? row->data() : nullptr), size_(row != nullptr ? row->size() : 0) {}
  std::uint8_t operator[](Lid lid) const {  ///< kNoRoute above the table
    return lid.value() < size_ ? first_[lid.value()] : routing::kNoRoute;
  }

 private:
  const std::uint8_t* first_ = nullptr;
  std::size_t size_ = 0;
};

/// Made once for a snapshot, from then on read by any thread.
class Directory {
 public:
  /// What has not changed since `before` (may be null) is taken from there.
  explicit Directory(std::shared_ptr<const sm::Snapshot> snapshot, const Directory* before = nullptr);

  /// What it was made of; both live as long as the Directory.
  const sm::Snapshot& snapshot() const { return *snapshot_; }
  const sm::Subnet& subnet() const { return *snapshot_->subnet; }
  /// In the order of the nodes' GUIDs, then of the ports.
  const std::vector<EndPort>& end_ports() const { return end_ports_; }
  /// The end port that has the LID, LMC counted in; null where none has.
  const EndPort* by_lid(Lid lid) const;
  /// By its own port GUID, no alias; null where there is none.
  const EndPort* by_guid(Guid port) const;
  /// Of a port GID with our prefix or with the default one.
  const EndPort* by_gid(const Gid& gid) const;
  /// A GID as it is known here: the default prefix means ours.
  Gid here(const Gid& gid) const {
    return gid.prefix() == kDefaultSubnetPrefix ? Gid::of(prefix_, gid.guid()) : gid;
  }
  /// The keys that answers about this port go by: of an end port those of its EndPort, else what the table
  /// of the port holds; null: not known.
  const HeldPKeys* pkeys_of(const sm::Node& node, PortNum port) const;
  /// With the prefix of this subnet.
  Gid gid_of(const EndPort& port) const { return Gid::of(prefix_, port.guid); }
  /// The LID that a record about this port of this node is under; nothing where it has none.
  std::optional<Lid> lid_of(const sm::Node& node, PortNum port) const;
  std::uint64_t prefix() const { return prefix_; }
  /// The links out of switches and end ports.
  const Links& links() const { return index_->links; }
  /// Of a switch, by its place among the switches; empty where nothing is known.
  const Entries& entries(std::uint32_t sw) const { return entries_[sw]; }
  /// The tables that are installed are those that were proven, and cables connect all: from each adapter
  /// there is a way to each other one, whichever of its LIDs is asked for, and all links between switches
  /// carry the same.
  bool all_is_proven() const { return proven_; }
  /// QoS is on, and somewhere an SL is mapped to VL 15, so that packets of it do not arrive.
  bool drops_sls() const { return drops_sls_; }
  /// Multicast LIDs that switches forward for groups that were made at another SM, or before our store was
  /// lost; before it is known whose they are, all that are forwarded. Ascending.
  const std::vector<Lid>& forwarded() const { return forwarded_; }
  /// How many multicast LIDs every switch has room for.
  unsigned multicast_lids() const { return multicast_lids_; }

 private:
  std::shared_ptr<const sm::Snapshot> snapshot_;
  std::uint64_t prefix_ = kDefaultSubnetPrefix;
  unsigned multicast_lids_ = 0x3FFF;  ///< 0xC000 to 0xFFFE
  std::vector<Lid> forwarded_;
  /// Of the end ports and the links; the same one as long as they are.
  struct Index {
    Index(const sm::Subnet& subnet, std::span<const EndPort> ends);
    std::vector<std::uint32_t> by_lid;  ///< index + 1 into end_ports_; 0 is none
    base::GuidIndex by_guid;
    Links links;
  };
  bool same_context(const Directory* before) const;
  bool installed_is_proven() const;
  void take_qos_classes();
  void narrow_pkeys();
  std::vector<EndPort> end_ports_;
  /// Of ports that hold keys which they are not to have.
  std::map<std::pair<Guid, PortNum>, std::shared_ptr<const HeldPKeys>> narrowed_;
  std::vector<Entries> entries_;
  std::shared_ptr<const Index> index_;
  bool proven_ = false;
  bool drops_sls_ = false;
};

}  // namespace smd::sa
