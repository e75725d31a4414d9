// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traces packets through the tables, one after another.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline quality {

class RouteTracer {
 public:
  /// All three outlive it.
  RouteTracer(const Topology& topology, const LidMap& lids, const Routes& routes)
      : topology_(topology), lids_(lids), routes_(routes) {}

  /// The channels from switch `s` to the end of the path to `lid`; empty if it does not arrive, see
  /// arrived(). Valid until the next call.
  std::span<const std::uint32_t> trace(SwitchIndex s, Lid lid) {
    path_.clear();
    const auto to = lids_.destination(lid);
    for (std::size_t hops = 0; hops <= topology_.switches(); ++hops) {
      const auto port = PortNum{entry(s < routes_.rows.size() ? routes_.rows[s].get() : nullptr, lid)};
      const auto peer = topology_.peer(s, port);
      if (peer.sw == kNoSwitch) {
        arrived_ = to.sw == s && to.port == port;
        if (!arrived_) path_.clear();
        return path_;
      }
      path_.push_back(static_cast<std::uint32_t>(topology_.channel(s, port)));
      s = peer.sw;
    }
    arrived_ = false;
    path_.clear();
    return path_;
  }
  bool arrived() const { return arrived_; }

 private:
  const Topology& topology_;
  const LidMap& lids_;
  const Routes& routes_;
  std::vector<std::uint32_t> path_;
  bool arrived_ = false;
};

}  // namespace smd::routing::inline quality
