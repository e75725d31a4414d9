// SPDX-License-Identifier: Apache-2.0
#include "smd/report/multicast.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "smd/decide/multicast.h"
#include "smd/decide/routes.h"

namespace smd::sm::inline reports {
namespace {

/// Those that leave room beside their unicast paths, but for the one in force.
std::string_view engines_with_room(std::string_view now) {
  return now == "updn" ? "nue" : now == "nue" ? "updn" : "updn or nue";
}

/// No spanning tree fits beside the unicast paths. Repairs keep entries and take what ways there are: fresh
/// tables of the same engine have more room as a rule, and where they have not, there is one more step.
std::string action_for_room(const RoutePart& routes) {
  const auto others = engines_with_room(routes.engine);
  if (routes.origin != RoutePart::Origin::fresh)
    return fmt::format(
        "fresh tables leave more room as a rule: smd resweep converge, or they come after "
        "routing.converge_after; if they do not, give the fabric another engine: {}",
        others);
  const bool damaged = lacks_any(routes);
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
