// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/verify.h"

#include <utility>

#include "routing/verify/path_layers.h"
#include "routing/verify/proof.h"
#include "routing/verify/trace_all.h"

namespace smd::routing::inline verify {

Verification verify_routes(const RoutingContext& in, const Routes& routes) {
  if (!routes.layers.by_pair.empty()) return verify_path_layers(in, routes);
  if (auto proven = prove(in, routes)) return *std::move(proven);
  auto found = trace_all(in, routes);
  if (found.layers == 1) {
    found.fixed_sl_ok = found.reverse_ok = found.credit_loops == 0;
    return found;
  }
  found.reverse_ok = find_layer_cycles(in, routes, WayBack::same_layer, true).count == 0;
  found.fixed_sl_ok = trace_all(in, {routes.rows, {}}).credit_loops == 0;
  return found;
}

}  // namespace smd::routing::inline verify
