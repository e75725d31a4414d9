// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/liveness.h"

#include <algorithm>

namespace smd::sa {
namespace {

/// Whether the switch that a port was cabled to shows that the link is down. Where that switch cannot be seen
/// (it is gone, silent, or behind a cut, be it the SM's own cable), nothing is known of the port.
bool is_cut(const sm::Subnet& subnet, const sm::PeerPort& place) {
  const auto* node = subnet.find(place.node);
  const auto number = place.port.value();
  if (node == nullptr || number == 0) return false;
  return number < node->ports.size() && node->ports[number].known && !node->ports[number].linked();
}

}  // namespace

void Liveness::look(const Directory& directory) {
  next_end_ = 0;
  for (const auto& port : directory.end_ports()) {
    // A switch's port 0 goes with the switch.
    places_[port.guid] = port.info().peer.value_or(sm::PeerPort{port.node->guid(), PortNum{0}});
  }
  std::erase_if(silent_since_, [&](const auto& entry) { return directory.by_guid(entry.first) != nullptr; });
  std::erase_if(gone_, [&](Guid port) { return directory.by_guid(port) != nullptr; });
}

bool Liveness::has_left(const Directory& directory, Guid port, std::int64_t now, std::int64_t grace) {
  if (gone_.contains(port)) return true;
  const auto place = places_.find(port);
  const auto since = silent_since_.try_emplace(port, now).first->second;
  const bool cut = place != places_.end() && is_cut(directory.subnet(), place->second);
  if (cut || now - since >= grace) {
    silent_since_.erase(port);
    places_.erase(port);
    gone_.insert(port);
    return true;
  }
  next_end_ = next_end_ == 0 ? since + grace : std::min(next_end_, since + grace);
  return false;
}

}  // namespace smd::sa
