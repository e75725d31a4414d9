// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a manager keeps what has to outlive it. Nothing that rests on a change is sent to a client, or
// written to the fabric, before the change's commit has returned.

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "mad/asio.h"
#include "smd/decide/stored.h"
#include "smd/policy/policies.h"
#include "smd/registry/registry.h"
#include "smd/store/kept.h"
#include "smd/store/replica_state.h"

namespace smd::store {

/// What a store says of the other SMs of a pair.
struct Following {
  /// What is kept belongs to another SM, which is master: it is not changed here.
  bool follows = false;
  /// What that SM committed last may be missing.
  bool stale = false;
  /// Goes up when what is kept was replaced by what another SM has committed.
  std::uint64_t replaced = 0;
  /// What clients have registered is that of the fabric: it is copied, or we are master. An SM that becomes
  /// master is so before the sweep that the SA hears of it by.
  bool knows_clients = false;
  /// All that clients had registered with the master whom we follow, or whose state our mastership began
  /// with, is here. Not where the master before is one that is not copied.
  bool current = false;
};

/// Of one subnet. Used on its manager's thread; outlives the manager.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  /// What was committed last; at first what was kept when the store was opened.
  virtual sm::StoredPtr loaded() const = 0;
  /// Returns when `now` is kept (true), or cannot be kept at present (false): then that is logged, and the
  /// store tries again by itself. Cannot be cancelled.
  virtual asio::awaitable<bool> commit(sm::StoredPtr now) = 0;

  /// The same of what clients have registered; without it they have to register again after a restart.
  virtual sa::RegistryPtr registry() const { return std::make_shared<const sa::Registry>(); }
  /// As commit(), of the registry; by default nothing is kept.
  virtual asio::awaitable<bool> commit_registry(sa::RegistryPtr /*now*/) { co_return true; }

  /// The same of what the API has made.
  virtual policy::PoliciesPtr policies() const { return std::make_shared<const policy::Policies>(); }
  /// As commit(), of the policies; by default nothing is kept.
  virtual asio::awaitable<bool> commit_policies(policy::PoliciesPtr /*now*/) { co_return true; }
  /// As commit_policies(), of a change whose client waits for the answer: a slow disk is waited for longer.
  virtual asio::awaitable<bool> commit_change(policy::PoliciesPtr now) {
    co_return co_await commit_policies(std::move(now));
  }

  /// The same of where a copy of another SM's state stands.
  virtual ReplicaStatePtr replica() const { return std::make_shared<const ReplicaState>(); }
  /// As commit(), of the replica; by default nothing is kept.
  virtual asio::awaitable<bool> commit_replica(ReplicaStatePtr /*now*/) { co_return true; }

  /// As commit(), of all of it; where `now` is a copy, its position is never kept before what it stands for.
  virtual asio::awaitable<bool> commit_all(Kept now) {
    bool kept = co_await commit(std::get<sm::StoredPtr>(now));
    kept &= co_await commit_registry(std::get<sa::RegistryPtr>(now));
    kept &= co_await commit_policies(std::get<policy::PoliciesPtr>(now));
    kept &= co_await commit_replica(std::get<ReplicaStatePtr>(now));
    co_return kept;
  }

  /// By default nothing is copied from another SM.
  virtual Following following() const { return {}; }
  /// M_Keys of ports by an SM that was master beside us, of a part of the fabric, and is our standby now.
  /// Null: none has left any.
  virtual std::shared_ptr<const sm::Stored::MKeys> left_m_keys() const { return nullptr; }
  /// Whether clients may be told of what was committed last; else they are to ask again (BUSY).
  virtual bool may_answer() const { return true; }
  /// Until the standby on this port (nothing: any) has all that was committed, 50 ms at most; at once where
  /// no standby copies it.
  virtual asio::awaitable<void> settle(std::optional<Guid> /*standby*/) { co_return; }
  /// The SM on this port copies what is committed here, and has not had all of it for more than 50 ms.
  virtual bool lags(Guid /*standby*/) const { return false; }
  /// The SMs that copy what is committed here now, by their ports; true: it has all of it, but for the last
  /// 50 ms. Nothing: this store is never copied.
  virtual std::optional<std::map<Guid, bool>> copies() const { return std::nullopt; }
};

/// Keeps it as long as it lives: for tests, and where no state directory was named.
class MemoryStore final : public Store {
 public:
  sm::StoredPtr loaded() const override { return kept_; }
  asio::awaitable<bool> commit(sm::StoredPtr now) override {
    kept_ = std::move(now);
    co_return true;
  }
  sa::RegistryPtr registry() const override { return registry_; }
  asio::awaitable<bool> commit_registry(sa::RegistryPtr now) override {
    registry_ = std::move(now);
    co_return true;
  }
  policy::PoliciesPtr policies() const override { return policies_; }
  asio::awaitable<bool> commit_policies(policy::PoliciesPtr now) override {
    policies_ = std::move(now);
    co_return true;
  }
  ReplicaStatePtr replica() const override { return replica_; }
  asio::awaitable<bool> commit_replica(ReplicaStatePtr now) override {
    replica_ = std::move(now);
    co_return true;
  }

 private:
  sm::StoredPtr kept_ = std::make_shared<const sm::Stored>();
  sa::RegistryPtr registry_ = std::make_shared<const sa::Registry>();
  policy::PoliciesPtr policies_ = std::make_shared<const policy::Policies>();
  ReplicaStatePtr replica_ = std::make_shared<const ReplicaState>();
};

}  // namespace smd::store
