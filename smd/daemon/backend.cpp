// SPDX-License-Identifier: Apache-2.0
// What the API sees of the daemon, from its own thread.
#include "smd/api/router.h"
#include "smd/daemon/daemon.h"

namespace smd::daemon {

api::DaemonInfo Daemon::info() const {
  const std::scoped_lock lock(lock_);
  auto info = info_;
  if (stores_) info.store = stores_->failure();
  return info;
}

std::vector<std::shared_ptr<const api::SubnetView>> Daemon::subnets() const {
  const std::scoped_lock lock(lock_);
  std::vector<std::shared_ptr<const api::SubnetView>> views;
  views.reserve(subnets_.size());
  for (const auto& subnet : subnets_) views.push_back(subnet->instance->view());
  return views;
}

void Daemon::resweep(std::size_t subnet, sm::Resweep kind) {
  const std::scoped_lock lock(lock_);
  if (subnet >= subnets_.size()) return;  // a reload has taken it out meanwhile
  auto& instance = *subnets_[subnet]->instance;
  parts_.log.with_subnet(instance.view()->name).info("api.resweep").always();
  instance.resweep(kind, "asked for");
}

void Daemon::accept_lost(std::size_t subnet, Guid node) {
  const std::scoped_lock lock(lock_);
  if (subnet < subnets_.size()) subnets_[subnet]->instance->accept_lost(node);
}

std::future<api::PolicyVerdict> Daemon::change_policies(std::size_t subnet, api::PolicyChange change) {
  const std::scoped_lock lock(lock_);
  if (subnet < subnets_.size()) return subnets_[subnet]->instance->change_policies(std::move(change));
  std::promise<api::PolicyVerdict> gone;  // a reload has taken it out meanwhile
  gone.set_value(api::PolicyVerdict::stale);
  return gone.get_future();
}

void Daemon::hand_on(std::size_t subnet, replica::Call call, replica::CallDone done) {
  const std::scoped_lock lock(lock_);
  if (subnet < subnets_.size()) return subnets_[subnet]->instance->hand_on(std::move(call), std::move(done));
  asio::post(io_, [answer = std::move(done)]() mutable {
    answer(std::unexpected("the subnet is not managed here any more"));
  });
}

asio::awaitable<api::Answer> Daemon::answer_handed_on(api::Request request) {
  api::Answer made;
  const bool done = co_await answering_.execute([&] { made = api::answer(request, *this); });
  if (!done) made = api::error_of(503, "ending", "smd ends");
  co_return made;
}

void Daemon::sweeps_off(std::size_t subnet, std::chrono::system_clock::time_point until) {
  const std::scoped_lock lock(lock_);
  if (subnet < subnets_.size()) subnets_[subnet]->instance->sweeps_off(until);
}

void Daemon::train(std::size_t subnet, const api::PolicyChange::PortChange& port, std::string_view event) {
  const std::scoped_lock lock(lock_);
  if (subnet < subnets_.size()) subnets_[subnet]->instance->train(port, std::string(event));
}

void Daemon::reindex(std::size_t subnet, const std::set<Guid>& ports) {
  const std::scoped_lock lock(lock_);
  if (subnet < subnets_.size()) subnets_[subnet]->instance->reindex(ports);
}

void Daemon::hand_over(std::size_t subnet, Guid to) {
  const std::scoped_lock lock(lock_);
  if (subnet >= subnets_.size()) return;
  auto& instance = *subnets_[subnet]->instance;
  parts_.log.with_subnet(instance.view()->name).info("api.handover").kv("to_guid", to).always();
  instance.hand_over(to);
}

void Daemon::set_priority(std::size_t subnet, std::uint8_t priority) {
  const std::scoped_lock lock(lock_);
  if (subnet < subnets_.size()) subnets_[subnet]->instance->set_priority(priority);
}

void Daemon::audit(const api::Audit& call) {
  // Tokens of one subnet are not shown the calls to others.
  const auto log = call.subnet.empty() ? parts_.log : parts_.log.with_subnet(call.subnet);
  auto&& event = log.info("api.call");
  event.kv("by", call.by);
  if (!call.address.empty()) event.kv("address", call.address);
  if (!call.via.empty()) event.kv("via", call.via);
  event.kv("method", call.method).kv("path", call.path);
  if (call.dry_run) event.kv("dry_run", true);
  event.kv("status", call.status).always();
}

void Daemon::unknown_ufm(const std::string& call) {
  constexpr std::size_t kShown = 200;  // a client may say anything
  const auto shown = call.substr(0, kShown);
  // A line a minute, whatever the calls: the next one has the latest of them, and how many there were.
  parts_.log.warn("api.ufm_unknown").kv("call", shown).kv("see", "docs/ufm.md").subject("ufm");
}

void Daemon::not_on_network(std::string reason) {
  const std::scoped_lock lock(lock_);
  info_.not_on_network = std::move(reason);
}

void Daemon::login_failed(const std::string& address, bool first) {
  if (!first) return;
  parts_.log.warn("api.login_failed")
      .kv("address", address)
      .kv("reason", "the token is unknown, revoked or expired")
      .subject(access::client_of(address));
}

void Daemon::token_used(const access::Use& use, std::int64_t now) {
  const std::scoped_lock lock(lock_);
  for (const auto& subnet : subnets_) {
    if (subnet->instance->view()->name == use.subnet) subnet->instance->token_used(use.name, now);
  }
}

void Daemon::set_log_filter(const log::Filter& filter) {
  parts_.log.set_filter(filter);
  std::string exceptions;
  const auto add = [&](std::string_view what, log::Level level) {
    exceptions += fmt::format("{}{}={}", exceptions.empty() ? "" : " ", what, config::to_string(level));
  };
  for (const auto& [module, level] : filter.modules) add(module, level);
  for (const auto& [guid, level] : filter.guids) add(fmt::format("{}", guid), level);
  auto&& event = parts_.log.info("api.log");
  event.kv("log_level", filter.level);
  if (!exceptions.empty()) event.kv("exceptions", exceptions);
  event.always();
}

log::Filter Daemon::configured_log_filter() const {
  const std::scoped_lock lock(lock_);
  return log::filter_of(log_config_);
}

}  // namespace smd::daemon
