// SPDX-License-Identifier: Apache-2.0
#pragma once
// The replication of a subnet as readers on other threads see it.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "mad/base/published.h"
#include "smd/replica/image.h"

namespace smd::replica {

/// A standby, as the master sees it.
struct StandbyView {
  std::string name;                ///< its address
  Guid port{};                     ///< of its SM; 0: not known
  Position acked{};                ///< what is on its disk
  std::uint64_t behind = 0;        ///< transactions that it has not acknowledged
  std::chrono::nanoseconds lag{};  ///< how long the oldest of them has been waiting
};

struct ReplicaView {
  enum class Role : std::uint8_t {
    none,     ///< no master is known
    source,   ///< we are master, and standbys copy
    current,  ///< we have all that the master has said to have committed
    behind,   ///< we are copying
    lost      ///< there is no connection to the master
  };
  Role role = Role::none;
  std::string mode;        ///< as the configuration names it
  bool in_sync = true;     ///< of mode sync and sync-strict: answers wait for a standby's disk
  Position position{};     ///< ours
  Position latest{};       ///< the master's, as far as we know
  Guid source{};           ///< the SM that position is of
  std::string master;      ///< its address, or why there is no connection
  std::int64_t heard = 0;  ///< seconds since 1970 of its last word; 0: none
  Digests digests;         ///< of the last comparison
  bool forwards = true;    ///< false: the master is of a version that takes no changes of clients from us
  std::string refused;     ///< the connection that was refused last, and why; empty: none for a minute
  std::string failure;     ///< why nothing can be copied: [ha] cannot be used, or etcd; empty: it can
  bool copied = true;      ///< false: the master is never copied, and what is kept is ours
  bool direct = true;      ///< false: through etcd, so that `master` is not where the master is
  std::vector<StandbyView> standbys;
};
using PublishedReplica = base::Published<ReplicaView>;

/// What this SM has is a copy of its master's. `view` may be null: nothing is copied.
inline bool is_copy(const ReplicaView* view) {
  return view != nullptr && view->copied && view->role != ReplicaView::Role::none &&
         view->role != ReplicaView::Role::source;
}

/// As the status of the API names it. Static storage.
std::string_view to_string(ReplicaView::Role role);

}  // namespace smd::replica
