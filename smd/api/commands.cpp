// SPDX-License-Identifier: Apache-2.0
// What changes something: a sweep that is asked for, what the log says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <expected>
#include <optional>
#include <string>

#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/log/modules.h"
#include "smd/report/converge_preview.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

std::optional<log::Level> level_of(std::string_view text) {
  for (const auto level : {log::Level::error, log::Level::warn, log::Level::info, log::Level::debug}) {
    if (config::to_string(level) == text) return level;
  }
  return std::nullopt;
}

Answer log_json(const log::Filter& filter, std::optional<bool> dry_run = std::nullopt) {
  JsonObject modules;
  for (const auto& [name, level] : filter.modules)
    modules.emplace(name, Json(std::string(config::to_string(level))));
  JsonObject guids;
  for (const auto& [guid, level] : filter.guids)
    guids.emplace(fmt::format("{}", guid), Json(std::string(config::to_string(level))));
  JsonObject shown{{"level", Json(std::string(config::to_string(filter.level)))},
                   {"modules", Json(std::move(modules))},
                   {"guids", Json(std::move(guids))}};
  if (dry_run) shown.emplace("dry_run", Json(*dry_run));
  return answer_of(Json(std::move(shown)));
}

/// Sets one place of the filter, or (no level) makes it what the configuration says.
template <class Map, class Key>
void set_one(Map& map, const Map& configured, const Key& key, std::optional<log::Level> level) {
  map.erase(key);
  if (level) {
    map.emplace(key, *level);
  } else if (const auto at = configured.find(key); at != configured.end()) {
    map.emplace(key, at->second);
  }
}

std::optional<sm::Resweep> resweep_of(std::string_view kind, bool engine) {
  if (engine) return kind == "converge" ? std::optional(sm::Resweep::converge_engine) : std::nullopt;
  if (kind == "light") return sm::Resweep::light;
  if (kind == "heavy") return sm::Resweep::heavy;
  if (kind == "converge") return sm::Resweep::converge;
  return std::nullopt;
}

/// While sweeps are off what a light one finds is not followed. Null: they are on.
Json sweeps_off_json(const SubnetView& view) {
  const auto until = std::chrono::floor<std::chrono::seconds>(view.sweeps_off_until).time_since_epoch();
  return sweeps_are_off(view) ? unix_json(until.count()) : Json{};
}

/// What converge would come to; null where nothing is decided yet.
Json convergence_of(const SubnetView& view, bool engine, const Backend& backend) {
  const auto& now = view.snapshot;
  if (!view.policy_state || !now || !now->decided.routes || !now->stored) return {};
  const auto config = policy::with_kept(view.policy_state->config, *view.policy_state->policies);
  return sm::converge_preview_json(sm::converge_preview({.subnet = *now->subnet,
                                                         .decided = now->decided,
                                                         .stored = *now->stored,
                                                         .config = *config,
                                                         .partitions = view.policy_state->merged,
                                                         .any_engine = engine,
                                                         .parallel = backend.parallel()}));
}

}  // namespace

Answer post_resweep(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto body = object_of(question.body, {"sweep", "engine", "dry_run"});
  if (!body) return body.error();
  const auto asked = text_in(*body, "sweep");
  if (!asked) return asked.error();
  const auto dry_run = dry_run_in(*body);
  if (!dry_run) return dry_run.error();
  const auto engine = flag_in(*body, "engine");
  if (!engine) return engine.error();
  const auto kind = asked->value_or("light");
  const auto sweep = resweep_of(kind, *engine);
  if (!sweep)
    return bad_body(
        fmt::format("sweep: found \"{}\", allowed {}", kind,
                    *engine ? "with engine only \"converge\"" : "\"light\", \"heavy\" or \"converge\""));
  const auto& waiting = chosen->view->waiting;
  if (waiting && (waiting->what == "port" || waiting->what == "sm_place" || waiting->what == "state"))
    return not_yet(*chosen->view, waiting->reason);
  JsonObject found{{"subnet", Json(chosen->view->name)},
                   {"sweep", Json(kind)},
                   {"sweeps_off_until", sweeps_off_json(*chosen->view)},
                   {"dry_run", Json(*dry_run)}};
  if (!*dry_run) {
    backend.resweep(chosen->index, *sweep);
    return answer_of(Json(std::move(found)), 202);
  }
  if (kind == "converge") {
    const auto turn = backend.dump_turn();
    if (!turn.owns_lock()) return error_of(503, "busy", "a dump or another dry run is being made: try again");
    found.emplace("converge", convergence_of(*chosen->view, *engine, backend));
  }
  return answer_of(Json(std::move(found)));
}

