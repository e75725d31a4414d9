// SPDX-License-Identifier: Apache-2.0
#include "smd/report/adoption.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smd/decide/adopted_layers.h"

namespace smd::sm::inline reports {
namespace {

void log_unknown(const log::Log& log, const RoutePart& routes) {
  const auto unknown = paths_with_unknown_sl(routes);
  if (unknown == 0) return;
  log.warn("routing.sl_unknown")
      .kv("paths", unknown)
      .kv("of", routes.adopted_sls->paths)
      .kv("reason", routes.adopted_sls->sls.empty()
                        ? "the SLs that the SA before gave are not known"
                        : "the file of adopt.path_sl does not name them: they count as SL 0")
      .kv("action",
          "connections that were made before have to be made again; before the next takeover: smd import "
          "path-sl, and adopt.path_sl")
      .always();
}

void log_sls(const log::Log& log, const AdoptedSls& found) {
  if (found.sls.empty()) return;
  log.info("routing.path_sl_adopted")
      .kv("sls", fmt::format("{}", fmt::join(found.sls, ",")))
      .kv("paths", found.paths)
      .kv("with_another_sl_than_their_pair", found.otherwise)
      .always();
}

}  // namespace

void log_adoption(const log::Log& log, const RoutePart& routes) {
  if (routes.origin == RoutePart::Origin::adopted) {
    log.info("routing.adopted")
        .kv("entries_would_change", routes.would_change)
        .kv("engine_would_be", routes.would_be)
        .kv("command", "smd resweep converge")
        .always();
  } else if (!routes.not_repaired.empty()) {
    log.warn("routing.not_adopted").kv("engine", routes.engine).kv("reason", routes.not_repaired).always();
  }
  const bool kept = routes.origin != RoutePart::Origin::fresh;
  if (routes.adopted_sls && kept) log_sls(log, *routes.adopted_sls);
  log_unknown(log, routes);
}

void log_unknown_sls(const log::Log& log, const RoutePart& before, const RoutePart& now) {
  if (paths_with_unknown_sl(before) == 0) log_unknown(log, now);
}

}  // namespace smd::sm::inline reports
