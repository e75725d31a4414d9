// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/released_layers.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "routing/repair/guid_layers.h"

namespace smd::sm::inline decisions {
namespace {

/// When the last of its links went that traffic of hosts begins at; 0: one is there.
UnixTime quiet_since(const Inventory& known, Guid sw) {
  UnixTime of_hosts = 0, of_all = 0;
  bool has_hosts = false, hosts_up = false, any_up = false;
  known.for_each_link(sw, [&](const LinkEnd&, const KnownLink& link) {
    const auto* peer = known.find(link.peer.node);
    const bool to_host = peer != nullptr && !peer->is_switch();
    has_hosts = has_hosts || to_host;
    any_up = any_up || !link.lost();
    hosts_up = hosts_up || (to_host && !link.lost());
    of_all = std::max(of_all, link.lost_at);
    if (to_host) of_hosts = std::max(of_hosts, link.lost_at);
  });
  if (has_hosts) return hosts_up ? 0 : of_hosts;
  return any_up ? 0 : of_all;
}

/// One of its pairs is to come back to another layer than it has.
bool waits_for_its_first(const routing::GuidLayers& home, const routing::GuidLayers* now, std::size_t at) {
  if (now == nullptr) return false;
  const auto place = [&](Guid sw) -> std::optional<std::size_t> {
    const auto found = std::ranges::lower_bound(now->switches, sw);
    if (found == now->switches.end() || *found != sw) return std::nullopt;
    return static_cast<std::size_t>(found - now->switches.begin());
  };
  const auto own = place(home.switches[at]);
  for (std::size_t other = 0; own && other < home.switches.size(); ++other) {
    const auto there = place(home.switches[other]);
    const auto first = home.layers.at(at, other);
    const bool known = first != routing::kNoLayer;  // else the pair has had no route yet
    if (there && known && first != now->layers.at(*own, *there)) return true;
  }
  return false;
}

using LayersPtr = std::shared_ptr<const routing::GuidLayers>;

LayersPtr layers_without(const LayersPtr& known, const std::vector<Guid>& switches) {
  return known ? std::make_shared<const routing::GuidLayers>(routing::without(*known, switches)) : nullptr;
}

}  // namespace

std::size_t release_layers(Stored& stored, std::chrono::seconds keep, UnixTime now) {
  if (!stored.layers_home || !stored.inventory) return 0;
  const auto& home = *stored.layers_home;
  std::vector<Guid> gone, quiet;
  for (std::size_t i = 0; i < home.switches.size(); ++i) {
    const auto sw = home.switches[i];
    const auto since = quiet_since(*stored.inventory, sw);
    if (stored.inventory->find(sw) == nullptr) {
      gone.push_back(sw);
    } else if (since != 0 && now - since > keep.count() &&
               waits_for_its_first(home, stored.layers_now.get(), i)) {
      quiet.push_back(sw);
    }
  }
  const auto count = gone.size() + quiet.size();
  if (count == 0) return 0;
  if (!gone.empty()) stored.layers_now = layers_without(stored.layers_now, gone);
  quiet.insert(quiet.end(), gone.begin(), gone.end());
  stored.layers_home = layers_without(stored.layers_home, quiet);
  return count;
}

}  // namespace smd::sm::inline decisions
