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
  const bool known = refusal != now.fell_back_from.end();
  const bool layered = (before.layers.count > 1 || now.layers.count > 1) && has_active_end_port(subnet);
  if (asked || !layered || !known) {
    auto line = log.info("routing.engine_changed");
    line.kv("from", before.engine).kv("to", now.engine);
    if (!asked && known) line.kv("reason", fmt::format("{}: {}", before.engine, refusal->reason));
    return;
  }
  const auto count = before.layers.count;
  log.warn("routing.engine_changed")
      .kv("from", before.engine)
      .kv("to", now.engine)
      .kv("reason", fmt::format("{}: {}; its tables had {} layer{}", before.engine, refusal->reason, count,
                                count == 1 ? "" : "s"))
      .kv("action",
          refusal->lacks_vls
              ? "give the port that is named as many VLs as it had, or take it out of the fabric; then: smd "
                "resweep converge --engine"
              : "mend what the engine lacks: it comes back when nothing is missing, at once by: smd resweep "
                "converge --engine");
}

}  // namespace smd::sm::inline reports
