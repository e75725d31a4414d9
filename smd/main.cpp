// SPDX-License-Identifier: Apache-2.0
// smd's subcommands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "smd/cli/api_cert.h"
#include "smd/cli/ask.h"
#include "smd/cli/attach.h"
#include "smd/cli/check.h"
#include "smd/cli/diff.h"
#include "smd/cli/import_command.h"
#include "smd/cli/route.h"
#include "smd/cli/run.h"
#include "smd/cli/sim.h"

namespace {

constexpr int kBadUsage = 2;

/// One line, as all errors are. CLI11 does not say of which command it is.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command = app->get_name();
  for (auto parsed = app->get_subcommands(); !parsed.empty(); parsed = app->get_subcommands()) {
    app = parsed.front();
    command += " " + app->get_name();
  }
  return fmt::format("{}: {} ({} --help)\n", command, error.what(), command);
}

int commands(int argc, char** argv) {
  CLI::App app("smd, an InfiniBand subnet manager", "smd");
  app.set_version_flag("--version", "smd " SMD_VERSION);
  app.require_subcommand(1);
  app.failure_message(usage_error);

  smd::cli::RunOptions run;
  auto* run_command = app.add_subcommand("run", "the subnet manager, in the foreground");
  smd::cli::add_run_options(*run_command, run);
  smd::cli::RouteOptions route;
  auto* route_command = app.add_subcommand("route", "routes a fabric from a file or a spec, offline");
  smd::cli::add_route_options(*route_command, route);
  smd::cli::CheckOptions check;
  const auto* check_command = smd::cli::add_check_command(app, check);
  smd::cli::ApiCertOptions cert;
  const auto* cert_command = smd::cli::add_api_command(app, cert);
  smd::cli::SimOptions sim;
  const auto* sim_command = smd::cli::add_sim_command(app, sim);
  smd::cli::AttachOptions attach;
  const auto* attach_command = smd::cli::add_attach_command(app, attach);
  smd::cli::DiffOptions diff;
  const auto* diff_command = smd::cli::add_diff_command(app, diff);
  smd::cli::ImportOptions imported;
  const auto* import_command = smd::cli::add_import_command(app, imported);
  smd::cli::AskOptions ask;
  smd::cli::add_ask_commands(app, ask);

  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const auto found = app.remaining();
    if (found.empty() || !app.get_subcommands().empty()) return app.exit(error), kBadUsage;
    std::string names;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
      names += (names.empty() ? "" : ", ") + command->get_name();
    std::cerr << "smd: found \"" << found.front() << "\", allowed are the commands " << names << '\n';
    return kBadUsage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  if (run_command->parsed()) return smd::cli::run(run, std::cout, std::cerr);
  if (check_command->parsed()) return smd::cli::check(check, std::cout, std::cerr);
  if (cert_command->parsed()) return smd::cli::api_cert(cert, std::cout, std::cerr);
  if (sim_command->parsed()) return smd::cli::sim(*sim_command, sim, std::cout, std::cerr);
  if (attach_command->parsed()) return smd::cli::attach(attach, std::cerr);
  if (diff_command->parsed()) return smd::cli::diff(diff, std::cout, std::cerr);
  if (import_command->parsed()) return smd::cli::import_path_sl(imported, std::cout, std::cerr);
  if (smd::cli::is_ask(app)) return smd::cli::ask(app, ask, std::cout, std::cerr);
  return smd::cli::route(route, std::cout, std::cerr);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int status = commands(argc, argv);
    if (std::cout.flush()) return status;
    std::fputs("smd: standard output cannot be written\n", stderr);
    return status == 0 ? 1 : status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "smd: %s\n", error.what());
    return 1;
  }
}
