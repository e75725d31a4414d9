// SPDX-License-Identifier: Apache-2.0
// Partitions that the API changes: kept first, then in force. And what files said when they were right last.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "smd/daemon/configuration.h"
#include "smd/daemon/instance.h"
#include "smd/policy/accepted.h"
#include "smd/policy/left_partitions.h"

namespace smd::daemon {
namespace {

/// Between two lines on a wrong policy.
constexpr mad::Duration kSayAgain = std::chrono::hours(1);
/// A master of two parts of a fabric changes nothing until a sweep has read all of it.
constexpr unsigned kInheritTries = 600;
constexpr mad::Duration kInheritAgain = std::chrono::seconds(1);

}  // namespace

/// The answer to a change; one that was never given is "not kept".
class Instance::Verdict {
 public:
  Verdict() = default;
  Verdict(const Verdict&) = delete;
  Verdict& operator=(const Verdict&) = delete;
  ~Verdict() { tell(api::PolicyVerdict::not_kept); }

  std::future<api::PolicyVerdict> future() { return promise_.get_future(); }
  void tell(api::PolicyVerdict verdict) {
    if (!std::exchange(told_, true)) promise_.set_value(verdict);
  }

 private:
  std::promise<api::PolicyVerdict> promise_;
  bool told_ = false;
};

std::future<api::PolicyVerdict> Instance::change_policies(api::PolicyChange change) {
  auto verdict = std::make_shared<Verdict>();
  auto future = verdict->future();
  asio::post(io_, [this, change = std::move(change), verdict = std::move(verdict)]() mutable {
    group_.spawn(take(std::move(change), std::move(verdict)));
  });
  return future;
}

void Instance::reindex(std::set<Guid> ports) {
  asio::post(io_, [this, ports = std::move(ports)] {
    if (manager_) manager_->requests().reindex(ports);
  });
}

/// The next change is made from what this one leaves, so they go to the disk one after another. False when
/// cancelled.
asio::awaitable<bool> Instance::policy_turn() {
  while (changing_policies_) {
    const bool woken = co_await policy_waiting_.wait();
    if (!woken) co_return false;
  }
  co_return true;
}

/// Another SM is master, or may be after a standstill of this thread: what is changed here is lost when its
/// state comes. A standby without a copy has tokens of its own.
bool Instance::may_be_lost(const api::PolicyChange& change) {
  if (kept() != nullptr && kept()->following().follows) return true;
  if (manager_) manager_->look_for_standstill();
  const auto sms = sms_->get();
  if (!sms || !now_.snapshot) return false;
  const auto& state = sms->state;
  if (state.sm != wire::SmState::master) return change.token.empty();
  return state.sets_held || state.contested;
}

/// The mastership may end before and during the commit: a change that would be lost is not answered as kept,
/// and is taken back, so that its Idempotency-Key knows no answer here. A standby may have got it with the
/// commit, and be the next master.
asio::awaitable<void> Instance::take(api::PolicyChange change, std::shared_ptr<Verdict> verdict) {
  const bool turn = co_await policy_turn();
  if (!turn) co_return;
  using enum api::PolicyVerdict;
  if (change.before != now_.policy_state) co_return verdict->tell(stale);
  if (may_be_lost(change)) co_return verdict->tell(not_master);
  changing_policies_ = true;
  bool kept = true;
  auto* const store = this->kept();
  if (store != nullptr) kept = co_await store->commit_change(change.after);
  const bool copied = store == nullptr || store->may_answer();
  const bool replaced = now_.policy_state->policies != change.before->policies;  // by the master's
  const bool lost = replaced || may_be_lost(change);
  if (store != nullptr && !replaced && (!kept || lost))
    co_await store->commit_policies(change.before->policies);
  if (kept && !lost) {
    // A reload during the commit has other files.
    set_policy_state(change.after, now_.policy_state == change.before ? change.merged : nullptr);
    if (manager_ && change.token.empty())
      manager_->requests().set_policies(change.after, now_.policy_state->merged);
    say(change);
  }
  changing_policies_ = false;
  policy_waiting_.wake_all();
  verdict->tell(lost ? maybe_lost : !kept ? not_kept : copied ? done : not_copied);
}

void Instance::train(api::PolicyChange::PortChange port, std::string event) {
  asio::post(io_, [this, to = std::move(port), event = std::move(event)] {
    say_port(to, event);
    if (manager_) manager_->requests().train(to.at);
  });
}

void Instance::say_port(const api::PolicyChange::PortChange& port, const std::string& event) {
  log_.info(event)
      .kv("guid", port.at.first)
      .kv("name", port.name)
      .kv("port", port.at.second)
      .kv("by", port.by)
      .always();
}

void Instance::say(const api::PolicyChange& change) {
  if (change.port) {
    if (change.what != "port.enabled") say_port(*change.port, change.what);  // train() says it
    return;
  }
  if (change.what.empty()) return;
  if (change.token.empty()) {
    log_.info("partition.changed")
        .kv("change", change.what)
        .kv("partition", change.partition)
        .kv("pkey", change.pkey)
        .kv("by", "API")
        .always();
  } else {
    log_.info("api.token").kv("change", change.what).kv("token", change.token).always();
  }
}

/// The other part of a fabric that was cut in two had a master, too: what the API has made there is made
/// here.
asio::awaitable<void> Instance::inherit(policy::PoliciesPtr other, policy::PoliciesPtr common) {
  using enum api::PolicyVerdict;
  for (unsigned tries = 0; tries < kInheritTries; ++tries) {
    const bool turn = co_await policy_turn();
    const auto sms = sms_->get();
    if (!turn || !sms || sms->state.sm != wire::SmState::master) co_return;
    const auto state = now_.policy_state;
    auto left = policy::with_left_partitions(
        {.config = state->config, .policies = state->policies, .merged = state->merged}, *other,
        common.get());
    auto got = done;
    if (!left.taken.empty()) {
      auto verdict = std::make_shared<Verdict>();
      auto future = verdict->future();
      api::PolicyChange change{.before = state,
                               .after = std::move(left.policies),
                               .merged = std::move(left.merged),
                               .what = {},
                               .partition = {}};
      co_await take(std::move(change), std::move(verdict));
      got = future.get();
    }
    if (got == done || got == not_copied) co_return say_inherited(left.taken, left.refused);
    const bool time = co_await clock_.sleep(kInheritAgain);
    if (!time) co_return;
  }
}

void Instance::say_inherited(const std::vector<std::string>& taken, const std::vector<std::string>& refused) {
  if (!taken.empty())
    log_.info("ha.partitions_inherited").kv("partitions", fmt::format("{}", fmt::join(taken, ","))).always();
  if (refused.empty()) return;
  log_.warn("ha.partitions_not_inherited")
      .kv("partitions", fmt::format("{}", fmt::join(refused, ", ")))
      .kv("action", "those of this SM count: change them here as they are to be")
      .always();
}

asio::awaitable<void> Instance::keep_uses() {
  const bool turn = co_await policy_turn();
  const auto uses = std::exchange(uses_, {});
  if (!turn) co_return;
  auto after = std::make_shared<policy::Policies>(*now_.policy_state->policies);
  std::string last;  // that is kept
  for (const auto& [name, used] : uses) {
    const auto before = kept_use(name);
    const auto at = after->tokens.find(name);
    if (!before || at == after->tokens.end() || used - *before < access::kUseKept) continue;
    at->second.last_use = std::max(at->second.last_use, used);
    last = name;
  }
  if (last.empty()) co_return;
  api::PolicyChange change{.before = now_.policy_state,
                           .after = std::move(after),
                           .merged = now_.policy_state->merged,
                           .what = {},
                           .partition = {},
                           .token = std::move(last)};
  co_await take(std::move(change), std::make_shared<Verdict>());
}

void Instance::set_policy_state(policy::PoliciesPtr policies, policy::MergedPtr merged) {
  if (!merged) merged = policy::merged_policy(spec_.config, *policies);
  ++now_.epoch;
  now_.kept.reset();
  now_.policy_state = std::make_shared<const api::PolicyState>(api::PolicyState{
      std::make_shared<const config::SubnetConfig>(spec_.config), std::move(policies), std::move(merged)});
  view_.set(std::make_shared<api::SubnetView>(now_));
}

/// Of the files, or where these are wrong the one that was accepted last. False: there is none.
bool Instance::adopt_policy() {
  const auto policies = kept() != nullptr ? kept()->policies() : std::make_shared<const policy::Policies>();
  const bool partitions = !spec_.config.partitions.refused.empty();
  const auto wrong = refused_policy();
  if (!wrong.empty()) {
    auto restored = policies->accepted.empty() ? std::unexpected(std::string())
                    : partitions               ? std::expected<void, std::string>()
                                               : policy::knows_qos(policies->accepted);
    // Both: partitions name classes, and their SLs follow from them.
    if (restored) restored = policy::restore_accepted(policies->accepted, spec_.config);
    if (restored)
      restored = policy::restore_accepted_tables(policies->accepted, configuration_context(), spec_.config);
    if (!restored) {
      refused_ = wrong;
      if (!restored.error().empty()) refused_ += "\nthe policy that was accepted last: " + restored.error();
      refused_status_ = 2;
      wait_for("state", refused_);
      return false;
    }
    files_ = spec_.config;
    group_.spawn(tell_refused_policy());
  }
  // A master that had taken over and not been reloaded goes on with what it took over.
  const auto by = policies->accepted_by;
  const bool of_another = wrong.empty() && by != Guid{} && by != end_->port_guid();
  if (of_another) adopt_accepted(*policies);
  set_policy_state(policies);
  if (wrong.empty() && differs_.keys.empty()) group_.spawn(remember_accepted());
  return true;
}

void Instance::show_refused(std::string partitions, std::string qos) {
  asio::post(io_, [this, partitions = std::move(partitions), qos = std::move(qos)]() mutable {
    auto& shown = spec_.config;
    if (shown.qos.refused == qos && shown.partitions.refused == partitions) return;
    files_.qos.refused = qos;
    files_.partitions.refused = partitions;
    shown.qos.refused = std::move(qos);
    shown.partitions.refused = std::move(partitions);
    if (now_.policy_state) set_policy_state(now_.policy_state->policies);
    if (manager_) manager_->requests().reload(spec_.config);
  });
}

/// What is wrong with the policy of the files, a line for each error; empty: nothing.
const std::string& Instance::refused_policy() const {
  const auto& partitions = spec_.config.partitions.refused;
  return partitions.empty() ? spec_.config.qos.refused : partitions;
}

/// For a start with files that are wrong.
asio::awaitable<void> Instance::remember_accepted() {
  const bool turn = co_await policy_turn();
  // Another SM may have become master meanwhile.
  if (!turn || (kept() != nullptr && kept()->following().follows)) co_return;
  const auto state = now_.policy_state;
  const auto& before = state->policies;
  const auto with_sls = policy::with_class_sls(spec_.config, before);
  const auto merged = with_sls == before ? state->merged : policy::merged_policy(spec_.config, *with_sls);
  auto text = policy::accepted_text(policy::with_kept_sls(spec_.config, *with_sls), merged.get());
  const auto own = end_->port_guid();
  if (with_sls == before && text == before->accepted && own == before->accepted_by) co_return;
  auto next = std::make_shared<policy::Policies>(*with_sls);
  next->accepted_by = own;
  next->accepted = std::move(text);
  changing_policies_ = true;
  if (kept() != nullptr)
    co_await kept()->commit_policies(next);  // what cannot be written now is written later
  // Both merge by the numbers that are kept.
  const bool numbers = policy::accepted_pkeys(next->accepted) != policy::accepted_pkeys(before->accepted);
  if (manager_ && (with_sls != before || numbers)) manager_->requests().set_policies(next);
  // What is accepted counts in a merge by the numbers alone that it keeps.
  const bool stands = now_.policy_state == state && policy::merges_by_sources(spec_.config);
  set_policy_state(std::move(next), stands ? state->merged : nullptr);
  changing_policies_ = false;
  policy_waiting_.wake_all();
}

asio::awaitable<void> Instance::tell_refused_policy() {
  for (bool time = true; time && !refused_policy().empty();) {
    log_.error("config.refused")
        .kv("error", refused_policy())
        .kv("action", "the policy that was accepted last stays in force; correct the file, then reload")
        .always();
    time = co_await clock_.sleep(kSayAgain);
  }
}

}  // namespace smd::daemon
