// SPDX-License-Identifier: Apache-2.0
#include "smd/report/engine_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/decide/installed_engine.h"

namespace smd::sm::inline reports {

void log_engine_change(const log::Log& log, const Subnet& subnet, const RoutePart& before,
                       const RoutePart& now, bool asked) {
  if (before.engine == now.engine) return;
  const auto refusal = std::ranges::find(now.fell_back_from, before.engine, &routing::Refusal::engine);
  const bool layered = before.layers.count > 1 && has_active_end_port(subnet);
  if (asked || !layered || refusal == now.fell_back_from.end()) {
    log.info("routing.engine_changed").kv("from", before.engine).kv("to", now.engine);
    return;
  }
  log.warn("routing.engine_changed")
      .kv("from", before.engine)
      .kv("to", now.engine)
      .kv("reason",
          fmt::format("{} {}; its tables had {} layers", before.engine, refusal->reason, before.layers.count))
      .kv("action",
          refusal->lacks_vls
              ? "give the port that is named as many VLs as it had, or take it out of the fabric; then: smd "
                "resweep converge --engine"
              : "mend what the engine lacks; then: smd resweep converge --engine");
}

}  // namespace smd::sm::inline reports
