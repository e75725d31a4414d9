// SPDX-License-Identifier: Apache-2.0
// What changes something: a sweep that is asked for, what the log says.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/lost.h"
#include "smd/log/modules.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

namespace json = boost::json;

/// The members of the body by name, all of them texts and all of them known. An empty body has none.
std::expected<std::map<std::string, std::string>, Answer> members(std::string_view body,
                                                                  std::span<const std::string_view> known) {
  std::map<std::string, std::string> found;
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return found;
  const auto value = parse_json(body);
  if (!value) return std::unexpected(bad_body(value.error()));
  if (!value->is_object()) return std::unexpected(bad_body("the body must be an object"));
  for (const auto& [key, member] : value->get_object()) {
    const std::string name(key);
    if (std::ranges::find(known, name) == known.end())
      return std::unexpected(
          bad_body(fmt::format("{}: not known; there are {}", name, fmt::join(known, ", "))));
    if (!member.is_string()) return std::unexpected(bad_body(fmt::format("{}: must be a string", name)));
    found[name] = std::string(member.get_string());
  }
  return found;
}

std::optional<log::Level> level_of(std::string_view text) {
  for (const auto level : {log::Level::error, log::Level::warn, log::Level::info, log::Level::debug}) {
    if (config::to_string(level) == text) return level;
  }
  return std::nullopt;
}

Answer log_json(const log::Filter& filter) {
  JsonObject modules;
  for (const auto& [name, level] : filter.modules)
    modules.emplace(name, Json(std::string(config::to_string(level))));
  JsonObject guids;
  for (const auto& [guid, level] : filter.guids)
    guids.emplace(fmt::format("{}", guid), Json(std::string(config::to_string(level))));
  return answer_of(Json(JsonObject{{"level", Json(std::string(config::to_string(filter.level)))},
                                   {"modules", Json(std::move(modules))},
                                   {"guids", Json(std::move(guids))}}));
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

std::optional<sm::Resweep> resweep_of(std::string_view kind) {
  if (kind == "light") return sm::Resweep::light;
  if (kind == "heavy") return sm::Resweep::heavy;
  if (kind == "converge") return sm::Resweep::converge;
  return std::nullopt;
}

}  // namespace

Answer post_resweep(const Question& question, Backend& backend) {
  static constexpr std::array<std::string_view, 1> kKnown{"sweep"};
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto asked = members(question.body, kKnown);
  if (!asked) return asked.error();
  const auto at = asked->find("sweep");
  const std::string kind = at == asked->end() ? "light" : at->second;
  const auto sweep = resweep_of(kind);
  if (!sweep)
    return bad_body(fmt::format("sweep: found \"{}\", allowed \"light\", \"heavy\" or \"converge\"", kind));
  const auto& waiting = chosen->view->waiting;
  if (waiting && (waiting->what == "port" || waiting->what == "sm_place" || waiting->what == "state"))
    return error_of(409, "waiting", fmt::format("{} waits: {}", chosen->view->name, waiting->reason));
  backend.resweep(chosen->index, *sweep);
  return answer_of(Json(JsonObject{{"subnet", Json(chosen->view->name)}, {"sweep", Json(kind)}}), 202);
}

Answer put_sweeps(const Question& question, Backend& backend) {
  constexpr std::int64_t kLongestOff = std::int64_t{7} * 86'400;
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto body = parse_json(question.body);
  if (!body) return bad_body(body.error());
  const auto* object = body->if_object();
  const auto* off_for = object != nullptr && object->size() == 1 ? object->if_contains("off_for") : nullptr;
  const auto* seconds = off_for != nullptr ? off_for->if_int64() : nullptr;
  if (seconds == nullptr || *seconds < 0 || *seconds > kLongestOff)
    return bad_body(fmt::format("off_for: seconds, 0 (on) to {}", kLongestOff));
  const auto& view = *chosen->view;
  if (!is_running(view) || view.snapshot->state != wire::SmState::master)
    return error_of(409, "not_master",
                    fmt::format("{}: this SM is not master: it does not sweep", view.name));
  const auto until = *seconds == 0 ? std::chrono::system_clock::time_point{}
                                   : std::chrono::system_clock::now() + std::chrono::seconds(*seconds);
  backend.sweeps_off(chosen->index, until);
  const auto shown = std::chrono::duration_cast<std::chrono::seconds>(until.time_since_epoch()).count();
  return answer_of(Json(JsonObject{{"subnet", Json(view.name)}, {"sweeps_off_until", unix_json(shown)}}));
}

Answer get_log(const Question&, Backend& backend) { return log_json(backend.log_filter()); }

Answer put_log(const Question& question, Backend& backend) {
  static constexpr std::array<std::string_view, 3> kKnown{"level", "module", "guid"};
  const auto asked = members(question.body, kKnown);
  if (!asked) return asked.error();
  if (!asked->contains("level")) return bad_body("level: missing");
  const auto& word = asked->at("level");
  const auto level = level_of(word);
  if (!level && word != "default") {
    return bad_body(
        fmt::format("level: found \"{}\", allowed \"error\", \"warn\", \"info\", \"debug\", or "
                    "\"default\" (as configured)",
                    word));
  }
  auto filter = backend.log_filter();
  const auto configured = backend.configured_log_filter();
  if (const auto module = asked->find("module"); module != asked->end()) {
    if (std::ranges::find(log::kModules, module->second) == log::kModules.end()) {
      return bad_body(
          fmt::format("module: found \"{}\", allowed {}", module->second, fmt::join(log::kModules, ", ")));
    }
    set_one(filter.modules, configured.modules, module->second, level);
  }
  if (const auto text = asked->find("guid"); text != asked->end()) {
    const auto guid = base::parse_guid(text->second);
    if (!guid) {
      return bad_body(
          fmt::format("guid: found \"{}\", allowed a GUID such as 0x0002c90300001234", text->second));
    }
    set_one(filter.guids, configured.guids, *guid, level);
  }
  if (!asked->contains("module") && !asked->contains("guid")) {
    if (level) {
      filter.level = *level;
    } else {
      filter = configured;
    }
  }
  backend.set_log_filter(filter);
  return log_json(filter);
}

}  // namespace smd::api
