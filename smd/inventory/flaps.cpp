// SPDX-License-Identifier: Apache-2.0
#include "smd/inventory/flaps.h"

#include <utility>

namespace smd::sm::inline inventory {
namespace {

/// Takes out of `list` what `take` says yes to.
template <class Item, class Take>
void take_out(std::vector<Item>& list, const Take& take) {
  std::erase_if(list, [&](const Item& item) { return take(item); });
}

}  // namespace

void Flaps::count(const LinkChange& change, mad::TimePoint now) {
  auto& downs = links_[change.end].downs;
  while (!downs.empty() && now - downs.front() >= kFlapWindow) downs.pop_front();
  if (downs.size() == kMostCounted) downs.pop_front();
  downs.push_back(now);
}

std::vector<Flapping> Flaps::sift(Changes& changes, mad::TimePoint now) {
  for (const auto& change : changes.down) count(change, now);
  for (const auto& change : changes.up) {
    if (change.bounced) count(change, now);
  }
  std::vector<Flapping> found;
  const auto flapping = [&](const LinkEnd& end) -> Link* {
    const auto at = links_.find(end);
    if (at == links_.end()) return nullptr;
    return at->second.told || at->second.downs.size() >= kFlapDowns ? &at->second : nullptr;
  };
  const auto say = [&](const LinkChange& change, Link& link) {
    if (link.told && now - *link.told < kFlapWindow) return;
    link.told = now;
    found.push_back({change.end, change.peer, change.rate, link.downs.size()});
  };
  const auto link_taken = [&](std::optional<LinkChange> Link::* last,
                              std::optional<LinkChange> Link::* other) {
    return [&, last, other](const LinkChange& change) {
      auto* link = flapping(change.end);
      if (link == nullptr) return false;
      say(change, *link);
      link->*last = change;
      link->*other = std::nullopt;
      return true;
    };
  };
  const auto node_taken = [&](std::optional<NodeChange> Link::* last,
                              std::optional<NodeChange> Link::* other) {
    return [&, last, other](const NodeChange& change) {
      auto* link = change.behind ? flapping(*change.behind) : nullptr;
      if (link == nullptr || change.links > 1) return false;
      link->*last = change;
      link->*other = std::nullopt;
      return true;
    };
  };
  take_out(changes.down, link_taken(&Link::down, &Link::up));
  take_out(changes.up, link_taken(&Link::up, &Link::down));
  take_out(changes.gone, node_taken(&Link::gone, &Link::fresh));
  take_out(changes.fresh, node_taken(&Link::fresh, &Link::gone));
  return found;
}

Changes Flaps::quiet(mad::TimePoint now) {
  Changes told;
  for (auto at = links_.begin(); at != links_.end();) {
    auto& link = at->second;
    if (now - link.downs.back() < kFlapWindow) {
      ++at;
      continue;
    }
    if (link.down) told.down.push_back(*std::move(link.down));
    if (link.up) told.up.push_back(*std::move(link.up));
    if (link.gone) told.gone.push_back(*std::move(link.gone));
    if (link.fresh) told.fresh.push_back(*std::move(link.fresh));
    at = links_.erase(at);
  }
  return told;
}

}  // namespace smd::sm::inline inventory
