// SPDX-License-Identifier: Apache-2.0
// The routes in force: how they were made, and what was proven of them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "routing/quality/quality.h"
#include "routing/routes.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/decide/adopted_layers.h"
#include "smd/decide/multicast.h"
#include "smd/decide/route_chain.h"
#include "smd/report/preview.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

Json routing_json(const sm::Decided& decided) {
  if (!decided.routes) return {};
  const auto& routes = *decided.routes;
  JsonArray refused;
  for (const auto& refusal : routes.fell_back_from) {
    refused.push_back(Json(JsonObject{{"engine", text(refusal.engine)}, {"reason", text(refusal.reason)}}));
  }
  const bool proven = routes.verification.ok();
  const auto* trees = decided.multicast ? decided.multicast->context.get() : nullptr;
  const auto found = proven ? Json{} : Json(routing::describe(routes.verification, *routes.topology));
  const auto unused = sm::options_without_use(routes);
  return Json(JsonObject{{"engine", text(routes.engine)},
                         {"shape", routes.shape.empty() ? Json{} : text(routes.shape)},
                         {"why", routes.why.empty() ? Json{} : text(routes.why)},
                         {"unused_options", unused.empty() ? Json{} : text(unused)},
                         {"engine_waits", routes.engine_waits.empty() ? Json{} : text(routes.engine_waits)},
                         {"max_vls_waits", sm::max_vls_waits_json(decided)},
                         {"verified", Json(proven)},
                         {"found", found},
                         {"layers", number(routes.layers.count)},
                         {"fixed_sl_ok", Json(routes.verification.fixed_sl_ok)},
                         {"pairs_with_stale_sl", number(routes.pairs_moved)},
                         {"host_pairs_with_stale_sl", number(routes.host_pairs_moved)},
                         {"paths_with_unknown_sl", number(sm::paths_with_unknown_sl(routes))},
                         {"multicast_trees_not_proven", number(trees != nullptr ? trees->not_proven : 0)},
                         {"fell_back_from", Json(std::move(refused))}});
}

namespace {

std::string_view word_of(sm::RoutePart::Origin origin) {
  switch (origin) {
    case sm::RoutePart::Origin::fresh:
      return "fresh";
    case sm::RoutePart::Origin::repaired:
      return "repaired";
    case sm::RoutePart::Origin::adopted:
      return "adopted";
  }
  return "unknown";
}

JsonArray switches_json(const sm::Snapshot& now, const std::vector<Guid>& guids) {
  JsonArray list;
  for (const auto one : guids)
    list.push_back(Json(JsonObject{{"guid", guid(one)}, {"name", text(name_of(now, one))}}));
  return list;
}

/// What is between the tables in force and those that the engine would compute now.
Json convergence_json(const sm::RoutePart& routes) {
  const bool adopted = routes.origin == sm::RoutePart::Origin::adopted;
  return Json(JsonObject{{"tables", text(word_of(routes.origin))},
                         {"not_repaired", routes.not_repaired.empty() ? Json{} : text(routes.not_repaired)},
                         {"would_change", adopted ? number(routes.would_change) : Json{}},
                         {"would_be", adopted ? text(routes.would_be) : Json{}}});
}

Json proof_json(const routing::Verification& found) {
  return Json(JsonObject{{"host_pairs_unreachable", number(found.host_pairs_unreachable)},
                         {"unreachable_switch_pairs", number(found.unreachable_switch_pairs)},
                         {"unrouted_by_rule", number(found.unrouted_by_rule)},
                         {"aggregation_pairs_unreachable", number(found.aggregation_pairs_unreachable)},
                         {"loops", number(found.loops)},
                         {"dead_ends", number(found.dead_ends)},
                         {"credit_loops", number(found.credit_loops)},
                         {"management_credit_loops", number(found.management_credit_loops)},
                         {"vls", number(found.vls)},
                         {"layers", number(found.layers)},
                         {"fixed_sl_ok", Json(found.fixed_sl_ok)},
                         {"reverse_ok", Json(found.reverse_ok)}});
}

/// Of links between switches, one direction each.
Json link_paths_json(const sm::RoutePart& part, const routing::Parallel& parallel) {
  routing::Routes routes{.rows = {}, .layers = part.layers};
  for (const auto& row : part.rows) routes.rows.push_back(row.row);
  const auto paths = routing::link_paths({*part.topology, *part.lid_map, parallel}, routes,
                                         routing::hosts_in_file_order(*part.topology));
  const auto all = std::accumulate(paths.begin(), paths.end(), std::uint64_t{0});
  const auto links = static_cast<double>(std::max<std::size_t>(paths.size(), 1));
  const auto most = paths.empty() ? 0 : *std::ranges::max_element(paths);
  return Json(JsonObject{{"max_link_paths", number(most)},
                         {"mean_link_paths", Json(static_cast<double>(all) / links)}});
}

}  // namespace

Answer get_routing(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto measures = flag_of(question, "quality");
  if (!measures) return measures.error();
  const auto& now = chosen->view->snapshot;
  if (!now) return not_read(*chosen->view);
  if (!now->decided.routes || !now->decided.routes->topology || !now->decided.routes->lid_map)
    return error_of(409, "nothing_decided",
                    fmt::format("{}: no routes were decided yet", chosen->view->name));
  const auto& routes = *now->decided.routes;
  auto shown = routing_json(now->decided);
  auto& object = shown.as_object();
  object.emplace("subnet", text(chosen->view->name));
  object.emplace("switches", number(routes.rows.size()));
  object.emplace("lft_top", number(routes.top.value()));
  object.emplace("vls", number(routes.vls));
  object.emplace("by_load", Json(routes.by_load));
  object.emplace("proof", proof_json(routes.verification));
  object.emplace("convergence", convergence_json(routes));
  object.emplace("roots", Json(switches_json(*now, routes.roots)));
  object.emplace("waiting", Json(switches_json(*now, routes.waiting)));
  object.emplace("beyond", Json(switches_json(*now, routes.beyond)));
  Json quality;
  if (*measures) {
    const auto turn = backend.dump_turn();  // as large a work as a dump
    if (!turn.owns_lock()) return error_of(503, "busy", "other tables are being measured: try again later");
    quality = link_paths_json(routes, backend.parallel());
  }
  object.emplace("quality", std::move(quality));
  return answer_of(shown);
}

}  // namespace smd::api
