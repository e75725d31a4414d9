// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/ask.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <expected>
#include <functional>
#include <ostream>

#include "mad/base/escaped.h"
#include "mad/base/parse.h"
#include "smd/api/client.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/conversation.h"
#include "smd/cli/dump_command.h"
#include "smd/cli/lost_node.h"
#include "smd/cli/order_commands.h"
#include "smd/cli/paint.h"
#include "smd/cli/status_check.h"
#include "smd/cli/times.h"
#include "smd/cli/why_command.h"
#include "smd/cli/words.h"
#include "smd/dump/dumps.h"
#include "smd/log/modules.h"
#include "smd/report/json.h"

namespace smd::cli {
namespace {

namespace json = boost::json;
constexpr std::array<std::string_view, 17> kCommands{
    "status", "ports", "partitions", "sms",  "handover", "priority", "resweep", "accept", "log",
    "dump",   "token", "events",     "wait", "why",      "sweep",    "port",    "reload"};

/// A plugin of Nagios has to answer before Nagios gives it up (10 s).
constexpr std::chrono::seconds kCheckTimeout{8};

Conversation conversation(const AskOptions& options) {
  const auto usual = options.check || options.nagios ? kCheckTimeout : api::kUsualTimeout;
  return {options.socket, options.subnet,
          options.timeout != 0 ? std::chrono::seconds(options.timeout) : usual};
}

/// What is wrong with how the command is used; empty: nothing.
std::string misuse_of(const CLI::App& app, const AskOptions& options) {
  if (app.got_subcommand("token")) return misuse_of(options.tokens);
  if (app.got_subcommand("partitions")) return misuse_of(options.partitions);
  if (app.got_subcommand("status") && options.nagios && options.json)
    return "--nagios prints one line: not with --json";
  if (app.got_subcommand("port") && options.port.action != "disable" && !options.port.confirm.empty())
    return "--confirm is an option of disable";
  const bool sweeps = app.got_subcommand("sweep") || app.got_subcommand("resweep");
  return sweeps ? misuse_of(options.orders) : std::string();
}

/// The commands; what goes wrong ends as a line and an exit status.
class Asker {
 public:
  Asker(const AskOptions& options, std::ostream& out, std::ostream& err)
      : options_(options), out_(out), err_(err), daemon_(conversation(options)) {}

  Done status();
  Done ports();
  Done partitions();
  Done sms();
  Done handover() { return handover_command(daemon_, options_.orders, options_.json, out_); }
  Done priority() { return priority_command(daemon_, options_.orders, options_.json, out_); }
  Done resweep() { return resweep_command(daemon_, options_.orders, options_.json, out_); }
  Done sweep() { return sweep_command(daemon_, options_.orders, options_.json, out_); }
  Done accept();
  Done log();
  Done reload();
  Done dump() { return dump_command(daemon_, options_.folder, options_.files, out_); }
  Done token() { return token_command(daemon_, options_.tokens, options_.json, out_, err_); }
  Done events() { return event_command(daemon_, options_.events, options_.json, out_, err_); }
  Done wait() { return wait_command(daemon_, options_.wait, &good_, out_); }
  Done port() { return port_command(daemon_, options_.port, options_.json, out_); }
  Done why() { return why_command(daemon_, options_.why, options_.json, out_); }
  /// `wait`: it has come in time. `status --check`: all subnets are in service.
  bool is_good() const { return good_; }
  int nagios() const { return nagios_; }
  /// The daemon has refused a value that was given on the command line as none.
  bool is_misused() const { return misused_; }

 private:
  std::expected<json::value, std::string> call(std::string_view method, const std::string& target,
                                               const std::string& body = {}) const {
    return daemon_.call(method, target, body);
  }
  Done each(const std::function<Done(const std::string& name, bool several)>& act) const {
    return daemon_.each(act);
  }

