// SPDX-License-Identifier: Apache-2.0
// The configuration is read again, or what that would change is said.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/difference.h"
#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/qos.h"
#include "smd/report/partitions.h"
#include "smd/report/preview.h"
#include "smd/report/qos_changes.h"
#include "smd/report/qos_tables.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

/// Partitions of the API whose members would be those of a file.
void add_taken_over(const PolicyState& policy_state, const policy::MergedPtr& merged,
                    std::vector<std::string>& differences) {
  if (!merged) return;
  const auto before =
      policy_state.merged ? policy_state.merged->taken_over : std::vector<config::TakenOver>{};
  for (const auto& one : merged->taken_over) {
    if (std::ranges::find(before, one.name, &config::TakenOver::name) != before.end()) continue;
    differences.push_back(fmt::format("partition {} of the API (P_Key {}): its members become those of {}",
                                      one.name, one.pkey, to_string(one.by, *merged)));
  }
}

/// Partitions of the API whose names a file would give to others, too.
void add_shared_names(const PolicyState& policy_state, const policy::MergedPtr& merged,
                      std::vector<std::string>& differences) {
  if (!merged) return;
  const auto before =
      policy_state.merged ? sm::shared_names(*policy_state.merged) : std::vector<sm::SharedName>{};
  for (const auto& one : sm::shared_names(*merged)) {
    if (std::ranges::find(before, one) == before.end()) differences.push_back(to_string(one));
  }
}

/// `qos` is null where there would be no routes.
Json effect_of(const SubnetView& view, const sm::Preview& preview, const policy::MergedPtr& partitions) {
  auto effect = sm::preview_json(preview, *view.snapshot->subnet);
  Json qos;
  if (preview.refused.empty()) {
    auto changes = sm::qos_changes(qos_of(view), qos_of(view, preview.decided, partitions.get(), {}));
    if (preview.vls_unproven) changes.warnings.emplace_back(sm::kVlsUnproven);
    if (sm::moves_paths(changes)) effect.as_object()["disturbs"] = true;
    qos = sm::qos_changes_json(changes);
  }
  effect.as_object().emplace("qos", std::move(qos));
  return effect;
}

/// A standby writes nothing: what differs from the fabric comes with a takeover, by our own files and not by
/// what the master has accepted.
bool comes_with_takeover(const SubnetView& view, const NextConfig& next) {
  if (!next.subnet || sm_state(view) != wire::SmState::standby) return false;
  return !replica::is_copy(view.replica.get()) || next.subnet->ha.policy == config::HaPolicy::local;
}

Json change_of(const SubnetView& view, const NextConfig& next, const Backend& backend) {
  const auto& now = view.snapshot;
  JsonObject found{
      {"subnet", text(view.name)}, {"leaves", !next.subnet}, {"takeover", comes_with_takeover(view, next)}};
  std::vector<std::string> differences;
  policy::MergedPtr partitions;
  const auto* before = view.policy_state ? view.policy_state->config.get() : next.before.get();
  if (next.subnet && before != nullptr) {
    const auto taken = config::reloadable(*before, *next.subnet);
    differences = view.policy_state ? policy::reload_differences(*before, taken, *view.policy_state->policies)
                                    : config::differences(*before, taken);
    for (const auto& one : config::differences(taken, *next.subnet))
      differences.push_back(one + ": needs a restart");
  }
  if (next.subnet && view.policy_state) {
    partitions = policy::merged_policy(*next.subnet, *view.policy_state->policies);
    add_taken_over(*view.policy_state, partitions, differences);
    add_shared_names(*view.policy_state, partitions, differences);
  }
  Json effect;
  if (next.subnet && view.policy_state && now && now->decided.routes && now->stored) {
    const auto& policies = *view.policy_state->policies;
    const auto config =
        policy::with_kept(std::make_shared<const config::SubnetConfig>(*next.subnet), policies);
    const auto preview = sm::preview({.subnet = *now->subnet,
                                      .decided = now->decided,
                                      .stored = *now->stored,
                                      .config = *config,
                                      .partitions = partitions,
                                      .parallel = backend.parallel()});
    for (const auto& one : preview.lost_foreign)
      differences.push_back(
          fmt::format("partition {} ({}): {}", one.partition, one.source, to_string(one, *now->subnet)));
    effect = effect_of(view, preview, partitions);
  }
  found.emplace("changed", sm::strings_json(differences));
  found.emplace("fabric", std::move(effect));
  return Json(std::move(found));
}

Answer wrong(const std::vector<std::string>& errors) {
  return error_of(422, "wrong_configuration", fmt::format("{}", fmt::join(errors, "\n")));
}

}  // namespace

Answer post_reload(const Question& question, Backend& backend) {
  const auto body = object_of(question.body, {"dry_run"});
  if (!body) return body.error();
  const auto dry_run = dry_run_in(*body);
  if (!dry_run) return dry_run.error();
  if (!*dry_run) {
    // The daemon reads them again, and notes in log and status what it refuses.
    const auto next = backend.next_configuration();
    backend.reload();
    if (!next) return wrong(next.error());
    return answer_of(
        Json(JsonObject{
            {"dry_run", false}, {"warnings", sm::strings_json(next->warnings)}, {"subnets", JsonArray{}}}),
        202);
  }
  const auto turn = backend.dump_turn();
  if (!turn.owns_lock()) return error_of(503, "busy", "a dump or another dry run is being made: try again");
  const auto next = backend.next_configuration();
  if (!next) return wrong(next.error());
  const auto views = backend.subnets();
  JsonArray subnets;
  for (std::size_t i = 0; i < std::min(views.size(), next->subnets.size()); ++i)
    subnets.push_back(change_of(*views[i], next->subnets[i], backend));
  return answer_of(Json(JsonObject{
      {"dry_run", true}, {"warnings", sm::strings_json(next->warnings)}, {"subnets", std::move(subnets)}}));
}

}  // namespace smd::api
