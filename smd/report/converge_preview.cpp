// SPDX-License-Identifier: Apache-2.0
#include "smd/report/converge_preview.h"

#include <fmt/format.h>

#include <stop_token>

#include "routing/repair/guid_layers.h"
#include "smd/decide/decide.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/routes.h"
#include "smd/plan/lft_rounds.h"

namespace smd::sm::inline reports {
namespace {

/// Layers by pair of switches of the topology of `after`; 0 where the tables have one layer.
routing::PairLayers layers_on(const RoutePart& after, const RoutePart& part, const Stored& stored) {
  routing::PairLayers one(after.topology->switches(), 0);
  if (part.layers.by_pair.empty()) return one;
  return routing::layers_for(*after.topology, layers_in_force(&part, stored), one);
}

}  // namespace

ConvergePreview converge_preview(const ConvergePreviewInput& in) {
  using Fresh = DecideInput::Fresh;
  const auto& now = *in.decided.routes;
  ConvergePreview found{.engine_now = now.engine};
  const auto decision = decide({.subnet = in.subnet,
                                .config = in.config,
                                .stored = in.stored,
                                .fresh = in.any_engine ? Fresh::any_engine : Fresh::new_layers,
                                .partitions = in.partitions,
                                .previous = &in.decided,
                                .parallel = in.parallel});
  found.load_now = load_of(now, in.parallel, routing::LoadOfShifts::no).max_link_time;
  if (!decision || !decision->decided.routes) {
    found.refused = decision ? "no engine routes the fabric" : routing::to_string(decision.error());
    return found;
  }
  auto after = in.decided;
  after.routes = decision->decided.routes;
  const auto& then = *after.routes;
  found.engine = then.engine;
  found.load = load_of(then, in.parallel, routing::LoadOfShifts::no).max_link_time;
  found.entries_changed = entries_differing(now, then);
  found.pairs_with_other_sl = routing::pairs_differing(
      then.topology->switches(), layers_on(then, now, in.stored), layers_on(then, then, in.stored));
  found.interrupts = would_interrupt({.subnet = in.subnet, .decided = after}, in.parallel, std::stop_token{});
  const bool other = then.by_load && then.engine != now.engine && now.origin != RoutePart::Origin::adopted;
  if (other && !in.any_engine)
    found.refused =
        fmt::format("{} has less load, and an engine changes only when it is told to", then.engine);
  return found;
}

Json converge_preview_json(const ConvergePreview& preview) {
  return Json(JsonObject{{"refused", preview.refused.empty() ? Json{} : Json(preview.refused)},
                         {"engine_now", preview.engine_now},
                         {"engine", preview.engine.empty() ? Json{} : Json(preview.engine)},
                         {"max_link_time_now", preview.load_now},
                         {"max_link_time", preview.load},
                         {"entries_changed", preview.entries_changed},
                         {"pairs_with_other_sl", preview.pairs_with_other_sl},
                         {"interrupts", preview.interrupts}});
}

}  // namespace smd::sm::inline reports
