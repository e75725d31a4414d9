// SPDX-License-Identifier: Apache-2.0
#include "smd/store/store_thread.h"

#include <iterator>
#include <utility>

#include "mad/suspend.h"

namespace smd::store {
namespace {

/// An answer from the thread to a coroutine that waits for it.
template <class T>
struct Answer {
  std::optional<T> value;  // on the coroutine's executor only, as is `waiter`
  mad::SuspensionPtr waiter;
};

/// How the thread gives its answer.
template <class T>
std::move_only_function<void(T)> answer_to(asio::any_io_executor executor,
                                           std::shared_ptr<Answer<T>> answer) {
  return [executor = std::move(executor), answer = std::move(answer)](T value) mutable {
    asio::post(executor, [answer = std::move(answer), value = std::move(value)]() mutable {
      answer->value.emplace(std::move(value));
      if (answer->waiter) answer->waiter->resume(true);
    });
  };
}

/// Also when cancelled only with the answer: the thread posts to our executor, which must live until then.
template <class T>
asio::awaitable<T> answer_of(std::shared_ptr<Answer<T>> answer) {
  const auto executor = co_await asio::this_coro::executor;
  if (!answer->value) {
    co_await mad::suspend([answer](mad::SuspensionPtr waiter) { answer->waiter = std::move(waiter); });
  }
  while (!answer->value) co_await asio::post(executor, asio::use_awaitable);
  co_return std::move(*answer->value);
}

}  // namespace

class StoreThread::Handle final : public Store {
 public:
  Handle(StoreThread& thread, std::string subnet, sm::StoredPtr loaded, sa::RegistryPtr registry)
      : thread_(thread),
        subnet_(std::move(subnet)),
        latest_(loaded),
        safe_(std::move(loaded)),
        registry_(std::move(registry)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() override {
    thread_.add(
        {.task = [subnet = subnet_](Shelves& shelves) { shelves.close(subnet); }, .written = nullptr});
  }

  sm::StoredPtr loaded() const override { return latest_; }

  asio::awaitable<bool> commit(sm::StoredPtr now) override {
    if (now == safe_) co_return true;
    const bool written = co_await thread_.put(subnet_, now);
    safe_ = written ? now : nullptr;
    latest_ = std::move(now);
    co_return written;
  }

  sa::RegistryPtr registry() const override { return registry_; }

  asio::awaitable<bool> commit_registry(sa::RegistryPtr now) override {
    const bool written = co_await thread_.put(subnet_, now);
    registry_ = std::move(now);
    co_return written;
  }

 private:
  StoreThread& thread_;
  std::string subnet_;
  sm::StoredPtr latest_;
  sm::StoredPtr safe_;  ///< known to be on the disk
  sa::RegistryPtr registry_;
};

StoreThread::StoreThread(Options options, log::Log log)
    : retry_(options.retry),
      shelves_(std::move(options.place), std::move(log)),
      thread_([this] { work(); }) {}

StoreThread::~StoreThread() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void StoreThread::add(Item item) {
  {
    const std::scoped_lock lock(mutex_);
    items_.push_back(std::move(item));
  }
  wake_.notify_all();
}

void StoreThread::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto asked = [this] { return stopping_ || !items_.empty(); };
    if (shelves_.behind()) {
      wake_.wait_for(lock, retry_, asked);
    } else {
      wake_.wait(lock, asked);
    }
    if (stopping_ && items_.empty()) return;
    auto items = std::exchange(items_, {});
    lock.unlock();
    std::vector<std::move_only_function<void(bool)>> waiting;
    const auto write = [&] {
      const bool written = shelves_.write();
      for (auto& answer : std::exchange(waiting, {})) answer(written);
    };
    for (auto& item : items) {
      // A task that is no change of a subnet, as its end, sees all changes before it written.
      if (!item.written && !waiting.empty()) write();
      item.task(shelves_);
      if (item.written) waiting.push_back(std::move(item.written));
    }
    if (!waiting.empty() || shelves_.behind()) write();
    lock.lock();
  }
}

asio::awaitable<std::expected<std::unique_ptr<Store>, std::string>> StoreThread::open(std::string subnet) {
  struct Both {
    sm::StoredPtr stored;
    sa::RegistryPtr registry;
  };
  using Loaded = std::expected<Both, std::string>;
  auto answer = std::make_shared<Answer<Loaded>>();
  const auto executor = co_await asio::this_coro::executor;
  auto tell = answer_to(executor, answer);
  add({.task =
           [subnet, tell = std::move(tell)](Shelves& shelves) mutable {
             auto stored = shelves.open(subnet);
             tell(stored ? Loaded(Both{std::move(*stored), shelves.registry(subnet)})
                         : Loaded(std::unexpected(std::move(stored.error()))));
           },
       .written = nullptr});
  auto loaded = co_await answer_of(answer);
  if (!loaded) co_return std::unexpected(std::move(loaded.error()));
  co_return std::make_unique<Handle>(*this, std::move(subnet), std::move(loaded->stored),
                                     std::move(loaded->registry));
}

template <class State>
asio::awaitable<bool> StoreThread::put(std::string subnet, std::shared_ptr<const State> now) {
  auto answer = std::make_shared<Answer<bool>>();
  const auto executor = co_await asio::this_coro::executor;
  auto tell = answer_to(executor, answer);
  add({.task = [subnet = std::move(subnet),
                now = std::move(now)](Shelves& shelves) { shelves.put(subnet, now); },
       .written = std::move(tell)});
  co_return co_await answer_of(answer);
}

}  // namespace smd::store
