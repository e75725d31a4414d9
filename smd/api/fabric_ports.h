// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports of a fabric as rules name them.

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
  Guid self_{};
};

}  // namespace smd::api
