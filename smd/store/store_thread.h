// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one thread that waits for disks. What arrives while it writes is one transaction afterwards.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "smd/store/shelves.h"
#include "smd/store/store.h"

namespace smd::store {

/// The store of a process: one state directory, one thread, a Store for each subnet. From any thread.
class StoreThread {
 public:
  struct Options {
    Place place;
    std::chrono::nanoseconds retry = std::chrono::seconds(10);  ///< of what could not be written
  };
  StoreThread(Options options, log::Log log);
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;
  /// What was put is written first.
  ~StoreThread();

  /// The subnet's state, locked for this process; or why not. This object outlives what it returns.
  asio::awaitable<std::expected<std::unique_ptr<Store>, std::string>> open(std::string subnet);

 private:
  class Handle;
  /// Runs on the thread.
  using Task = std::move_only_function<void(Shelves&)>;
  struct Item {
    Task task;
    /// Called once all that was put before is written (true), or not.
    std::move_only_function<void(bool)> written;  ///< null: the task needs no write
  };
  void add(Item item);
  template <class State>
  asio::awaitable<bool> put(std::string subnet, std::shared_ptr<const State> now);
  void work();

  std::chrono::nanoseconds retry_;
  Shelves shelves_;  ///< the thread's only
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Item> items_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace smd::store