Answer put_sweeps(const Question& question, Backend& backend) {
  constexpr std::int64_t kLongestOff = std::int64_t{7} * 86'400;
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto body = object_of(question.body, {"off_for", "dry_run"});
  if (!body) return body.error();
  const auto dry_run = dry_run_in(*body);
  if (!dry_run) return dry_run.error();
  const auto* off_for = body->if_contains("off_for");
  const auto* seconds = off_for != nullptr ? off_for->if_int64() : nullptr;
  if (seconds == nullptr || *seconds < 0 || *seconds > kLongestOff)
    return bad_body(fmt::format("off_for: found {}, allowed whole seconds from 0 (on) to {}",
                                off_for != nullptr ? boost::json::serialize(*off_for) : "nothing",
                                kLongestOff));
  const auto& view = *chosen->view;
  if (!is_running(view)) return not_read(view);
  if (sm_state(view) != wire::SmState::master) return not_master(view, "it does not sweep; ask the master");
  const auto until = *seconds == 0 ? std::chrono::system_clock::time_point{}
                                   : std::chrono::system_clock::now() + std::chrono::seconds(*seconds);
  if (!*dry_run) backend.sweeps_off(chosen->index, until);
  const auto shown = std::chrono::duration_cast<std::chrono::seconds>(until.time_since_epoch()).count();
  return answer_of(Json(JsonObject{
      {"subnet", Json(view.name)}, {"sweeps_off_until", unix_json(shown)}, {"dry_run", Json(*dry_run)}}));
}

Answer get_log(const Question&, Backend& backend) { return log_json(backend.log_filter()); }

namespace {

struct LogChange {
  std::optional<log::Level> level;  ///< nothing: as configured
  std::optional<std::string> module;
  std::optional<Guid> guid;
};

std::expected<LogChange, Answer> log_change_of(const boost::json::object& body) {
  const auto bad = [](std::string_view message) { return std::unexpected(bad_body(message)); };
  const auto word = text_in(body, "level"), module = text_in(body, "module"), guid = text_in(body, "guid");
  for (const auto* text : {&word, &module, &guid})
    if (!*text) return std::unexpected(text->error());
  if (!*word) return bad("level: missing");
  LogChange change{.level = level_of(**word), .module = *module, .guid = {}};
  if (!change.level && **word != "default")
    return bad(
        fmt::format("level: found \"{}\", allowed \"error\", \"warn\", \"info\", \"debug\", or "
                    "\"default\" (as configured)",
                    **word));
  if (*module && std::ranges::find(log::kModules, **module) == log::kModules.end())
    return bad(fmt::format("module: found \"{}\", allowed {}", **module, fmt::join(log::kModules, ", ")));
  if (!*guid) return change;
  change.guid = base::parse_guid(**guid);
  if (!change.guid)
    return bad(fmt::format("guid: found \"{}\", allowed a GUID such as 0x0002c90300001234", **guid));
  return change;
}

}  // namespace

Answer put_log(const Question& question, Backend& backend) {
  const auto body = object_of(question.body, {"level", "module", "guid", "dry_run"});
  if (!body) return body.error();
  const auto dry_run = dry_run_in(*body);
  if (!dry_run) return dry_run.error();
  const auto change = log_change_of(*body);
  if (!change) return change.error();
  auto filter = backend.log_filter();
  const auto configured = backend.configured_log_filter();
  if (change->module) set_one(filter.modules, configured.modules, *change->module, change->level);
  if (change->guid) set_one(filter.guids, configured.guids, *change->guid, change->level);
  if (!change->module && !change->guid) {
    if (change->level) {
      filter.level = *change->level;
    } else {
      filter = configured;
    }
  }
  if (!*dry_run) backend.set_log_filter(filter);
  return log_json(filter, *dry_run);
}

}  // namespace smd::api
