// SPDX-License-Identifier: Apache-2.0
#include "mad/task_group.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "mad/base/bug.h"

namespace smd::mad {
namespace {

asio::awaitable<void> run(asio::awaitable<void> task) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await std::move(task);
}

[[noreturn]] void die(const std::exception_ptr& thrown) {
  const char* what = "not a std::exception";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    what = error.what();
    std::fprintf(stderr, "a task ended by an exception, which none may: %s\n", what);
    std::abort();
  } catch (...) {
    std::fprintf(stderr, "a task ended by an exception, which none may: %s\n", what);
    std::abort();
  }
}

}  // namespace

TaskGroup::~TaskGroup() { SMD_ASSERT(tasks_.empty()); }

void TaskGroup::spawn(asio::awaitable<void> task) {
  if (stopping_) return;
  const auto entry = tasks_.emplace(tasks_.end());
  asio::co_spawn(
      executor_, run(std::move(task)),
      asio::bind_cancellation_slot(entry->signal.slot(), [this, entry](const std::exception_ptr& thrown) {
        if (thrown) die(thrown);
        // Not at once: we may be called from within this very signal's emit().
        asio::post(executor_, [this, entry] { ended(entry); });
      }));
}

void TaskGroup::ended(std::list<Task>::iterator task) {
  tasks_.erase(task);
  if (tasks_.empty()) joiners_.wake_all();
}

asio::awaitable<void> TaskGroup::stop() {
  stopping_ = true;
  for (auto& task : tasks_) task.signal.emit(asio::cancellation_type::terminal);
  co_await join();
  // A waiter that is cancelled itself cannot sleep: it takes turns with the tasks that are ending.
  while (!tasks_.empty()) co_await asio::post(executor_, asio::use_awaitable);
}

asio::awaitable<void> TaskGroup::join() {
  while (!tasks_.empty()) {
    const bool woken = co_await joiners_.wait();
    if (!woken) co_return;
  }
}

}  // namespace smd::mad
