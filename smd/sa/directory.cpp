// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/directory.h"

#include <algorithm>
#include <utility>

namespace smd::sa {

Directory::Directory(std::shared_ptr<const sm::Snapshot> snapshot) : snapshot_(std::move(snapshot)) {
  for (const auto& node : subnet().nodes) {
    if (node->switch_info) {
      multicast_lids_ = std::min<unsigned>(multicast_lids_, node->switch_info->multicast_fdb_cap);
    }
    for (unsigned number = 0; number < node->ports.size(); ++number) {
      const PortNum port{static_cast<std::uint8_t>(number)};
      if (!sm::is_end_port(*node, port)) continue;
      const auto& info = node->ports[number].info;
      if (!info.lid.unicast()) continue;
      const auto guid = node->is_switch() ? node->guid() : node->ports[number].guid;
      end_ports_.push_back({node.get(), port, guid, info.lid, info.lmc});
      if (node->guid() == subnet().sm_node && port == subnet().sm_port && info.gid_prefix != 0) {
        prefix_ = info.gid_prefix;
      }
    }
  }
  by_lid_.resize(std::size_t{kLastUnicastLid.value()} + 1);
  by_guid_.reserve(end_ports_.size());
  for (std::uint32_t i = 0; i < end_ports_.size(); ++i) {
    const auto& port = end_ports_[i];
    by_guid_.emplace(port.guid, i);
    for (unsigned lid = port.lid.value(); lid < port.lid.value() + port.lids() && lid < by_lid_.size();
         ++lid) {
      by_lid_[lid] = i + 1;
    }
  }
}

const EndPort* Directory::by_lid(Lid lid) const {
  if (lid.value() >= by_lid_.size() || by_lid_[lid.value()] == 0) return nullptr;
  return &end_ports_[by_lid_[lid.value()] - 1];
}

const EndPort* Directory::by_guid(Guid port) const {
  const auto found = by_guid_.find(port);
  return found != by_guid_.end() ? &end_ports_[found->second] : nullptr;
}

const EndPort* Directory::by_gid(const Gid& gid) const {
  if (gid.prefix() != prefix_ && gid.prefix() != kDefaultSubnetPrefix) return nullptr;
  return by_guid(gid.guid());
}

std::optional<Lid> Directory::lid_of(const sm::Node& node, PortNum port) const {
  const auto number = node.is_switch() ? std::size_t{0} : std::size_t{port.value()};
  if (number >= node.ports.size()) return std::nullopt;
  const auto lid = node.ports[number].info.lid;
  if (!lid.unicast()) return std::nullopt;
  return lid;
}

}  // namespace smd::sa
