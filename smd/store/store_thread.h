// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one thread that waits for disks. What arrives while it writes is one transaction afterwards.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mad/clock.h"
#include "smd/store/ongoing_failure.h"
#include "smd/store/store.h"
#include "smd/store/subnet_states.h"

namespace smd::store {

/// The store of a process: one state directory, one thread, a Store for each subnet. From any thread.
class StoreThread {
 public:
  struct Options {
    Place place;
    std::chrono::nanoseconds retry = std::chrono::seconds(10);  ///< of what could not be written
    /// A commit that makes no progress for so long returns false, and so does each that follows at once,
    /// until all is written: what is on its way stays on its way.
    std::chrono::nanoseconds patience = std::chrono::milliseconds(100);
    /// The same of commit_change(), which waits also where others do not. The API waits for 10 s.
    std::chrono::nanoseconds change_patience = std::chrono::seconds(8);
  };
  /// Starts the thread; nothing is opened before open().
  StoreThread(Options options, log::Log log);
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;
  /// What was put is written first.
  ~StoreThread();

  /// The subnet's state, locked for this process; or why not. This object outlives what it returns, and so
  /// does the clock, which is that of the caller's io_context; without one a commit is waited for as long as
  /// it takes.
  asio::awaitable<std::expected<std::unique_ptr<Store>, std::string>> open(std::string subnet,
                                                                           mad::Clock* clock = nullptr);

  /// Why changes are in memory only at present; nothing where all are written. From any thread.
  std::optional<Failure> failure() const { return states_.ongoing_failure()->now(); }

 private:
  class Handle;
  /// Runs on the thread.
  using Task = std::move_only_function<void(SubnetStates&)>;
  struct Item {
    Task task;
    /// Of what the task puts: a later one takes the place of one that has not begun. Empty: no put.
    std::string put;
    /// Called once all that was put before is written (true), or not.
    std::vector<std::move_only_function<void(bool)>> written{};
  };
  /// For a disk that is slow: for `patience`, and not at all after another one has; or for `change_patience`.
  enum class Waits : std::uint8_t { brief, long_ };
  void add(Item item);
  void add_locked(Item item);
  Item* waiting_put(const std::string& put);
  template <class State>
  static Item item_of(std::string subnet, std::shared_ptr<const State> now);
  template <class State>
  asio::awaitable<bool> put(std::string subnet, std::shared_ptr<const State> now, mad::Clock* clock,
                            Waits waits = Waits::brief);
  /// `before` and then `item`, in one turn of the thread: one transaction.
  asio::awaitable<bool> put(std::vector<Item> before, Item item, mad::Clock* clock,
                            Waits waits = Waits::brief);
  void work();
  void run(std::deque<Item> items);

  std::chrono::nanoseconds retry_;
  std::chrono::nanoseconds patience_;
  std::chrono::nanoseconds change_patience_;
  std::shared_ptr<std::atomic<std::uint64_t>> steps_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::atomic<bool> late_ = false;  ///< nothing waits for a commit
  SubnetStates states_;             ///< the thread's only
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Item> items_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace smd::store
