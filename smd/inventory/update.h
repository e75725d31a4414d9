// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update of the inventory by a sweep: what a Subnet has that was not there before, and what it does not
// have any more.

#include <optional>
#include <string>
#include <vector>

#include "smd/inventory/inventory.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline inventory {

/// A link that came or went. `end`: of a host's link the switch's, else the smaller one.
struct LinkChange {
  LinkEnd end, peer;
  LinkRate rate;                          ///< as it is; as it was where it is down
  LinkRate best{};                        ///< degraded: what both ends can
  LinkRate was{};                         ///< it has another rate than this before
  UnixTime since = 0;                     ///< it was up, or down, since then, at least; 0: not known
  bool bounced = false;                   ///< it was down between two looks
  PhysState phys = PhysState::no_change;  ///< of a link that is down, at `end`
  friend bool operator==(const LinkChange&, const LinkChange&) = default;
};

/// A node that came or went.
struct NodeChange {
  Guid node;
  NodeType type = NodeType::none;
  std::string name;
  std::optional<LinkEnd> behind{};  ///< the port that leads, or led, to it
  std::size_t links = 0;
  std::vector<Guid> hosts{};  ///< of a switch: adapters and routers that came or went with it, ascending
  UnixTime since = 0;         ///< new, rebooted: it was gone since then; 0: it was not, or not known
  friend bool operator==(const NodeChange&, const NodeChange&) = default;
};

struct Changes {
  std::vector<LinkChange> down, up, degraded;
  std::vector<NodeChange> gone, fresh, rebooted;
  bool cut_off = false;  ///< our own port has no link: nothing can be said of what lies behind it
  bool empty() const;    ///< `cut_off` does not count
  friend bool operator==(const Changes&, const Changes&) = default;
};

/// What of a Subnet is told by the reading of a sweep alone, before anything is written.
struct Restarts {
  std::vector<Guid> nodes;       ///< their LIDs are lost, ascending
  std::vector<LinkEnd> bounced;  ///< links that were down meanwhile, by the smaller end, ascending
};
/// Nodes without a LID (switches: or without forwarding tables) that had one in `before`, or that `known` has
/// where `before` (may be null) has not; links that were Active and are in Init again. Pure.
Restarts restarts(const Inventory& known, const Subnet* before, const Subnet& read);

struct UpdateInput {
  const Inventory& known;
  const Subnet* before = nullptr;  ///< that `known` was made from last; null: not known
  const Subnet& now;
  const Restarts& restarts;
  UnixTime time = 0;
};
struct InventoryUpdate {
  Inventory after;
  Changes changes;  ///< of an inventory that was empty: degraded links only
};
/// A node is gone when no path leads to it any more; one behind a node that does not answer while the link to
/// it is up is not: nothing is known of it. A port that leads elsewhere than before replaces what it led to.
/// Pure.
InventoryUpdate update_inventory(const UpdateInput& in);

/// The best rate that both ends of a link support and have enabled. Unknown parts where they do not say.
LinkRate best_rate(const Port& a, const Port& b);
/// The rate in use; unknown parts where the port has no link.
LinkRate rate_of(const Port& port);

}  // namespace smd::sm::inline inventory
