// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ostream>
#include <set>
#include <string>

#include "config/describe.h"
#include "mad/base/lid_file.h"
#include "mad/base/m_key_file.h"
#include "smd/cli/check_host.h"
#include "smd/cli/check_partitions.h"
#include "smd/cli/check_running.h"
#include "smd/daemon/certificates.h"
#include "smd/daemon/configuration.h"

namespace smd::cli {
namespace {

/// Checks files that the daemon reads later, where it goes on without them if they are wrong.
bool good_imports(const config::Config& config, std::ostream& err) {
  std::set<std::string> lids{config.base.lids.import_guid2lid}, m_keys{config.base.keys.import_guid2mkey};
  for (const auto& subnet : config.subnets) {
    lids.insert(subnet.lids.import_guid2lid);
    m_keys.insert(subnet.keys.import_guid2mkey);
  }
  bool good = true;
  const auto judge = [&](const auto& loaded) {
    if (loaded) return;
    good = false;
    for (const auto& error : loaded.error()) err << base::to_string(error) << '\n';
  };
  for (const auto& file : lids) {
    if (!file.empty()) judge(base::load_lids(file));
  }
  for (const auto& file : m_keys) {
    if (!file.empty()) judge(base::load_m_keys(file));
  }
  return good;
}

/// With what is there the daemon goes on: at a start without the network, at a reload with those in use.
void warn_of_certificates(const config::Config& config, std::ostream& err) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  for (const auto& fault : daemon::certificate_faults(config, now)) err << fault << '\n';
}

std::string summary(std::size_t changed) {
  if (changed == 0) return "all keys have their defaults";
  return fmt::format("{} {} the default{}", changed, changed == 1 ? "key differs from" : "keys differ from",
                     changed == 1 ? "" : "s");
}

/// What [routing] path_sl asks of clients.
void print_path_sls(std::ostream& out, const config::SubnetConfig& subnet, const std::string& prefix) {
  out << prefix
      << (subnet.routing.path_sl == config::PathSl::asked
              ? "path SLs: asked: where routes have several layers each client has to use the SL that subnet "
                "administration says; smd status says whether they have\n"
              : "path SLs: fixed: clients need not ask, routes are free of credit loops when all use one "
                "SL\n");
}

void print_path_sls(std::ostream& out, const config::Config& config) {
  for (const auto& subnet : config.subnets)
    print_path_sls(out, subnet, config.subnets.size() > 1 ? subnet.name + ": " : "");
}

/// What the configuration means.
void print_configuration(const CheckOptions& options, const config::Config& config, const std::string& file,
                         std::ostream& out) {
  if (options.json) return print_qos_json(out, config, options.qos);
  const auto changed = config::describe_changed(config);
  out << (file.empty() ? "no configuration file" : file + ": good") << ": " << summary(changed.keys) << '\n'
      << (options.all ? config::describe(config) : changed.text);
  print_path_sls(out, config);
  print_configured_partitions(out, config);
  if (options.qos.asked) {
    print_qos(out, config, options.qos);
  } else {
    print_qos_warnings(out, config);
  }
}

}  // namespace

CLI::App* add_check_command(CLI::App& app, CheckOptions& options) {
  auto* command = app.add_subcommand("check", "validates a configuration and says what it means");
  command
      ->add_option("--config", options.config, "configuration (default: /etc/smd/smd.toml where it exists)")
      ->type_name("FILE");
  command->add_option("--set", options.set, "overrides one key; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  auto* all = command->add_flag("--all", options.all,
                                "prints every key, not only those that differ from the defaults");
  add_qos_options(*command, options.qos);
  auto* host =
      command->add_flag("--host", options.host,
                        "looks at this machine, too: does its systemd unit let smd do what is configured?");
  auto* running = command->add_flag(
      "--running", options.running,
      "asks the daemon what a reload of its configuration would change; nothing is put in force");
  for (const auto* other : command->get_options()) {
    if (other != running && other->get_name() != "--help") running->excludes(other->get_name());
  }
  command->add_option("--socket", options.socket, "--running: the daemon's socket")
      ->type_name("FILE")
      ->needs(running);
  command
      ->add_option("--timeout", options.timeout, "--running: of a daemon that does not answer (default: 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1U, 86'400U))
      ->needs(running);
  command->add_flag("--json", options.json, "--running, --qos: for scripts")->excludes(all)->excludes(host);
  command->final_callback([&options] {
    if (options.json && !options.running && !options.qos.asked)
      throw CLI::RequiresError("--json", "--running or --qos");
  });
  command->add_option("--unit", options.unit, "of --host (default: smd.service)")->type_name("NAME");
  return command;
}

int check(const CheckOptions& options, std::ostream& out, std::ostream& err) {
  if (options.running)
    return check_running(options.socket, std::chrono::seconds(options.timeout), options.json, out, err);
  const auto file = daemon::configuration_file(options.config);
  const auto config = daemon::load_configuration(file, options.set);
  if (!config) {
    err << config.error().text << '\n';
    return config.error().status;
  }
  for (const auto& warning : config->warnings) err << config::to_string(warning) << '\n';
  if (!good_imports(*config, err)) return 2;
  if (const auto hindrance = qos_hindrance(*config, options.qos)) {
    err << *hindrance << '\n';
    return 2;
  }
  if (!options.host) warn_of_certificates(*config, err);
  print_configuration(options, *config, file, out);
  if (!options.qos.svg.empty() && !write_qos_picture(*config, options.qos)) {
    err << options.qos.svg << ": cannot be written\n";
    return 1;
  }
  return options.host ? check_host(*config, options.unit, out) : 0;
}

}  // namespace smd::cli
