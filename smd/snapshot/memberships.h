// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which partitions a port is in while something happens to it: who may read of an event is decided by that,
// not when it is read.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "smd/events/event.h"
#include "smd/snapshot/event_end.h"
#include "smd/snapshot/snapshot.h"

namespace smd::sm::inline snapshots {

/// Any thread.
class Memberships {
 public:
  using Snapshots = std::shared_ptr<const Published<Snapshot>>;

  /// Looks the ports of this subnet's events up in what is published there.
  void watch(const std::string& subnet, Snapshots snapshots);
  /// Nothing where the subnet is looked up in others by now.
  void forget(const std::string& subnet, const Snapshots& snapshots);

  /// The partitions of the ports that the line names. A port that is lost has those that it had when a line
  /// named it last; nothing: not known, as no port is before the first sweep.
  events::MembersOf of(const log::Record& record);

 private:
  using Names = std::vector<std::string>;
  struct Watched {
    Snapshots snapshots;
    std::map<LinkEnd, Names> last;  ///< of ports that lines have named
    std::size_t pruned_at = 0;      ///< rows of `last` that were left when it was pruned
  };
  static void prune(Watched& watched, const Snapshot& now);
  static std::optional<Names> names_of(Watched& watched, const Snapshot& now, const LinkEnd& end);
  static std::optional<Names> names_of_port(Watched& watched, const Snapshot& now, const Node* node,
                                            const LinkEnd& end);

  std::mutex mutex_;
  std::map<std::string, Watched> watched_;
};

}  // namespace smd::sm::inline snapshots
