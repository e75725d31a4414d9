// SPDX-License-Identifier: Apache-2.0
#include "smd/store/store_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "mad/real_clock.h"
#include "mad/task_group.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

using test::KeptLines;
using test::TemporaryFolder;

/// Runs a task to its end. The loop outlives the store thread, as in the daemon: the thread may still be on
/// its way out of post() when the task has its answer.
void run(asio::io_context& io, asio::awaitable<void> task) {
  io.restart();
  mad::TaskGroup group(io.get_executor());
  group.spawn(std::move(task));
  io.run();
}

asio::awaitable<void> commit_one(StoreThread* thread, std::string subnet, sm::StoredPtr now, bool* kept) {
  const auto opened = co_await thread->open(std::move(subnet));
  if (!opened) co_return;
  *kept = co_await (*opened)->commit(std::move(now));
}

asio::awaitable<void> read_one(StoreThread* thread, std::string subnet, sm::StoredPtr* found) {
  const auto opened = co_await thread->open(std::move(subnet));
  if (opened) *found = (*opened)->loaded();
}

TEST(StoreThread, WhatWasCommittedIsThereForTheNextProcess) {
  asio::io_context io(1);
  TemporaryFolder folder;
  KeptLines lines;
  bool kept = false;
  {
    StoreThread thread({.place = {folder.path()}}, lines.log);
    run(io, commit_one(&thread, "a", test::some_state(1), &kept));
  }
  sm::StoredPtr found;
  StoreThread thread({.place = {folder.path()}}, lines.log);
  run(io, read_one(&thread, "a", &found));

  EXPECT_TRUE(kept);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, *test::some_state(1));
  EXPECT_THAT(*lines.lines, testing::IsEmpty());
}

asio::awaitable<void> open_twice(StoreThread* thread, std::string* refused) {
  const auto first = co_await thread->open("a");
  const auto second = co_await thread->open("a");
  if (!second) *refused = second.error();
}

TEST(StoreThread, TheSameSubnetIsNotOpenedTwice) {
  asio::io_context io(1);
  TemporaryFolder folder;
  KeptLines lines;
  StoreThread thread({.place = {folder.path()}}, lines.log);
  std::string refused;

  run(io, open_twice(&thread, &refused));

  EXPECT_THAT(refused, testing::HasSubstr("two subnets of this process are named a"));
  bool kept = false;
  run(io, commit_one(&thread, "a", test::some_state(1), &kept));
  EXPECT_TRUE(kept) << "the first was closed";
}

asio::awaitable<void> commits(Store* store, std::uint64_t from, int count, int* kept) {
  for (int i = 0; i < count; ++i) {
    auto now = test::some_state(from + static_cast<std::uint64_t>(i));
    const bool done = co_await store->commit(std::move(now));
    *kept += done ? 1 : 0;
  }
}

asio::awaitable<void> many_subnets(StoreThread* thread, int* kept) {
  const auto executor = co_await asio::this_coro::executor;
  std::vector<std::unique_ptr<Store>> stores;
  for (int i = 0; i < 5; ++i) {
    auto opened = co_await thread->open("subnet" + std::to_string(i));
    stores.push_back(std::move(*opened));
  }
  mad::TaskGroup group(executor);
  for (auto& store : stores) group.spawn(commits(store.get(), 10, 20, kept));
  co_await group.join();
}

TEST(StoreThread, ManySubnetsCommitAtOnce) {
  asio::io_context io(1);
  TemporaryFolder folder;
  KeptLines lines;
  int kept = 0;
  {
    StoreThread thread({.place = {folder.path()}}, lines.log);
    run(io, many_subnets(&thread, &kept));
  }
  sm::StoredPtr found;
  StoreThread thread({.place = {folder.path()}}, lines.log);
  run(io, read_one(&thread, "subnet3", &found));

  EXPECT_EQ(kept, 100);
  EXPECT_EQ(*found, *test::some_state(29));
}

asio::awaitable<void> commit_until_cancelled(StoreThread* thread, int* begun) {
  auto opened = co_await thread->open("a");
  const auto& store = **opened;
  static_cast<void>(store);
  for (std::uint64_t seed = 1;; ++seed) {
    ++*begun;
    auto now = test::some_state(seed);
    co_await (*opened)->commit(std::move(now));
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return;
  }
}

asio::awaitable<void> cancel_one(StoreThread* thread, int* begun) {
  const auto executor = co_await asio::this_coro::executor;
  mad::TaskGroup group(executor);
  group.spawn(commit_until_cancelled(thread, begun));
  while (*begun < 3) co_await asio::post(executor, asio::use_awaitable);
  co_await group.stop();
}

TEST(StoreThread, IsLeftInTheMiddleOfACommit) {
  asio::io_context io(1);
  TemporaryFolder folder;
  KeptLines lines;
  StoreThread thread({.place = {folder.path()}}, lines.log);
  int begun = 0;

  run(io, cancel_one(&thread, &begun));

  EXPECT_GE(begun, 3);
}