  const AskOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
  Conversation daemon_;
  bool good_ = true;
  bool misused_ = false;
  int nagios_ = 0;
};

Done Asker::status() {
  const auto target = options_.subnet.empty() ? "/v1/status" : path_of(options_.subnet, "status");
  const auto value = call("GET", target);
  if (!value) return std::unexpected(value.error());
  if (options_.check) good_ = all_is_good(*value);
  if (options_.nagios) {
    print_nagios(out_, *value);
    nagios_ = nagios_status(*value);
    return {};
  }
  if (options_.json) {
    out_ << sm::to_text(*value) << '\n';
  } else if (options_.check) {
    print_check(out_, *value);
  } else if (options_.subnet.empty()) {
    print_status(out_, *value);
  } else {
    print_subnet(out_, *value);
  }
  return {};
}

/// A node is of one subnet: what the others say of it does not count.
Done Asker::ports() {
  std::string what = "ports";
  const auto add = [&](bool given, std::string_view flag) {
    if (given) what += fmt::format("{}{}=true", what == "ports" ? "?" : "&", flag);
  };
  add(options_.not_active, "not_active");
  add(options_.lost, "lost");
  add(options_.degraded, "degraded");
  add(options_.all, "all");
  const auto add_text = [&](std::string_view key, const std::string& value) {
    if (value.empty()) return;
    what += fmt::format("{}{}={}", what == "ports" ? "?" : "&", key, api::percent_encoded(value));
  };
  add_text("node", options_.ports_of);
  add_text("match", options_.fabric.match);
  add_text("type", options_.fabric.type);
  add_text("state", options_.fabric.state);
  bool found = false;
  const auto done = each([&](const std::string& name, bool several) -> Done {
    const auto value = get_of_node(daemon_, name, what, options_.ports_of, options_.json, out_);
    if (!value) return std::unexpected(value.error());
    found = true;
    if (!*value) return {};
    if (options_.json) {
      out_ << sm::to_text(**value) << '\n';
    } else if (options_.lost) {
      print_lost(out_, **value, several);
    } else {
      print_ports(out_, **value, several);
    }
    return {};
  });
  return found && !options_.ports_of.empty() ? Done{} : done;
}

Done Asker::partitions() {
  return partition_command(daemon_, options_.partitions, options_.json, out_, &misused_);
}

Done Asker::sms() {
  return each([&](const std::string& name, bool several) -> Done {
    const auto value = call("GET", path_of(name, "sms"));
    if (!value) return std::unexpected(value.error());
    if (options_.json) {
      out_ << sm::to_text(*value) << '\n';
    } else {
      print_sms(out_, *value, several);
    }
    return {};
  });
}

/// A node is of one subnet: what the others say of it does not count where one has accepted.
Done Asker::accept() {
  json::object body{{"lost", true}};
  if (!options_.node.empty()) body["node"] = options_.node;
  bool accepted = false;
  const auto done = each([&](const std::string& name, bool) -> Done {
    const auto value = call("POST", path_of(name, "accept"), json::serialize(body));
    if (!value) return std::unexpected(value.error());
    accepted = true;
    if (options_.json) {
      out_ << sm::to_text(*value) << '\n';
    } else {
      print_accepted(out_, *value);
    }
    return {};
  });
  return accepted && !options_.node.empty() ? Done{} : done;
}

Done Asker::log() {
  json::object body{{"level", options_.level}};
  const bool module = std::ranges::find(log::kModules, options_.subject) != log::kModules.end();
  if (!options_.subject.empty()) body[module ? "module" : "guid"] = options_.subject;
  const auto value = call("PUT", "/v1/log", json::serialize(body));
  if (!value) return std::unexpected(value.error());
  if (options_.json) {
    out_ << sm::to_text(*value) << '\n';
  } else {
    print_log(out_, *value);
  }
  return {};
}

Done Asker::reload() {
  const auto value = call("POST", "/v1/reload", "{}");
  if (!value) return std::unexpected(value.error());
  if (options_.json) {
    out_ << sm::to_text(*value) << '\n';
    return {};
  }
  for (const auto& warning : list_of(*value, "warnings")) {
    const auto* text = warning.if_string();
    if (text != nullptr) err_ << fmt::format("warning: {}\n", base::escaped({text->data(), text->size()}));
  }
  out_ << "reload asked for\n";
  return {};
}

constexpr const char* kJsonHelp = "the daemon's answer as JSON, an object for each subnet";

/// A subcommand that asks the daemon.
CLI::App* add_command(CLI::App& app, AskOptions& options, const char* name, const char* what,
                      bool one_subnet = true) {
  auto* command = app.add_subcommand(name, what);
  command->add_option("--socket", options.socket, "Unix socket of the daemon (default: /run/smd/smd.sock)")
      ->type_name("PATH");
  if (one_subnet)
    command->add_option("--subnet", options.subnet, "one of several subnets (default: all)")
        ->type_name("NAME");
  return command;
}

void add_state_commands(CLI::App& app, AskOptions& options) {
  auto* status = add_command(app, options, "status", "the state of a running smd and its fabrics");
  status->add_flag(
      "--check", options.check,
      "a line for each subnet, and an exit status: 0 up, or standby beside a master; 1 no daemon; 3 "
      "reduced, degraded or no master, or sweeps are off");
  status->add_flag(
      "--nagios", options.nagios,
      "a plugin of Nagios: one line, and an exit status: 0 up, or standby beside a master; 1 reduced, or "
      "sweeps are off; 2 all else, or no daemon");
  status->add_flag("--json", options.json, "the daemon's answer as JSON");
  auto* ports = add_command(app, options, "ports", "the ports of the fabric, and why they are not Active");
  ports->add_option("NODE", options.ports_of, "only those of this node: GUID, port GUID, LID or name")
      ->check(not_empty);
  ports->add_option("--match", options.fabric.match, "only ports of nodes whose names have this pattern")
      ->type_name("PATTERN");
  add_filter_options(*ports, options.fabric, "only ports of such nodes", "only ports in this state");
  ports->add_flag("--not-active", options.not_active,
                  "only those that had a link or have one, and are not Active");
  ports->add_flag("--lost", options.lost, "the nodes and links that were there and are missing");
  ports->add_flag("--degraded", options.degraded, "only those whose link runs at less than both ends can");
  ports->add_flag("--all", options.all, "those that never had a link, too");
  ports->add_flag("--json", options.json, kJsonHelp);
  auto* partitions =
      add_command(app, options, "partitions",
                  "partitions, their members and P_Keys; changes those that were made by the API");
  add_partition_options(*partitions, options.partitions);
  partitions->add_flag("--json", options.json, kJsonHelp);
}

/// Who is master.
void add_sm_commands(CLI::App& app, AskOptions& options) {
  auto* sms =
      add_command(app, options, "sms", "the subnet managers of the fabric, and what will become of each");
  sms->add_flag("--json", options.json, kJsonHelp);
  auto* handover = add_command(app, options, "handover", "hands the fabric over to a standby");
  add_handover_options(*handover, options.orders);
  handover->add_flag("--json", options.json, kJsonHelp);
  auto* priority =
      add_command(app, options, "priority", "changes the priority of this SM, until the next start");
  add_priority_options(*priority, options.orders);
  priority->add_flag("--json", options.json, kJsonHelp);
  auto* wait = add_command(
      app, options, "wait",
      "waits until the fabric is up, or the state of the SM is copied; exit status 3: it timed out");
  add_wait_options(*wait, options.wait);
}

/// What changes something, or writes files.
void add_work_commands(CLI::App& app, AskOptions& options) {
  auto* resweep = add_command(app, options, "resweep", "asks for a sweep now");
  add_resweep_options(*resweep, options.orders);
  resweep->add_flag("--json", options.json, "the daemon's answer as JSON");
  auto* reload = add_command(app, options, "reload", "reads the files again, as systemctl reload smd", false);
  reload->add_flag("--json", options.json, "the daemon's answer as JSON");
  auto* sweep = add_command(app, options, "sweep", "keeps sweeps off for a while, or puts them on again");
  add_sweep_options(*sweep, options.orders);
  sweep->add_flag("--json", options.json, "the daemon's answer as JSON");
  auto* port = add_command(app, options, "port", "disables, enables or resets a port");
  add_port_options(*port, options.port);
  port->add_flag("--json", options.json, kJsonHelp);
  auto* accept = add_command(app, options, "accept", "takes the present fabric as complete");
  accept->add_flag("--lost", options.lost, "what is missing was removed on purpose")->required();
  accept
      ->add_option("NODE", options.node,
                   "only this node, or the lost links of it (default: all that is lost)")
      ->check(not_empty)
      ->type_name("NAME|GUID");
  accept->add_flag("--json", options.json, kJsonHelp);
  auto* log = add_command(app, options, "log", "changes what is logged, until the next reload", false);
  log->add_option("LEVEL", options.level, "error, warn, info, debug; default: as configured")
      ->required()
      ->check(CLI::IsMember({"error", "warn", "info", "debug", "default"}));
  log->add_option("SUBJECT", options.subject, "one module or one GUID (default: everything)")
      ->type_name("MODULE|GUID")
      ->check([](const std::string& text) {
        const bool module = std::ranges::find(log::kModules, text) != log::kModules.end();
        if (module || base::parse_guid(text)) return std::string();
        return fmt::format("{}: neither a GUID nor one of the modules {}", text,
                           fmt::join(log::kModules, ", "));
      });
  log->add_flag("--json", options.json, "the daemon's answer as JSON");
  auto* dump = add_command(app, options, "dump", "writes the daemon's dumps into a folder");
  dump->add_option("DIR", options.folder, "where to; several subnets have a folder each")->required();
  dump->add_option("--dump", options.files, "which dumps, file names with commas between")->type_name("LIST");
  auto* token = add_command(app, options, "token", "who may call the API over the network");
  add_token_options(*token, options.tokens);
  token->add_flag("--json", options.json, kJsonHelp);
}

/// What the fabric is, and what has happened there.
void add_fabric_commands(CLI::App& app, AskOptions& options) {
  for (const auto name : kFabricCommands) {
    auto* command =
        add_command(app, options, std::string(name).c_str(), std::string(summary_of(name)).c_str());
    add_fabric_options(name, *command, options.fabric);
    command->add_flag("--json", options.json, kJsonHelp);
  }
  auto* events = add_command(app, options, "events", "what has happened in the fabric");
  add_event_options(*events, options.events);
  events->add_flag("--json", options.json, "an event a line, as JSON");
  auto* why = add_command(app, options, "why", "why a port is as it is, and what has happened to it");
  why->add_option("PORT", options.why, "GUID, port GUID, LID, name, or NODE:PORT")->required();
  why->add_flag("--json", options.json, kJsonHelp);
}

bool is_ask_name(std::string_view name) {
  return std::ranges::find(kCommands, name) != kCommands.end() ||
         std::ranges::find(kFabricCommands, name) != kFabricCommands.end();
}

}  // namespace

void add_ask_commands(CLI::App& app, AskOptions& options) {
  add_state_commands(app, options);
  add_fabric_commands(app, options);
  add_sm_commands(app, options);
  add_work_commands(app, options);
  for (auto* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_option_no_throw("--socket") == nullptr || !is_ask_name(command->get_name())) continue;
    command
        ->add_option(
            "--color", options.color,
            "colours of states and errors; auto (the default): on a terminal, unless NO_COLOR is set")
        ->type_name("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    // `wait` and `partitions wait` have another one.
    if (command->get_option_no_throw("--timeout") != nullptr) continue;
    command
        ->add_option("--timeout", options.timeout,
                     "of a daemon that does not answer (default: 60; of status --check and --nagios: 8)")
        ->type_name("SECONDS")
        ->check(CLI::Range(1U, 86'400U));
  }
}

bool is_ask(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return !chosen.empty() && is_ask_name(chosen.front()->get_name());
}

int ask(const CLI::App& app, const AskOptions& options, std::ostream& out, std::ostream& err) {
  if (!options.files.empty()) {
    if (const auto list = sm::parse_dump_list(options.files, "--dump"); !list) {
      err << "smd dump: " << list.error() << '\n';
      return 2;
    }
  }
  if (const auto misuse = misuse_of(app, options); !misuse.empty()) {
    err << fmt::format("smd {}: {}\n", app.get_subcommands().front()->get_name(), misuse);
    return 2;
  }
  choose_colours(options.color, out, err);
  Asker asker(options, out, err);
  const std::array<Done (Asker::*)(), kCommands.size()> kDo{
      &Asker::status,  &Asker::ports,  &Asker::partitions, &Asker::sms,  &Asker::handover, &Asker::priority,
      &Asker::resweep, &Asker::accept, &Asker::log,        &Asker::dump, &Asker::token,    &Asker::events,
      &Asker::wait,    &Asker::why,    &Asker::sweep,      &Asker::port, &Asker::reload};
  const auto end = [&](std::string_view name, const Done& done) {
    out << std::flush;
    if (done) return options.nagios ? asker.nagios() : asker.is_good() ? 0 : 3;
    if (options.nagios) return out << "SMD CRITICAL - " << done.error() << std::endl, 2;
    err << painted(err, Tone::bad, fmt::format("smd {}:", name)) << ' ' << done.error() << '\n';
    return asker.is_misused() ? 2 : 1;
  };
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    if (app.got_subcommand(std::string(kCommands[i]))) return end(kCommands[i], (asker.*kDo[i])());
  }
  for (const auto name : kFabricCommands) {
    if (!app.got_subcommand(std::string(name))) continue;
    const auto daemon = conversation(options);
    return end(name, fabric_command(name, daemon, options.fabric, options.json, out));
  }
  return 2;
}

}  // namespace smd::cli
