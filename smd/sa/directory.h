// SPDX-License-Identifier: Apache-2.0
#pragma once
// A snapshot as a question sees it: its end ports by LID and by GUID.

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mad/base/gid.h"
#include "mad/base/id.h"
#include "smd/snapshot.h"

namespace smd::sa {

/// A port that has LIDs: of a CA or router, or port 0 of a switch.
struct EndPort {
  const sm::Node* node = nullptr;
  PortNum port;
  Guid guid;
  Lid lid;  ///< the base LID
  std::uint8_t lmc = 0;

  const sm::Port& info() const { return node->ports[port.value()]; }
  unsigned lids() const { return 1U << lmc; }
};

/// Made once for a snapshot, from then on read by any thread.
class Directory {
 public:
  explicit Directory(std::shared_ptr<const sm::Snapshot> snapshot);

  const sm::Snapshot& snapshot() const { return *snapshot_; }
  const sm::Subnet& subnet() const { return *snapshot_->subnet; }
  /// In the order of the nodes' GUIDs, then of the ports.
  const std::vector<EndPort>& end_ports() const { return end_ports_; }
  /// Any LID of a port.
  const EndPort* by_lid(Lid lid) const;
  const EndPort* by_guid(Guid port) const;
  /// Of a port GID with our prefix or with the default one.
  const EndPort* by_gid(const Gid& gid) const;
  Gid gid_of(const EndPort& port) const { return Gid::of(prefix_, port.guid); }
  /// The LID that a record about this port of this node is under; nothing where it has none.
  std::optional<Lid> lid_of(const sm::Node& node, PortNum port) const;
  std::uint64_t prefix() const { return prefix_; }
  /// How many multicast LIDs every switch has room for.
  unsigned multicast_lids() const { return multicast_lids_; }

 private:
  std::shared_ptr<const sm::Snapshot> snapshot_;
  std::uint64_t prefix_ = kDefaultSubnetPrefix;
  unsigned multicast_lids_ = 0x3FFF;  ///< 0xC000 to 0xFFFE
  std::vector<EndPort> end_ports_;
  std::vector<std::uint32_t> by_lid_;  ///< index + 1 into end_ports_; 0 is none
  std::unordered_map<Guid, std::uint32_t> by_guid_;
};

}  // namespace smd::sa
