// SPDX-License-Identifier: Apache-2.0
// SIGHUP: the file is read again, with the command line still laid over it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <tuple>

#include "config/difference.h"
#include "smd/daemon/certificates.h"
#include "smd/daemon/configuration.h"
#include "smd/daemon/daemon.h"
#include "smd/daemon/run_specs.h"
#include "smd/daemon/systemd.h"
#include "smd/log/filter.h"

namespace smd::daemon {
namespace {

/// Which subnet a block of the file is about: what it is about cannot change while it runs.
auto identity(const config::SubnetConfig& subnet) {
  return std::tie(subnet.name, subnet.port, subnet.port_guid);
}

/// The one that is about the same; end(): there is none.
auto find_same(const std::vector<config::SubnetConfig>& subnets, const config::SubnetConfig& known) {
  return std::ranges::find_if(subnets, [&](const auto& other) { return identity(other) == identity(known); });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  return found;
}

std::string words(const config::SubnetConfig& subnet) {
  if (!subnet.name.empty()) return subnet.name;
  if (!subnet.port.empty()) return subnet.port;
  return subnet.port_guid ? fmt::format("{}", *subnet.port_guid) : "on the first usable port";
}

/// What `next` changes of what is in force. `files` is what ours have said so far, and in force but where
/// this SM has taken over and the policy of the master before is. A standby goes on with its master's: what
/// its own files change counts there.
std::vector<std::string> changes_of(const api::SubnetView& view, const config::SubnetConfig& files,
                                    const config::SubnetConfig& next) {
  const bool follows = replica::is_copy(view.replica.get());
  if (view.config_differs.empty() || follows || !view.policy_state) return config::differences(files, next);
  return policy::reload_differences(*view.policy_state->config, next, *view.policy_state->policies);
}

std::string joined(const std::vector<std::string>& items) {
  return items.empty() ? "nothing" : fmt::format("{}", fmt::join(items, ", "));
}

void append(std::vector<std::string>& to, std::vector<std::string> items) {
  for (auto& item : items) {
    if (std::ranges::find(to, item) == to.end()) to.push_back(std::move(item));
  }
}

}  // namespace

std::expected<api::NextConfigs, std::vector<std::string>> Daemon::next_configuration() const {
  auto next = load_configuration(configuration_file(parts_.options.config), parts_.options.set);
  if (!next) return std::unexpected(lines_of(next.error().text));
  api::NextConfigs found{.subnets = {},
                         .warnings = certificate_faults(*next, std::chrono::floor<std::chrono::seconds>(
                                                                   std::chrono::system_clock::now()))};
  const std::scoped_lock lock(lock_);
  for (const auto& subnet : subnets_) {
    auto& one = found.subnets.emplace_back();
    const auto at = find_same(next->subnets, subnet->config);
    if (named_on_command_line()) {
      one.subnet = next->base;
    } else if (at != next->subnets.end()) {
      one.subnet = *at;
    }
    one.before = std::make_shared<const config::SubnetConfig>(subnet->config);
  }
  return found;
}

void Daemon::reload() {
  asio::post(io_, [this] { take_files(); });
}

void Daemon::take_files() {
  notify_reloading();
  const auto file = configuration_file(parts_.options.config);
  auto next = load_configuration(file, parts_.options.set);
  std::string refused = next ? "" : next.error().text;
  if (next && next->log != parts_.config.log) {
    if (auto opened = parts_.log.configure(next->log); !opened) refused = opened.error();
  }
  note_reload(lines_of(refused));
  if (!refused.empty()) {
    for (const auto& line : lines_of(refused))
      parts_.log.error("config.refused")
          .kv("error", line)
          .kv("action", "the old one stays in force")
          .always();
    if (!next) show_refused_policy();
  } else {
    parts_.log.set_filter(log::filter_of(next->log));  // also where only `smd log` has changed it
    log_warnings(*next);
    std::vector<std::string> restart;
    const auto changed = take(*next, restart);
    auto&& event = parts_.log.info("config.reloaded");
    event.kv("file", file.empty() ? "none" : file).kv("changed", joined(changed));
    if (!restart.empty()) event.kv("needs_restart", joined(restart));
    event.always();
  }
  if (ready_) notify_ready();
}

/// What `smd status` and the metrics say of it. `errors`: why it is refused; none: it is taken.
void Daemon::note_reload(std::vector<std::string> errors) {
  const std::scoped_lock lock(lock_);
  ++info_.reloads;
  info_.refused.reset();
  if (errors.empty()) return;
  ++info_.reloads_failed;
  info_.refused = api::RefusedFile{.errors = std::move(errors), .at = std::chrono::system_clock::now()};
}

/// Where nothing but a policy is wrong, subnets show it until a file is right.
void Daemon::show_refused_policy() {
  const auto read = load_configuration(configuration_file(parts_.options.config), parts_.options.set, true);
  if (!read) return;
  for (const auto& subnet : subnets_) {
    const auto at = find_same(read->subnets, subnet->config);
    const auto& found = named_on_command_line() || at == read->subnets.end() ? read->base : *at;
    if (!subnet->ended && !subnet->leaving)
      subnet->instance->show_refused(found.partitions.refused, found.qos.refused);
  }
}

void Daemon::log_warnings(const config::Config& config) {
  for (const auto& warning : config.warnings)
    parts_.log.warn(warning.old_name ? "config.renamed" : "config.warning")
        .kv("warning", to_string(warning))
        .always();
}

/// Returns what is in force now; `restart` gets what is not.
std::vector<std::string> Daemon::take(const config::Config& next, std::vector<std::string>& restart) {
  std::vector<std::string> changed;
  append(changed, config::differences(parts_.config.log, next.log));
  for (auto& one : config::differences(parts_.config.api, next.api))
    append(one.starts_with("api.socket ") ? restart : changed, {one});
  service_.reload(next.api);
  append(restart, config::differences(parts_.config.store, next.store));
  append(changed, take_subnets(next, restart));
  const std::scoped_lock lock(lock_);
  info_.needs_restart = restart;
  parts_.config.log = next.log;
  // The socket stays the one that it was until the next start.
  auto socket = std::move(parts_.config.api.socket);
  parts_.config.api = next.api;
  parts_.config.api.socket = std::move(socket);
  log_config_ = next.log;
  info_.configuration = configuration_file(parts_.options.config);
  info_.loaded = std::chrono::system_clock::now();
  return changed;
}

bool Daemon::named_on_command_line() const {
  const auto& options = parts_.options;
  return !options.ports.empty() || !options.port_guids.empty() || !options.sims.empty();
}

std::vector<std::string> Daemon::take_subnets(const config::Config& next, std::vector<std::string>& restart) {
  const bool named = named_on_command_line();
  std::vector<std::string> changed;
  std::vector<config::SubnetDifferences> of_subnets;
  for (const auto& subnet : std::vector(subnets_)) {
    const auto at = find_same(next.subnets, subnet->config);
    const bool gone = !named && at == next.subnets.end();
    // One that could not begin has another try.
    if (gone || (!named && subnet->ended)) {
      if (gone && !subnet->leaving) changed.push_back("subnet gone: " + words(subnet->config));
      take_out(subnet);
      continue;
    }
    const auto& wanted = named ? next.base : *at;
    auto found = config::reloadable(subnet->config, wanted);
    append(restart, config::differences(found, wanted));
    of_subnets.push_back({.subnet = words(subnet->config),
                          .items = changes_of(*subnet->instance->view(), subnet->config, found)});
    {
      const std::scoped_lock lock(lock_);  // next_configuration() reads it
      subnet->config = found;
    }
    subnet->instance->reload(std::move(found));
  }
  append(changed, config::united(of_subnets));
  parts_.config.base = next.base;
  parts_.config.subnets = next.subnets;
  if (!named) {
    for (const auto& name : start_missing()) changed.push_back("new subnet: " + name);
  }
  return changed;
}

/// The fabric forwards on. It is gone from the list when its manager has ended.
void Daemon::take_out(const SubnetPtr& subnet) {
  if (subnet->ended) {
    const std::scoped_lock lock(lock_);
    std::erase(subnets_, subnet);
  } else if (!subnet->leaving) {
    subnet->leaving = true;
    subnet->instance->stop();
  }
}

/// Subnets of the configuration that are not managed yet. One whose port or name another one still has, which
/// is about to leave, begins when that has ended. Returns which were started.
std::vector<std::string> Daemon::start_missing() {
  std::vector<std::string> started;
  if (interrupted_ || named_on_command_line()) return started;
  for (auto& spec : configured_specs(parts_.config)) {
    const auto in_the_way = [&](const SubnetPtr& other) {
      const bool same_name = !spec.name.empty() && other->config.name == spec.name;
      return identity(other->config) == identity(spec.config) || other->where == spec.where || same_name;
    };
    if (std::ranges::any_of(subnets_, in_the_way)) continue;
    started.push_back(words(spec.config));
    start(std::move(spec));
  }
  return started;
}

}  // namespace smd::daemon
