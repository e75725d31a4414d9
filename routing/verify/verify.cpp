// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/verify.h"

#include <utility>

#include "routing/verify/proof.h"
#include "routing/verify/trace_all.h"

namespace smd::routing {

Verification verify(const Topology& topology, const LidMap& lids, const Routes& routes,
                    const Parallel& parallel, std::stop_token stop) {
  if (auto proven = prove(topology, lids, routes, parallel, stop)) return *std::move(proven);
  return trace_all(topology, lids, routes, parallel, std::move(stop));
}

}  // namespace smd::routing
