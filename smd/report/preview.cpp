// SPDX-License-Identifier: Apache-2.0
#include "smd/report/preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/decide/decide.h"
#include "smd/plan/plan.h"

namespace smd::sm::inline reports {
namespace {

JsonArray keys_json(const std::vector<PKey>& keys) {
  JsonArray list;
  for (const auto key : keys) list.emplace_back(fmt::format("{}", key));
  return list;
}

void count_sets(const Plan& plan, Preview& into) {
  for (const auto& round : plan.rounds) {
    const std::string name(to_string(round.phase));
    const auto at = std::ranges::find(into.sets, name, &std::pair<std::string, std::size_t>::first);
    if (at == into.sets.end()) {
      into.sets.emplace_back(name, round.sets());
    } else {
      at->second += round.sets();
    }
  }
}

}  // namespace

bool Preview::disturbs() const {
  return disruption.any() || std::ranges::any_of(keys, [](const auto& one) { return !one.lost.empty(); });
}

Preview preview(const PreviewInput& in) {
  Preview found;
  const auto decision = decide({.subnet = in.subnet,
                                .config = in.config,
                                .stored = in.stored,
                                .partitions = in.partitions,
                                .previous = &in.decided,
                                .parallel = in.parallel});
  if (!decision) {
    found.refused = routing::to_string(decision.error());
    return found;
  }
  auto after = decision->decided;
  after.multicast = in.decided.multicast;
  const auto made = plan(
      {.subnet = in.subnet, .decided = after, .sls_before = in.decided.service_levels.get()}, in.parallel);
  found.disruption = disruption_of(in.subnet, after, made);
  found.engine_now = in.decided.routes->engine;
  found.engine = after.routes->engine;
  found.engine_waits = after.routes->engine_waits;
  if (const auto& keys = after.part<wire::PKeyTable>()) {
    for (auto& change : key_changes(in.subnet, *keys)) {
      if (change.of_end_port) found.keys.push_back(std::move(change));
    }
  }
  if (after.partitions)
    found.lost_foreign =
        lost_foreign_keys(in.subnet, in.stored, in.decided.partitions.get(), *after.partitions);
  count_sets(made, found);
  found.vls_unproven = made.vls_unproven;
  found.decided = std::move(after);
  return found;
}

Json max_vls_waits_json(const Decided& decided) {
  const auto* sls = decided.service_levels.get();
  if (sls == nullptr || sls->limit.waits == 0 || !decided.routes) return {};
  return Json(JsonObject{{"max_vls", sls->limit.waits}, {"layers", decided.routes->layers.vl_indexes()}});
}

Json preview_json(const Preview& preview, const Subnet& subnet) {
  JsonArray keys, sets;
  for (const auto& one : preview.keys) {
    const auto* node = subnet.find(one.at.node);
    keys.push_back(Json(JsonObject{{"node_guid", fmt::format("{}", one.at.node)},
                                   {"name", node != nullptr ? node->description : std::string()},
                                   {"port", one.at.port.value()},
                                   {"lost", keys_json(one.lost)},
                                   {"gained", keys_json(one.gained)}}));
  }
  for (const auto& [what, count] : preview.sets)
    sets.push_back(Json(JsonObject{{"phase", what}, {"sets", count}}));
  const auto& disruption = preview.disruption;
  return Json(JsonObject{{"refused", preview.refused.empty() ? Json{} : Json(preview.refused)},
                         {"disturbs", preview.disturbs()},
                         {"lids_changed", disruption.lids_changed},
                         {"entries_in_use", disruption.entries_in_use},
                         {"entries_changed", disruption.entries_changed},
                         {"links_taken_down", strings_json(disruption.links)},
                         {"engine_now", preview.engine_now},
                         {"engine", preview.engine},
                         {"engine_waits", preview.engine_waits.empty() ? Json{} : Json(preview.engine_waits)},
                         {"max_vls_waits", max_vls_waits_json(preview.decided)},
                         {"pkeys", std::move(keys)},
                         {"sets", std::move(sets)}});
}

}  // namespace smd::sm::inline reports
