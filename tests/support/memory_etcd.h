// SPDX-License-Identifier: Apache-2.0
#pragma once
// An etcd in memory and virtual time, with faults: revisions, leases, watches, compaction, a quota.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mad/clock.h"
#include "mad/suspend.h"
#include "smd/etcd/client.h"

namespace smd::test {

/// All of it on one io_context; outlives its clients.
class MemoryEtcd {
 public:
  using State = std::map<std::string, std::shared_ptr<const std::string>>;

  explicit MemoryEtcd(mad::Clock& clock) : clock_(clock) {}
  ~MemoryEtcd() {
    for (const auto& [id, lease] : leases_) clock_.cancel(lease.timer);
  }
  MemoryEtcd(const MemoryEtcd&) = delete;
  MemoryEtcd& operator=(const MemoryEtcd&) = delete;

  bool down = false;                                   ///< no call is answered
  bool silent = false;                                 ///< calls end after 3 s
  bool full = false;                                   ///< the alarm NOSPACE
  mad::Duration delay = std::chrono::milliseconds(1);  ///< of each answer
  std::size_t most_operations = 0;                     ///< of the transactions so far
  std::size_t largest = 0;                             ///< bytes of a transaction so far
  std::size_t writes = 0;                              ///< transactions so far

  std::unique_ptr<etcd::Clients> clients() { return std::make_unique<Maker>(*this); }
  /// What was before now is gone.
  void compact() {
    compacted_ = revision_;
    states_.erase(states_.begin(), states_.find(revision_));
  }
  /// Ends connections: their calls and watches.
  void break_all() {
    ++generation_;
    watchers_.wake_all();
  }
  const State& now() const { return states_.at(revision_); }
  std::string value(const std::string& key) const {
    const auto at = now().find(key);
    return at == now().end() ? std::string() : *at->second;
  }
  /// Keys that have this in them.
  std::size_t keys(const std::string& part) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        now(), [&](const auto& row) { return row.first.find(part) != std::string::npos; }));
  }
  void put(const std::string& key, const std::string& value) {
    for (auto& [id, lease] : leases_) std::erase(lease.keys, key);
    auto next = now();
    next[key] = std::make_shared<const std::string>(value);
    step(std::move(next));
  }

 private:
  struct Lease {
    std::chrono::seconds time{};
    mad::Clock::TimerId timer = 0;
    std::vector<std::string> keys{};
  };

  void step(State next) {
    states_.emplace(++revision_, std::move(next));
    watchers_.wake_all();
  }
  void begin(std::int64_t id) {
    auto& lease = leases_.at(id);
    clock_.cancel(lease.timer);
    lease.timer = clock_.call_at(clock_.now() + lease.time, [this, id] { end(id); });
  }
  void end(std::int64_t id) {
    auto lease = leases_.extract(id);
    if (lease.empty()) return;
    clock_.cancel(lease.mapped().timer);
    auto next = now();
    for (const auto& key : lease.mapped().keys) next.erase(key);
    step(std::move(next));
  }

  class One final : public etcd::Client {
   public:
    explicit One(MemoryEtcd& all) : all_(all), generation_(all.generation_) {}

    etcd::Answered<etcd::RangeAnswer> range(etcd::RangeAsk ask) override {
      const auto wrong = co_await turn();
      if (wrong) co_return std::unexpected(*wrong);
      if (ask.revision != 0 && ask.revision < all_.compacted_)
        co_return std::unexpected(etcd::Error{.kind = etcd::ErrorKind::compacted, .text = "compacted"});
      const auto& state = all_.states_.at(ask.revision == 0 ? all_.revision_ : ask.revision);
      etcd::RangeAnswer answer{.revision = all_.revision_};
      for (auto at = state.lower_bound(ask.key); at != state.end() && at->first < ask.end; ++at) {
        answer.more = ask.limit != 0 && answer.rows.size() == static_cast<std::size_t>(ask.limit);
        if (answer.more) break;
        answer.rows.push_back({.key = at->first, .value = *at->second});
      }
      co_return answer;
    }
    etcd::Answered<etcd::TransactionAnswer> transact(etcd::Transaction transaction) override {
      const auto wrong = co_await turn();
      if (wrong) co_return std::unexpected(*wrong);
      if (all_.full && !transaction.puts.empty()) co_return std::unexpected(no_space());
      if (transaction.operations() > etcd::kMostOperations)
        co_return std::unexpected(refusal("too many operations"));
      all_.most_operations = std::max(all_.most_operations, transaction.operations());
      for (const auto& guard : transaction.guards) {
        const auto at = all_.now().find(guard.key);
        const bool holds =
            guard.absent ? at == all_.now().end() : at != all_.now().end() && *at->second == guard.value;
        if (!holds) co_return etcd::TransactionAnswer{.done = false, .revision = all_.revision_};
      }
      auto next = all_.now();
      std::size_t bytes = 0;
      for (const auto& put : transaction.puts) {
        for (const auto& erase : transaction.erases) {
          if (erase.key <= put.key && put.key < erase.end)
            co_return std::unexpected(refusal("duplicate key given"));
        }
        bytes += put.value.size();
        next[put.key] = std::make_shared<const std::string>(put.value);
        for (auto& [id, lease] : all_.leases_) std::erase(lease.keys, put.key);
        if (put.lease != 0) {
          if (!all_.leases_.contains(put.lease))
            co_return std::unexpected(refusal("requested lease not found"));
          all_.leases_.at(put.lease).keys.push_back(put.key);
        }
      }
      for (const auto& erase : transaction.erases)
        next.erase(next.lower_bound(erase.key), next.lower_bound(erase.end));
      all_.largest = std::max(all_.largest, bytes);
      ++all_.writes;
      all_.step(std::move(next));
      co_return etcd::TransactionAnswer{.done = true, .revision = all_.revision_};
    }
    etcd::Answered<std::int64_t> grant(std::chrono::seconds time) override {
      const auto wrong = co_await turn();
      if (wrong) co_return std::unexpected(*wrong);
      if (all_.full) co_return std::unexpected(no_space());
      const auto id = ++all_.last_lease_;
      all_.leases_.emplace(id, Lease{.time = time});
      all_.begin(id);
      co_return id;
    }
    etcd::Answered<bool> renew(std::int64_t lease) override {
      const auto wrong = co_await turn();
      if (wrong) co_return std::unexpected(*wrong);
      if (!all_.leases_.contains(lease)) co_return false;
      all_.begin(lease);
      co_return true;
    }
    etcd::Answered<bool> revoke(std::int64_t lease) override {
      const auto wrong = co_await turn();
      if (wrong) co_return std::unexpected(*wrong);
      if (!all_.leases_.contains(lease)) co_return std::unexpected(refusal("requested lease not found"));
      all_.end(lease);
      co_return true;
    }
    etcd::Answered<bool> watch(std::string key, std::string end, std::int64_t revision) override {
      const auto wrong = co_await turn();
      if (wrong) co_return std::unexpected(*wrong);
      from_ = {.key = std::move(key), .end = std::move(end)};
      seen_ = revision - 1;
      co_return true;
    }
    etcd::Answered<std::int64_t> changed() override {
      for (;;) {
        if (closed_ || all_.down || generation_ != all_.generation_) co_return std::unexpected(gone());
        if (seen_ + 1 < all_.compacted_)
          co_return std::unexpected(etcd::Error{.kind = etcd::ErrorKind::compacted, .text = "compacted"});
        if (seen_ < all_.revision_ && differs()) {
          seen_ = all_.revision_;
          co_return seen_;
        }
        seen_ = all_.revision_;
        const bool woken = co_await all_.watchers_.wait();
        if (!woken) co_return std::unexpected(gone());
      }
    }
    void close() override {
      closed_ = true;
      all_.watchers_.wake_all();
    }

   private:
    /// Of the state that was seen, and the one that is now.
    bool differs() const {
      const auto before = all_.states_.find(std::max(seen_, all_.compacted_));
      return before == all_.states_.end() || rows(before->second) != rows(all_.now());
    }
    State rows(const State& state) const {
      return {state.lower_bound(from_.key), state.lower_bound(from_.end)};
    }
    asio::awaitable<std::optional<etcd::Error>> turn() {
      const bool time =
          co_await all_.clock_.sleep(all_.silent ? mad::Duration(std::chrono::seconds(3)) : all_.delay);
      if (!time || closed_ || all_.down || all_.silent || generation_ != all_.generation_) co_return gone();
      co_return std::nullopt;
    }
    static etcd::Error gone() { return {.kind = etcd::ErrorKind::unreachable, .text = "connection refused"}; }
    static etcd::Error refusal(const char* why) { return {.kind = etcd::ErrorKind::refused, .text = why}; }
    static etcd::Error no_space() {
      return {.kind = etcd::ErrorKind::full, .text = "etcdserver: mvcc: database space exceeded"};
    }

    MemoryEtcd& all_;
    unsigned generation_;
    bool closed_ = false;
    etcd::Erase from_{};
    std::int64_t seen_ = 0;
  };

  class Maker final : public etcd::Clients {
   public:
    explicit Maker(MemoryEtcd& all) : all_(all) {}
    etcd::ClientPtr make() override { return std::make_shared<One>(all_); }

   private:
    MemoryEtcd& all_;
  };

  mad::Clock& clock_;
  std::map<std::int64_t, State> states_{{1, {}}};
  std::int64_t revision_ = 1, compacted_ = 0, last_lease_ = 0;
  std::map<std::int64_t, Lease> leases_;
  unsigned generation_ = 0;
  mad::WaitList watchers_;
};

}  // namespace smd::test
