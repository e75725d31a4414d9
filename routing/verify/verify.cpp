// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/verify.h"

#include <utility>

#include "routing/verify/proof.h"
#include "routing/verify/trace_all.h"

namespace smd::routing::inline verify {

Verification verify_routes(const RoutingContext& in, const Routes& routes) {
  if (auto proven = prove(in, routes)) return *std::move(proven);
  return trace_all(in, routes);
}

}  // namespace smd::routing::inline verify
