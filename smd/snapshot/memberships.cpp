// SPDX-License-Identifier: Apache-2.0
#include "smd/snapshot/memberships.h"

#include <algorithm>
#include <utility>

namespace smd::sm::inline snapshots {
namespace {

/// Rows of lost ports that are kept before it is looked which nodes are forgotten.
constexpr std::size_t kRowsUnpruned = 1024;

/// Names of the partitions that are decided for the port, in the order of their P_Keys.
std::vector<std::string> decided_for(const PartitionPart& part, Guid port_guid, const LinkEnd& end) {
  std::vector<std::string> names;
  const auto add = [&](PKey key) {
    if (const auto* partition = part.policy->find(key); partition != nullptr)
      names.push_back(partition->name);
  };
  const auto placed = std::ranges::equal_range(part.placed, port_guid, {}, &PartitionPart::Placed::port);
  for (const auto& one : placed) add(one.key);
  for (const auto& one : part.no_room) {
    if (one.at == PeerPort{end.node, end.port}) std::ranges::for_each(one.left_out, add);
  }
  return names;
}

}  // namespace

void Memberships::watch(const std::string& subnet, Snapshots snapshots) {
  const std::scoped_lock lock(mutex_);
  watched_[subnet].snapshots = std::move(snapshots);
}

void Memberships::forget(const std::string& subnet, const Snapshots& snapshots) {
  const std::scoped_lock lock(mutex_);
  const auto at = watched_.find(subnet);
  if (at != watched_.end() && at->second.snapshots == snapshots) watched_.erase(at);
}

events::MembersOf Memberships::of(const log::Record& record) {
  const auto end = event_end(record.fields, "guid", "port");
  const auto peer = event_end(record.fields, "peer_guid", "peer_port");
  if (!end && !peer) return {};
  const std::scoped_lock lock(mutex_);
  const auto at = watched_.find(record.subnet);
  const auto now = at != watched_.end() ? at->second.snapshots->get() : nullptr;
  if (!now || !now->subnet) return {};
  events::MembersOf found;
  if (end) found.end = names_of(at->second, *now, *end);
  if (peer) found.peer = names_of(at->second, *now, *peer);
  return found;
}

/// Takes out ports of nodes that do not belong to the fabric any more, when rows have doubled.
void Memberships::prune(Watched& watched, const Snapshot& now) {
  if (watched.last.size() <= 2 * watched.pruned_at + kRowsUnpruned) return;
  std::erase_if(watched.last, [&](const auto& row) {
    const auto node = row.first.node;
    return now.subnet->find(node) == nullptr && (!now.inventory || now.inventory->find(node) == nullptr);
  });
  watched.pruned_at = watched.last.size();
}

/// Of a node: those of all its ports together.
std::optional<Memberships::Names> Memberships::names_of(Watched& watched, const Snapshot& now,
                                                        const LinkEnd& end) {
  const auto* node = now.subnet->find(end.node);
  if (end.port != PortNum{} || (node != nullptr && node->is_switch()))
    return names_of_port(watched, now, node, end);
  std::optional<Names> all;
  const auto add = [&](PortNum port) {
    auto names = names_of_port(watched, now, node, {end.node, port});
    if (!names) return;
    if (!all) all.emplace();
    all->insert(all->end(), names->begin(), names->end());
  };
  const std::size_t ports = node != nullptr ? node->ports.size() : 0;
  for (std::size_t port = 1; port < ports; ++port) add(PortNum{static_cast<std::uint8_t>(port)});
  if (node == nullptr) {
    std::vector<PortNum> lost;
    for (auto at = watched.last.lower_bound(end); at != watched.last.end() && at->first.node == end.node;
         ++at)
      lost.push_back(at->first.port);
    std::ranges::for_each(lost, add);
  }
  return all;
}

std::optional<Memberships::Names> Memberships::names_of_port(Watched& watched, const Snapshot& now,
                                                             const Node* node, const LinkEnd& end) {
  const auto* part = now.decided.partitions.get();
  const std::size_t number = end.port.value();
  const auto* port = node != nullptr && number < node->ports.size() ? &node->ports[number] : nullptr;
  const bool decided = part != nullptr && part->policy && part->managed;
  if (decided && port != nullptr && (port->linked() || node->is_switch())) {
    if (node->is_switch() && number != 0) return Names{};
    auto names = decided_for(*part, port->guid, end);
    watched.last[end] = names;
    prune(watched, now);
    return names;
  }
  const auto last = watched.last.find(end);
  return last != watched.last.end() ? std::optional(last->second) : std::nullopt;
}

}  // namespace smd::sm::inline snapshots
