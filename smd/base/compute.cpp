// SPDX-License-Identifier: Apache-2.0
#include "smd/base/compute.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <cstddef>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>

#include "mad/base/scheduling.h"
#include "mad/suspend.h"

namespace smd::sm::inline common {

asio::awaitable<bool> InlineCompute::execute(Work work) {
  work({});
  const bool cancelled = co_await mad::was_cancelled();
  co_return !cancelled;
}

namespace {

/// The caller takes part, so that a call from a thread of the pool cannot wait for itself.
class PoolParallel final : public routing::Parallel {
 public:
  PoolParallel(asio::thread_pool& pool, unsigned threads) : pool_(pool), threads_(threads) {}
  unsigned threads() const override { return threads_; }

  void for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const override {
    struct Shared {
      explicit Shared(std::size_t count, const std::function<void(std::size_t)>& work)
          : n(count), fn(&work) {}
      std::size_t n;
      const std::function<void(std::size_t)>* fn;
      std::atomic<std::size_t> next{0};
      std::mutex mutex;
      std::condition_variable ended;
      std::size_t done = 0;
    };
    const auto shared = std::make_shared<Shared>(n, fn);
    // A helper that starts after all indexes are taken touches nothing but `shared`.
    const auto run = [](Shared& s) {
      std::size_t mine = 0;
      for (std::size_t i = s.next++; i < s.n; i = s.next++) {
        (*s.fn)(i);
        ++mine;
      }
      if (mine == 0) return;
      const std::scoped_lock lock(s.mutex);
      s.done += mine;
      if (s.done == s.n) s.ended.notify_all();
    };
    const std::size_t helpers = std::min<std::size_t>(threads_, n);
    for (std::size_t i = 1; i < helpers; ++i) asio::post(pool_, [shared, run] { run(*shared); });
    run(*shared);
    std::unique_lock lock(shared->mutex);
    shared->ended.wait(lock, [&] { return shared->done == shared->n; });
  }

 private:
  asio::thread_pool& pool_;
  unsigned threads_;
};

}  // namespace

struct PoolCompute::Impl {
  Impl(unsigned count, Priority priority, bool answers) : pool(count), parallel(pool, count) {
    // No thread takes the turn of one that has not begun yet.
    const auto all_begun = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(count));
    for (unsigned i = 0; i < count; ++i) {
      asio::post(pool, [priority, answers, all_begun] {
        if (priority == Priority::lower) base::lower_priority();
        if (answers) base::wake_at_once();
        all_begun->arrive_and_wait();
      });
    }
  }
  asio::thread_pool pool;
  PoolParallel parallel;
};

// A pool of a few threads makes answers that clients wait for: on busy processors they would wait there for a
// slice of time of each thread that computes.
PoolCompute::PoolCompute(unsigned threads, Priority priority)
    : impl_(std::make_unique<Impl>(threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency()),
                                   priority, threads != 0)) {}

PoolCompute::~PoolCompute() { impl_->pool.join(); }

const routing::Parallel& PoolCompute::parallel() const { return impl_->parallel; }

asio::awaitable<bool> PoolCompute::execute(Work work) {
  struct Shared {
    bool done = false;  // the io_context's thread only, and the waiter too
    mad::SuspensionPtr waiter;
    std::stop_source stop;
  };
  const auto executor = co_await asio::this_coro::executor;
  const auto shared = std::make_shared<Shared>();
  asio::post(impl_->pool, [executor, shared, task = std::move(work)]() mutable {
    task(shared->stop.get_token());
    asio::post(executor, [shared] {
      shared->done = true;
      if (shared->waiter) shared->waiter->resume(true);
    });
  });
  co_await mad::suspend([shared](mad::SuspensionPtr waiter) { shared->waiter = std::move(waiter); });
  const bool cancelled = co_await mad::was_cancelled();
  if (cancelled) shared->stop.request_stop();
  // The work refers to our frame, so we stay until it has stopped. A cancelled coroutine cannot sleep.
  while (!shared->done) co_await asio::post(executor, asio::use_awaitable);
  co_return !cancelled;
}

}  // namespace smd::sm::inline common
