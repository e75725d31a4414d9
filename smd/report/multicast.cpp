// SPDX-License-Identifier: Apache-2.0
#include "smd/report/multicast.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "smd/decide/multicast.h"

namespace smd::sm::inline reports {
namespace {

/// No spanning tree fits beside the unicast paths. Repairs keep entries and take what ways there are: fresh
/// tables of the same engine have more room as a rule.
std::string action_for_room(const RoutePart& routes) {
  if (routes.origin != RoutePart::Origin::fresh)
    return "fresh tables leave more room: smd resweep converge, or they come after routing.converge_after";
  const bool damaged =
      routes.topology && routes.reference && !routing::covers(*routes.reference, *routes.topology);
  std::string_view others = "updn or nue";
  if (routes.engine == "updn") others = "nue";
  if (routes.engine == "nue") others = "updn";
  return fmt::format("{}give the fabric an engine whose fresh tables leave room, as {}",
                     damaged ? "mend the cables that are missing, or " : "", others);
}

}  // namespace

void log_multicast(const log::Log& log, const Decided& decided) {
  if (!decided.multicast || !decided.multicast->context) return;
  const auto& context = *decided.multicast->context;
  if (context.not_proven == 0) return;
  const bool crowded = context.proof->rule == routing::McRule::none;
  log.warn("multicast.not_proven")
      .kv("engine", decided.routes->engine)
      .kv("trees", context.trees)
      .kv("not_proven", context.not_proven)
      .kv("reason", crowded
                        ? "every spanning tree that was tried closes a credit loop with unicast paths on SL 0"
                        : "these trees go another way than the proven ones")
      .kv("action", crowded ? action_for_room(*decided.routes)
                            : "they are replaced when the groups of the subnet manager before have ended");
}

}  // namespace smd::sm::inline reports
