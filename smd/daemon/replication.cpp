// SPDX-License-Identifier: Apache-2.0
// How the state of a subnet is copied to and from other SMs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "smd/api/hand_on.h"
#include "smd/daemon/instance.h"
#include "smd/etcd/http_client.h"
#include "smd/etcd/network.h"
#include "smd/policy/accepted.h"
#include "smd/replica/tls_network.h"

namespace smd::daemon {
namespace {

replica::Mode mode_of(config::HaMode mode) {
  switch (mode) {
    case config::HaMode::async:
      return replica::Mode::async;
    case config::HaMode::sync:
      return replica::Mode::sync;
    case config::HaMode::sync_strict:
      return replica::Mode::sync_strict;
  }
  return replica::Mode::async;
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

/// To peers, or to etcd.
std::expected<std::unique_ptr<replica::Network>, std::string> Instance::open_network() {
  const auto& ha = spec_.config.ha;
  const tls::Files files{.cert = ha.cert, .key = ha.key, .ca = ha.ca};
  if (ha.etcd.empty()) {
    return replica::TlsNetwork::open(io_.get_executor(), clock_, ha.listen, {.files = files, .psk = ha.psk});
  }
  auto clients = etcd::HttpClients::open(io_.get_executor(), clock_, ha.etcd, files);
  if (!clients) return std::unexpected(clients.error());
  return std::make_unique<etcd::EtcdNetwork>(etcd::NetworkParts{.executor = io_.get_executor(),
                                                                .clock = clock_,
                                                                .log = log_,
                                                                .clients = std::move(*clients),
                                                                .prefix = ha.etcd_prefix,
                                                                .subnet = spec_.config.name,
                                                                .self = [sms = sms_] {
                                                                  const auto now = sms->get();
                                                                  return now ? now->state.self.guid : Guid{};
                                                                }});
}

/// A copy that cannot be made keeps nothing from its work: the pair is a plain one of IBA then.
void Instance::open_replica() {
  const auto& ha = spec_.config.ha;
  if (!ha.copies() || spec_.options.dry_run || spec_.options.once) return;
  auto network = open_network();
  if (!network) {
    log_.error("ha.not_replicated")
        .kv("reason", network.error())
        .kv("action", "the state is not copied; mend it, then restart")
        .always();
    return;
  }
  const auto peers = ha.etcd.empty() ? ha.peers : std::vector<std::string>{etcd::kPeer};
  if (!store_) store_ = std::make_unique<store::MemoryStore>();
  network_ = std::move(*network);
  replicator_ = std::make_unique<replica::Replicator>(
      replica::ReplicatorParts{
          .executor = io_.get_executor(),
          .clock = clock_,
          .compute = compute_,
          .log = log_,
          .disk = *store_,
          .network = *network_,
          .sms = sms_,
          .replaced = [this] { replaced(); },
          .inherited =
              [this](sa::RegistryPtr other) {
                if (sa_) sa_->unite(std::move(other));
              },
          .refused = [this](Guid port) { refused(port); },
          .wall = seconds_now,
          .answer = [this](replica::Call call,
                           Guid standby) { return answer_call(std::move(call), standby); },
          .published = replica_},
      replica::ReplicatorOptions{.subnet = spec_.config.name, .mode = mode_of(ha.mode), .peers = peers});
  replicator_->start();
}

/// What clients have registered and what the API has made is the master's from now on.
void Instance::replaced() {
  registry_.set(replicator_->registry());
  say_left_partitions();
  const bool policy = adopt_replica_policy();
  set_ground(replicator_->policies());
  if (policy && manager_) manager_->reload(spec_.config);
}

/// Two parts of a fabric are joined: of partitions of the API those of the master that stays count.
void Instance::say_left_partitions() {
  const auto left = std::exchange(left_policies_, nullptr);
  if (!left) return;
  const auto now = replicator_->policies();
  std::vector<std::string> lost;
  for (const auto& [name, partition] : left->api) {
    const auto at = now->api.find(name);
    if (at == now->api.end() || *at->second != *partition) lost.push_back(name);
  }
  if (lost.empty()) return;
  log_.warn("ha.partitions_left")
      .kv("partitions", fmt::format("{}", fmt::join(lost, ",")))
      .kv("reason", "the API made or changed them here while another SM was master of another part")
      .kv("action", "those of the master count: make them anew there")
      .always();
}

/// The partitions that the master has accepted, instead of those of our files. True: they were others.
bool Instance::adopt_replica_policy() {
  if (!replicator_ || spec_.config.ha.policy == config::HaPolicy::local) return false;
  if (!replicator_->following().follows) return false;
  const auto policies = replicator_->policies();
  const auto& accepted = policies->accepted;
  if (accepted.empty()) return false;
  auto texts = std::pair(accepted, policy::accepted_text(policy::with_kept_sls(spec_.config, *policies)));
  if (texts.first == texts.second || texts == compared_) return false;
  compared_ = std::move(texts);
  const auto found = policy::accepted_differences(compared_.first, compared_.second);
  say_settings_differ(found.settings);
  if (found.policy.empty()) return false;
  auto config = spec_.config;
  const auto restored = policy::restore_accepted(accepted, config);
  if (restored) spec_.config = std::move(config);
  now_.config_differs = found.policy;
  view_.set(std::make_shared<api::SubnetView>(now_));
  say_policy_differs(restored ? "the master's are in force until a reload as master" : restored.error());
  return restored.has_value();
}

void Instance::say_policy_differs(const std::string& action) {
  if (now_.config_differs.empty()) return;
  log_.warn("ha.config_differs")
      .kv("keys", fmt::format("{}", fmt::join(now_.config_differs, ",")))
      .kv("action", action)
      .always();
}

/// Said once for the same values.
void Instance::say_settings_differ(const std::vector<std::string>& settings) {
  if (std::exchange(said_settings_, settings) == settings || settings.empty()) return;
  log_.warn("ha.config_differs")
      .kv("keys", fmt::format("{}", fmt::join(settings, "; ")))
      .kv("action",
          "each SM works by its own file for these: LIDs or routes may change at a takeover; make them equal")
      .always();
}

/// Another SM has a later epoch than we have. On this fabric the ranks decide; else the fabric is split, and
/// each part has its master.
void Instance::refused(Guid port) {
  const auto view = sms_->get();
  const bool here = view && std::ranges::any_of(view->others, [&](const sm::SeenSm& other) {
                      return other.sm.info.guid == port;
                    });
  if (here && manager_)
    return manager_->resweep(sm::Resweep::heavy, fmt::format("SM {} has a later epoch", port));
  log_.error("ha.split")
      .kv("sm", port)
      .kv("reason", "it has a later epoch, and is not on this fabric")
      .kv("action", "each part is served by its master")
      .always();
}

/// From the API's threads.
void Instance::hand_on(replica::Call call, replica::CallDone done) {
  asio::post(io_, [this, asked = std::move(call), answer = std::move(done)]() mutable {
    if (replicator_) return replicator_->call(std::move(asked), std::move(answer));
    answer(std::unexpected("the state is not copied"));
  });
}

asio::awaitable<replica::CallAnswer> Instance::answer_call(replica::Call call, Guid standby) {
  const auto request = api::request_of(call, now_.name, standby);
  if (!request) co_return api::call_answer_of(request.error());
  if (!answer_) co_return replica::CallAnswer{.body = "that SM has no API"};
  const auto made = co_await answer_(*request);
  co_return api::call_answer_of(made);
}

asio::awaitable<void> Instance::end_all() {
  co_await group_.stop();
  if (replicator_) co_await replicator_->stop();
}

}  // namespace smd::daemon
