// SPDX-License-Identifier: Apache-2.0
#include "smd/store/store_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "mad/suspend.h"

namespace smd::store {
namespace {

/// Of what another process or a slow disk has held up: it may be over at any time.
constexpr std::chrono::nanoseconds kLateRetry = std::chrono::seconds(1);

Place counting(Place place, std::shared_ptr<std::atomic<std::uint64_t>> steps) {
  place.steps = std::move(steps);
  return place;
}

/// An answer from the thread to a coroutine that waits for it.
template <class T>
struct Answer {
  std::optional<T> value;  // on the coroutine's executor only, as is `waiter`
  mad::SuspensionPtr waiter;
  std::mutex mutex;
  bool told = false;      // on its way to the executor
  bool given_up = false;  // the executor may be gone
};

/// How the thread gives its answer.
template <class T>
std::move_only_function<void(T)> answer_to(asio::any_io_executor executor,
                                           std::shared_ptr<Answer<T>> answer) {
  return [executor = std::move(executor), answer = std::move(answer)](T value) mutable {
    const std::scoped_lock lock(answer->mutex);
    if (answer->given_up) return;
    answer->told = true;
    asio::post(executor, [answer, value = std::move(value)]() mutable {
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

/// Until there is an answer, or `time` is over; when cancelled for `at_end` at most.
asio::awaitable<void> wait_for(std::shared_ptr<Answer<bool>> answer, mad::Clock* clock, mad::Duration time,
                               mad::Duration at_end) {
  const auto executor = co_await asio::this_coro::executor;
  auto end = clock->now() + time;
  if (!answer->value) {
    const auto timer = clock->call_at(end, [answer] {
      if (answer->waiter) answer->waiter->resume(true);
    });
    const bool woken =
        co_await mad::suspend([answer](mad::SuspensionPtr waiter) { answer->waiter = std::move(waiter); });
    clock->cancel(timer);
    if (!woken) end = std::min(end, clock->now() + at_end);
  }
  // Cancelled: suspend() returns at once, and the answer is waited for all the same.
  while (!answer->value && clock->now() < end) co_await asio::post(executor, asio::use_awaitable);
}

}  // namespace

class StoreThread::Handle final : public Store {
 public:
  Handle(StoreThread& thread, std::string subnet, mad::Clock* clock, const Kept& loaded)
      : thread_(thread),
        subnet_(std::move(subnet)),
        clock_(clock),
        latest_(std::get<sm::StoredPtr>(loaded)),
        safe_(latest_),
        registry_(std::get<sa::RegistryPtr>(loaded)),
        policies_(std::get<policy::PoliciesPtr>(loaded)),
        replica_(std::get<ReplicaStatePtr>(loaded)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() override {
    thread_.add({.task = [subnet = subnet_](SubnetStates& shelves) { shelves.close(subnet); }, .put = {}});
  }

  sm::StoredPtr loaded() const override { return latest_; }

  asio::awaitable<bool> commit(sm::StoredPtr now) override {
    if (now == safe_) co_return true;
    const bool written = co_await thread_.put(subnet_, now, clock_);
    safe_ = written ? now : nullptr;
    latest_ = std::move(now);
    co_return written;
  }

  sa::RegistryPtr registry() const override { return registry_; }

  asio::awaitable<bool> commit_registry(sa::RegistryPtr now) override {
    const bool written = co_await thread_.put(subnet_, now, clock_);
    registry_ = std::move(now);
    co_return written;
  }

  policy::PoliciesPtr policies() const override { return policies_; }

  asio::awaitable<bool> commit_policies(policy::PoliciesPtr now) override {
    const bool written = co_await thread_.put(subnet_, now, clock_);
    policies_ = std::move(now);
    co_return written;
  }

  asio::awaitable<bool> commit_change(policy::PoliciesPtr now) override {
    const bool written = co_await thread_.put(subnet_, now, clock_, Waits::long_);
    policies_ = std::move(now);
    co_return written;
  }

  ReplicaStatePtr replica() const override { return replica_; }

  asio::awaitable<bool> commit_replica(ReplicaStatePtr now) override {
    const bool written = co_await thread_.put(subnet_, now, clock_);
    replica_ = std::move(now);
    co_return written;
  }

  asio::awaitable<bool> commit_all(Kept now) override {
    auto& [stored, registry, policies, replica] = now;
    std::vector<Item> before;
    if (stored != safe_) before.push_back(item_of(subnet_, stored));
    if (registry != registry_) before.push_back(item_of(subnet_, registry));
    if (policies != policies_) before.push_back(item_of(subnet_, policies));
    const bool written = co_await thread_.put(std::move(before), item_of(subnet_, replica), clock_);
    safe_ = written ? stored : nullptr;
    latest_ = std::move(stored);
    registry_ = std::move(registry);
    policies_ = std::move(policies);
    replica_ = std::move(replica);
    co_return written;
  }

 private:
  StoreThread& thread_;
  std::string subnet_;
  mad::Clock* clock_;
  sm::StoredPtr latest_;
  sm::StoredPtr safe_;  ///< known to be on the disk
  sa::RegistryPtr registry_;
  policy::PoliciesPtr policies_;
  ReplicaStatePtr replica_;
};

StoreThread::StoreThread(Options options, log::Log log)
    : retry_(options.retry),
      patience_(options.patience),
      change_patience_(options.change_patience),
      states_(counting(std::move(options.place), steps_), std::move(log)),
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
    add_locked(std::move(item));
  }
  wake_.notify_all();
}

/// The mutex is held.
void StoreThread::add_locked(Item item) {
  auto* same = item.put.empty() ? nullptr : waiting_put(item.put);
  if (same == nullptr) {
    items_.push_back(std::move(item));
  } else {
    same->task = std::move(item.task);
    std::ranges::move(item.written, std::back_inserter(same->written));
  }
}

/// Not begun, and with nothing but puts after it: queues stay short while a disk takes nothing.
StoreThread::Item* StoreThread::waiting_put(const std::string& put) {
  for (auto& item : std::views::reverse(items_)) {
    if (item.put.empty()) return nullptr;
    if (item.put == put) return &item;
  }
  return nullptr;
}

void StoreThread::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto asked = [this] { return stopping_ || !items_.empty(); };
    if (states_.behind()) {
      wake_.wait_for(lock, late_ ? std::min(retry_, kLateRetry) : retry_, asked);
    } else {
      wake_.wait(lock, asked);
    }
    if (stopping_ && items_.empty()) return;
    auto items = std::exchange(items_, {});
    lock.unlock();
    run(std::move(items));
    lock.lock();
  }
}

void StoreThread::run(std::deque<Item> items) {
  std::vector<std::move_only_function<void(bool)>> waiting;
  bool changed = false;
  const auto write = [&] {
    changed = false;
    const bool written = states_.write();
    for (auto& answer : std::exchange(waiting, {})) answer(written);
    if (!written) return;
    // After the answers: what has given up until then has its end here.
    late_ = false;
    states_.ongoing_failure()->end();
  };
  for (auto& item : items) {
    // A task that is no change of a subnet, as its end, sees all changes before it written.
    if (item.put.empty() && changed) write();
    item.task(states_);
    changed = changed || !item.put.empty();
    std::ranges::move(item.written, std::back_inserter(waiting));
  }
  if (changed || states_.behind()) write();
}

asio::awaitable<std::expected<std::unique_ptr<Store>, std::string>> StoreThread::open(std::string subnet,
                                                                                      mad::Clock* clock) {
  using Loaded = std::expected<Kept, std::string>;
  auto answer = std::make_shared<Answer<Loaded>>();
  const auto executor = co_await asio::this_coro::executor;
  auto tell = answer_to(executor, answer);
  add({.task =
           [subnet, tell = std::move(tell)](SubnetStates& shelves) mutable {
             auto stored = shelves.open(subnet);
             tell(stored ? Loaded(shelves.kept(subnet)) : Loaded(std::unexpected(std::move(stored.error()))));
           },
       .put = {}});
  auto loaded = co_await answer_of(answer);
  if (!loaded) co_return std::unexpected(std::move(loaded.error()));
  co_return std::make_unique<Handle>(*this, std::move(subnet), clock, *loaded);
}

template <class State>
StoreThread::Item StoreThread::item_of(std::string subnet, std::shared_ptr<const State> now) {
  constexpr std::string_view kKind = std::is_same_v<State, sm::Stored>     ? "stored "
                                     : std::is_same_v<State, sa::Registry> ? "registry "
                                     : std::is_same_v<State, ReplicaState> ? "replica "
                                                                           : "policies ";
  Item item;
  item.put = std::string(kKind) + subnet;
  item.task = [subnet = std::move(subnet), now = std::move(now)](SubnetStates& shelves) {
    shelves.put(subnet, now);
  };
  return item;
}

template <class State>
asio::awaitable<bool> StoreThread::put(std::string subnet, std::shared_ptr<const State> now,
                                       mad::Clock* clock, Waits how) {
  co_return co_await put({}, item_of(std::move(subnet), std::move(now)), clock, how);
}

asio::awaitable<bool> StoreThread::put(std::vector<Item> before, Item item, mad::Clock* clock, Waits how) {
  const bool waits = how == Waits::long_ || !late_;
  const auto patience = how == Waits::long_ ? change_patience_ : patience_;
  auto answer = std::make_shared<Answer<bool>>();
  const auto executor = co_await asio::this_coro::executor;
  if (waits) item.written.push_back(answer_to(executor, answer));
  {
    const std::scoped_lock lock(mutex_);
    for (auto& one : before) add_locked(std::move(one));
    add_locked(std::move(item));
  }
  wake_.notify_all();
  if (!waits) co_return false;
  std::uint64_t seen = 0;
  while (clock != nullptr && !answer->value) {
    seen = steps_->load();
    co_await wait_for(answer, clock, patience, patience_);
    if (answer->value || steps_->load() != seen) continue;
    const std::scoped_lock lock(answer->mutex);
    if (answer->told) break;
    answer->given_up = true;
    late_ = true;
    states_.ongoing_failure()->begin(fmt::format(
        "a change is not on the disk after {} ms: it is slow, or another process has locked the file",
        std::chrono::duration_cast<std::chrono::milliseconds>(patience).count()));
    co_return false;
  }
  co_return co_await answer_of(answer);
}

}  // namespace smd::store
