// SPDX-License-Identifier: Apache-2.0
// How the state of a subnet is copied to and from other SMs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "config/replica_key.h"
#include "smd/api/hand_on.h"
#include "smd/base/unix_time.h"
#include "smd/daemon/configuration.h"
#include "smd/daemon/instance.h"
#include "smd/etcd/http_client.h"
#include "smd/etcd/network.h"
#include "smd/policy/accepted.h"
#include "smd/policy/left_changes.h"
#include "smd/replica/tls_network.h"
#include "smd/sa/settings.h"

namespace smd::daemon {
namespace {

constexpr mad::Duration kLookAgain = std::chrono::seconds(1);

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

}  // namespace

/// To peers, or to etcd.
std::expected<std::unique_ptr<replica::Network>, std::string> Instance::open_network() {
  const auto& ha = spec_.config.ha;
  const tls::Files files{.cert = ha.cert, .key = ha.key, .ca = ha.ca};
  if (ha.etcd.empty()) {
    if (!ha.psk_file.empty() && ha.psk.empty()) {
      const auto now = config::read_replica_key(ha.psk_file, configuration_context());
      return std::unexpected(now ? ha.psk_file + ": was not readable at the start" : now.error());
    }
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

void Instance::say_expiry(bool again) {
  const auto& ha = files_.ha;
  if (ha.cert.empty() || !ha.psk.empty() || !ha.copies()) return;
  const auto now = std::chrono::sys_seconds(std::chrono::seconds(sm::unix_now()));
  for (const auto& warning : dates_.look({.cert = ha.cert, .key = ha.key, .ca = ha.ca}, now, again)) {
    const bool is_list = warning.of == tls::Dated::crl;
    log_.warn(is_list ? "ha.crl_expires" : "ha.certificate_expires")
        .kv("reason", warning.reason)
        .kv("action",
            is_list ? "put a current list into that file, then restart: without it the state is not copied"
                    : "replace it, then restart: without it the state is not copied")
        .always();
  }
}

/// What is in use comes to its end without a reload.
asio::awaitable<void> Instance::look_at_dates() {
  while (co_await clock_.sleep(tls::kLookAtDates)) say_expiry(false);
}

bool Instance::is_replicated() const {
  return spec_.config.ha.copies() && !spec_.options.dry_run && !spec_.options.once;
}

void Instance::show_replica() {
  if (!is_replicated()) return;
  auto view = std::make_shared<replica::ReplicaView>();
  view->mode = replica::to_string(mode_of(spec_.config.ha.mode));
  view->direct = spec_.config.ha.etcd.empty();
  replica_->set(std::move(view));
}

/// A copy that cannot be made keeps nothing from its work: the pair is a plain one of IBA then.
void Instance::open_replica() {
  if (!is_replicated()) return;
  const auto& ha = spec_.config.ha;
  auto network = open_network();
  if (!network) {
    log_.error("ha.not_replicated")
        .kv("reason", network.error())
        .kv("action", "the state is not copied; correct it, then restart")
        .always();
    auto view = std::make_shared<replica::ReplicaView>();
    view->mode = replica::to_string(mode_of(ha.mode));
    view->master = "the state is not copied";
    view->failure = network.error();
    replica_->set(std::move(view));
    return;
  }
  say_expiry(true);
  group_.spawn(look_at_dates());
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
              [this](sa::RegistryPtr other, sa::RegistryPtr common) {
                if (sa_) sa_->unite(std::move(other), std::move(common));
              },
          .inherited_policies =
              [this](policy::PoliciesPtr other, policy::PoliciesPtr common) {
                group_.spawn(inherit(std::move(other), std::move(common)));
              },
          .refused = [this](Guid port) { refused(port); },
          .wall = sm::unix_now,
          .answer = [this](replica::Call call,
                           Guid standby) { return answer_call(std::move(call), standby); },
          .published = replica_},
      replica::ReplicatorOptions{.subnet = spec_.config.name, .mode = mode_of(ha.mode), .peers = peers});
  replicator_->start();
}

/// What clients have registered and what the API has made is the master's from now on.
void Instance::replaced() {
  registry_.set(replicator_->registry());
  if (sa_) sa_->know_before(nullptr);
  if (left_policies_) group_.spawn(say_left_changes());
  const bool policy = adopt_replica_policy();
  set_policy_state(with_unkept_uses(replicator_->policies()));
  if (policy && manager_) manager_->requests().reload(spec_.config);
  if (policy && sa_) sa_->set(sa::settings_of(spec_.config));
}

/// Two parts of a fabric are joined, or we return after a failure: of what the API has changed the master's
/// counts, which we copy. Whether it lacks ours or has changed them since is not known. One that has heard of
/// our partitions makes them, too, as soon as it can.
asio::awaitable<void> Instance::say_left_changes() {
  const auto ours = std::exchange(left_policies_, nullptr);
  if (!ours) co_return;
  const auto end = clock_.now() + left_wait_;
  auto left = policy::left_changes(*ours, *replicator_->policies(), sm::unix_now());
  for (bool time = true; time && !left.partitions.empty() && clock_.now() < end;) {
    time = co_await clock_.sleep(kLookAgain);
    if (!replicator_->following().follows) break;
    left = policy::left_changes(*ours, *replicator_->policies(), sm::unix_now());
  }
  const auto say = [&](std::string_view event, std::string_view what, const std::vector<std::string>& names,
                       std::string_view reason, std::string_view action) {
    if (names.empty()) return;
    log_.warn(event)
        .kv(what, fmt::format("{}", fmt::join(names, ",")))
        .kv("reason", reason)
        .kv("action", action)
        .always();
  };
  say("ha.partitions_left", "partitions", left.partitions,
      "they were so here when this SM was master last; the master has others or none of these names",
      "those of the master count: create these there, unless they were changed there on purpose");
  say("ha.ports_left", "ports", left.ports,
      "they are disabled by an order of the master, or of this SM when it was master last, but not of both",
      "the master's orders count: smd port disable or enable there; a port may still be disabled without "
      "one");
  say("ha.tokens_left", "tokens", left.tokens,
      "they are valid at the master, or were here when this SM was master last, but not the same at both",
      "the master's count: look whether one of them was revoked here, and revoke it there");
}

/// What the master has accepted, instead of what our files say of partitions, QoS, LIDs, links and routing.
/// True: it is not what was in force.
bool Instance::adopt_replica_policy() {
  if (!replicator_ || !replicator_->following().follows) return false;
  return adopt_accepted(*replicator_->policies());
}

bool Instance::adopt_accepted(const policy::Policies& policies) {
  if (!replicator_) return false;
  const auto& accepted = policies.accepted;
  std::pair of(accepted, policies.class_sls);
  if (accepted.empty() || of == compared_) return false;
  compared_ = std::move(of);
  const bool differed = !differs_.keys.empty();
  differs_ =
      policy::accepted_differences(accepted, policy::accepted_text(policy::with_kept_sls(files_, policies)));
  if (files_.ha.policy == config::HaPolicy::local) {
    say_policy_differs("a takeover brings the values of our files, as [ha] policy is \"local\"");
    differs_ = {};
    return false;
  }
  now_.config_differs = differs_.keys;
  view_.set(std::make_shared<api::SubnetView>(now_));
  if (differs_.keys.empty() && !differed) return false;
  auto config = files_;
  if (!differs_.keys.empty()) {
    auto restored = policy::restore_accepted(accepted, config);
    if (restored) restored = policy::restore_accepted_settings(accepted, configuration_context(), config);
    say_policy_differs(restored ? "the master's are in force until a reload as master"
                                : "what our files say stays in force: " + restored.error());
    if (!restored) config = files_;
  }
  spec_.config = std::move(config);
  return true;
}

void Instance::say_policy_differs(const std::string& action) {
  if (differs_.keys.empty()) return;
  auto line = log_.warn("ha.config_differs");
  line.kv("keys", fmt::format("{}", fmt::join(differs_.keys, ",")));
  if (!differs_.values.empty()) line.kv("values", fmt::format("{}", fmt::join(differs_.values, "; ")));
  line.kv("action", action).always();
}

/// Another SM has a later epoch than we have, or the same. On this fabric the ranks decide; else the fabric
/// is split, and each part has its master.
void Instance::refused(Guid port) {
  const auto view = sms_->get();
  const bool here = view && std::ranges::any_of(view->others, [&](const sm::SeenSm& other) {
                      return other.sm.info.guid == port;
                    });
  if (here && manager_)
    return manager_->requests().resweep(sm::Resweep::heavy, fmt::format("SM {} has an epoch as late", port));
  log_.error("ha.split")
      .kv("sm", port)
      .kv("reason", "its epoch is as late as ours or later, and it is not on this fabric")
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
  if (const auto use = api::used_token(call)) {
    keep_use(use->token, sm::unix_now() - use->ago);
    co_return replica::CallAnswer{.status = 204};
  }
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
