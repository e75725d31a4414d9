// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports of a fabric as rules name them.

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/port_set.h"
#include "smd/decide/port_views.h"
#include "smd/snapshot/snapshot.h"

namespace smd::api {

class FabricPorts {
 public:
  /// `now` outlives it; none where it is null. O(ports).
  explicit FabricPorts(const sm::Snapshot* now);
  FabricPorts(const FabricPorts&) = delete;
  FabricPorts& operator=(const FabricPorts&) = delete;

  const config::PortIndex& index() const { return index_; }
  Guid self() const { return self_; }  ///< port GUID of the SM; 0: not known

 private:
  sm::PortViews views_;
  config::PortIndex index_;
  Guid self_;
};

/// Ports with the names that they point to.
struct NamedPorts {
  std::vector<config::PortView> ports{};
  std::shared_ptr<const std::deque<std::string>> names{};
};

/// Adapters and routers that are lost, do not answer, or cannot be reached because a switch does not answer.
std::set<Guid> absent_hosts(const sm::Snapshot& now);

/// The ports of those of `nodes` that are known adapters and routers and are absent. Their port GUIDs are not
/// kept with them. Of those that ports had LIDs for it is the node's GUID, else the one as many behind it as
/// the port's number, as adapters have them; where there is neither, the node's. Names have blanks for
/// control characters, as those of nodes that are there.
NamedPorts absent_ports(const sm::Snapshot& now, const std::set<Guid>& nodes);

}  // namespace smd::api
