// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/order_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <ostream>
#include <utility>

#include "mad/base/parse.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/times.h"
#include "smd/cli/words.h"
#include "smd/report/json.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

/// Tells each subnet, and prints what it answers; `words` are those for people.
template <class Words>
Done tell_each(const Conversation& daemon, std::string_view method, std::string_view path,
               const json::object& body, bool as_json, std::ostream& out, const Words& words) {
  const auto text = json::serialize(body);
  return daemon.each([&](const std::string& name, bool) -> Done {
    const auto value = daemon.call(method, path_of(name, path), text);
    if (!value) return std::unexpected(value.error());
    const auto shown = words(*value);
    out << (as_json ? sm::to_text(*value) : fmt::format("{}: {}", name, shown)) << '\n';
    return {};
  });
}

json::object with_dry_run(json::object body, const OrderOptions& options) {
  if (options.dry_run) body["dry_run"] = true;
  return body;
}

/// What tables would converge to; empty where the daemon does not say.
std::string convergence_words(const json::value& found) {
  if (!found.is_object()) return {};
  const auto engine = text_of(found, "engine"), refused = text_of(found, "refused");
  if (engine.empty()) return fmt::format("; the tables would stay: {}", refused);
  const auto now = text_of(found, "engine_now");
  auto words = fmt::format(
      "; tables of {}{}: most loaded link {} instead of {}, {} changed, another SL for {}", engine,
      now == engine ? "" : " instead of " + now, text_of(found, "max_link_time"),
      text_of(found, "max_link_time_now"), counted(text_of(found, "entries_changed"), "entry", "entries"),
      counted(text_of(found, "pairs_with_other_sl"), "pair of switches", "pairs of switches"));
  if (!refused.empty()) return fmt::format("{}; the tables would stay: {}", words, refused);
  if (text_of(found, "interrupts") == "true")
    words +=
        "; no order of writes keeps all working routes, so that they are taken only for much less load or "
        "the proof of multicast trees";
  return words;
}

/// Of a light sweep; empty where sweeps are on.
std::string off_words(const json::value& answer) {
  const auto until = text_of(answer, "sweeps_off_until");
  if (until.empty()) return {};
  return fmt::format("; sweeps are off until {}: what it finds is not followed before (that of heavy is)",
                     until);
}

void add_dry_run(CLI::App& command, OrderOptions& options) {
  command.add_flag("--dry-run", options.dry_run, "says what would be done, and changes nothing");
}

}  // namespace

void add_resweep_options(CLI::App& command, OrderOptions& options) {
  command
      .add_option("KIND", options.sweep,
                  "light (the default): is all as it was; heavy: read everything; "
                  "converge: recomputed tables, in steps")
      ->check(CLI::IsMember({"light", "heavy", "converge"}));
  command.add_flag("--engine", options.engine,
                   "of converge: to another engine's tables too, where they are better by a tenth");
  add_dry_run(command, options);
}

void add_sweep_options(CLI::App& command, OrderOptions& options) {
  command.add_option("STATE", options.sweeps, "off: changes of the fabric are not followed; on: again")
      ->required()
      ->check(CLI::IsMember({"off", "on"}));
  command.add_option("--for", options.off_for, "of off: how long, as 30m, 1h30m or 2d; 7 days at most")
      ->type_name("TIME")
      ->check(why_no_time);
  add_dry_run(command, options);
}

void add_handover_options(CLI::App& command, OrderOptions& options) {
  command
      .add_option(
          "GUID", options.sm,
          "port GUID of the SM (default: a standby with a current copy, of several the one with the highest "
          "rank)")
      ->type_name("GUID")
      ->check([](const std::string& text) {
        return base::parse_guid(text) ? std::string() : fmt::format("{}: not a GUID", text);
      });
  command.add_flag("--force", options.force, "also where it lacks changes of this SM's state");
  add_dry_run(command, options);
}

void add_priority_options(CLI::App& command, OrderOptions& options) {
  command.add_option("N", options.priority, "0 to 15, of which the highest is master")
      ->required()
      ->check(CLI::Range(0, 15));
  add_dry_run(command, options);
}

std::string misuse_of(const OrderOptions& options) {
  constexpr std::int64_t kLongestOff = std::int64_t{7} * 86'400;
  if (options.engine && options.sweep != "converge") return "--engine is an option of converge";
  if (options.sweeps == "off" && options.off_for.empty()) return "off needs --for TIME, as 30m, 1h";
  if (seconds_of(options.off_for).value_or(0) > kLongestOff)
    return fmt::format("--for: found {}, allowed 7d at most", options.off_for);
  return options.sweeps == "on" && !options.off_for.empty() ? "--for is an option of off" : "";
}

Done resweep_command(const Conversation& daemon, const OrderOptions& options, bool as_json,
                     std::ostream& out) {
  const auto kind = options.sweep.empty() ? "light" : options.sweep;
  json::object body{{"sweep", kind}};
  if (options.engine) body["engine"] = true;
  return tell_each(daemon, "POST", "resweep", with_dry_run(std::move(body), options), as_json, out,
                   [&](const json::value& answer) {
                     return fmt::format("{} sweep {}{}{}", kind,
                                        options.dry_run ? "would be asked for (dry run)" : "asked for",
                                        convergence_words(member_of(answer, "converge")),
                                        kind == "light" ? off_words(answer) : "");
                   });
}

Done sweep_command(const Conversation& daemon, const OrderOptions& options, bool as_json, std::ostream& out) {
  std::int64_t seconds = 0;
  if (options.sweeps == "off") {
    const auto time = seconds_of(options.off_for);
    if (!time) return std::unexpected(why_no_time(options.off_for));
    seconds = *time;
  }
  return tell_each(daemon, "PUT", "sweeps", with_dry_run({{"off_for", seconds}}, options), as_json, out,
                   [&](const json::value& answer) {
                     const auto until = text_of(answer, "sweeps_off_until");
                     return fmt::format("sweeps {}{}{}", options.dry_run ? "would be " : "",
                                        until.empty() ? "on" : "off until " + until,
                                        options.dry_run ? " (dry run)" : "");
                   });
}

/// An SM is of one subnet: what the others say of it does not count where one has handed over.
Done handover_command(const Conversation& daemon, const OrderOptions& options, bool as_json,
                      std::ostream& out) {
  json::object body;
  if (!options.sm.empty()) body["guid"] = options.sm;
  if (options.force) body["force"] = true;
  bool given = false;
  const auto done = tell_each(
      daemon, "POST", "handover", with_dry_run(std::move(body), options), as_json, out,
      [&](const json::value& answer) {
        given = true;
        return fmt::format("HANDOVER to {} \"{}\" {}", text_of(answer, "to"), text_of(answer, "node"),
                           options.dry_run ? "would be asked for (dry run)" : "asked for");
      });
  return given && !options.sm.empty() ? Done{} : done;
}

Done priority_command(const Conversation& daemon, const OrderOptions& options, bool as_json,
                      std::ostream& out) {
  return tell_each(daemon, "PUT", "priority", with_dry_run({{"priority", options.priority}}, options),
                   as_json, out, [&](const json::value& answer) {
                     return fmt::format("priority {}, {} {}; until the next start{}",
                                        text_of(answer, "priority"), options.dry_run ? "is" : "was",
                                        text_of(answer, "was"), options.dry_run ? " (dry run)" : "");
                   });
}

}  // namespace smd::cli