TEST(StoreThread, TriesAgainByItself) {
  asio::io_context io(1);
  TemporaryFolder folder;
  KeptLines lines;
  test::FaultyVfs vfs("thread");
  {
    StoreThread thread({.place = {folder.path(), vfs.name()}, .retry = std::chrono::milliseconds(1)},
                       lines.log);
    vfs.refuse(SQLITE_FULL);
    bool kept = true;
    run(io, [](StoreThread* on, test::FaultyVfs* disk, bool* done) -> asio::awaitable<void> {
      auto opened = co_await on->open("a");
      *done = co_await (*opened)->commit(test::some_state(1));
      disk->refuse(SQLITE_OK);
      const auto executor = co_await asio::this_coro::executor;
      // The thread wakes by itself; another subnet's commit waits for that, and writes both.
      auto other = co_await on->open("b");
      co_await (*other)->commit(test::some_state(2));
    }(&thread, &vfs, &kept));
    EXPECT_FALSE(kept);
  }
  sm::StoredPtr found;
  StoreThread thread({.place = {folder.path()}}, lines.log);
  run(io, read_one(&thread, "a", &found));

  EXPECT_EQ(*found, *test::some_state(1));
}

/// Another process that has the file locked.
class Locked {
 public:
  explicit Locked(const TemporaryFolder& folder) {
    EXPECT_EQ(sqlite3_open((folder.path() / "smd.db").c_str(), &connection_), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  ~Locked() { sqlite3_close(connection_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  sqlite3* connection_ = nullptr;
};

asio::awaitable<void> commit_many(Store* store, int from, int to, int* kept) {
  for (int i = from; i < to; ++i) {
    if (co_await store->commit(test::some_state(static_cast<unsigned>(i)))) ++*kept;
  }
}

asio::awaitable<void> open_one(StoreThread* thread, mad::Clock* clock, std::unique_ptr<Store>* store) {
  auto opened = co_await thread->open("a", clock);
  *store = std::move(*opened);
}

TEST(StoreThread, ALockedFileHoldsOneCommitUpForItsPatienceAndIsSaidOnce) {
  asio::io_context io(1);
  TemporaryFolder folder;
  KeptLines lines;
  {
    StoreThread thread({.place = {folder.path()}, .retry = std::chrono::milliseconds(1)}, lines.log);
    mad::RealClock clock(io);
    std::unique_ptr<Store> store;
    run(io, open_one(&thread, &clock, &store));
    int kept = 0;
    {
      const Locked locked(folder);
      const auto begun = std::chrono::steady_clock::now();
      run(io, commit_many(store.get(), 1, 100, &kept));
      // One waits for 100 ms. SQLite waits 5 s for the lock, so that even two of them would take longer.
      EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
      EXPECT_EQ(kept, 0);
      ASSERT_TRUE(thread.failure());
    }
    for (int i = 0; i < 3000 && thread.failure(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(thread.failure()) << thread.failure()->reason;
    run(io, commit_many(store.get(), 100, 101, &kept));
    EXPECT_EQ(kept, 1) << "commits are waited for again";
  }
  EXPECT_EQ(lines.count("store.failed"), 1U);
  EXPECT_EQ(lines.count("store.works_again"), 1U);
  sm::StoredPtr found;
  StoreThread thread({.place = {folder.path()}}, lines.log);
  run(io, read_one(&thread, "a", &found));
  EXPECT_EQ(*found, *test::some_state(100));
}

asio::awaitable<void> change_one(Store* store, bool* done) {
  auto policies = std::make_shared<policy::Policies>();
  policies->accepted = "{}";
  *done = co_await store->commit_change(std::move(policies));
}

/// An open store, whose disk takes nothing as long as `locked` lives.
struct OnALockedDisk {
  OnALockedDisk() {
    run(io, open_one(&thread, &clock, &store));
    locked = std::make_unique<Locked>(folder);
  }
  asio::io_context io{1};
  TemporaryFolder folder{};
  KeptLines lines{};
  StoreThread thread{{.place = {folder.path()}}, lines.log};
  mad::RealClock clock{io};
  std::unique_ptr<Store> store{};
  std::unique_ptr<Locked> locked{};
};

/// A large change alone keeps a disk busy for longer than others wait.
TEST(StoreThread, AChangeOfAClientWaitsForASlowDisk) {
  OnALockedDisk on;
  int kept = 0;
  run(on.io, commit_many(on.store.get(), 1, 2, &kept));
  ASSERT_TRUE(on.thread.failure()) << "from here on nothing but changes of clients is waited for";
  std::jthread slow([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    on.locked.reset();
  });
  bool changed = false;
  run(on.io, change_one(on.store.get(), &changed));

  EXPECT_EQ(kept, 0);
  EXPECT_TRUE(changed);
}

TEST(StoreThread, EndsWithAChangeOfAClient) {
  OnALockedDisk on;
  bool changed = false;
  const auto begun = std::chrono::steady_clock::now();
  on.io.restart();
  mad::TaskGroup group(on.io.get_executor());
  group.spawn(change_one(on.store.get(), &changed));
  mad::TaskGroup stopper(on.io.get_executor());
  stopper.spawn(group.stop());
  on.io.run();
  const auto took = std::chrono::steady_clock::now() - begun;
  on.locked.reset();

  EXPECT_FALSE(changed);
  EXPECT_LT(took, std::chrono::seconds(4));
}

TEST(StoreThread, EndsWithACommitThatIsLate) {
  TemporaryFolder folder;
  KeptLines lines;
  StoreThread thread({.place = {folder.path()}}, lines.log);
  std::unique_ptr<Locked> locked;
  int kept = 0;
  {
    asio::io_context io(1);
    mad::RealClock clock(io);
    std::unique_ptr<Store> store;
    run(io, open_one(&thread, &clock, &store));
    locked = std::make_unique<Locked>(folder);
    run(io, commit_many(store.get(), 1, 2, &kept));
  }  // gone before the thread has its answer
  locked.reset();
  while (thread.failure()) std::this_thread::sleep_for(std::chrono::milliseconds(10));

  EXPECT_EQ(kept, 0);
}

}  // namespace
}  // namespace smd::store
