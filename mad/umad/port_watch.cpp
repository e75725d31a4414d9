// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/port_watch.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace smd::umad {
namespace {

/// For a read that is not stalled to end.
constexpr std::chrono::milliseconds kEnding{100};

}  // namespace

struct PortWatch::Shared {
  explicit Shared(mad::LocalPort first) : result(std::move(first)) {}
  std::mutex lock;
  std::condition_variable changed;
  bool stop = false, ended = false;
  std::optional<std::chrono::steady_clock::time_point> since;  ///< of the read under way
  Result result;
};

PortWatch::PortWatch(mad::LocalPort first, Read read, std::chrono::milliseconds period)
    : shared_(std::make_shared<Shared>(std::move(first))),
      thread_([shared = shared_, read = std::move(read), period] { run(shared, read, period); }) {}

PortWatch::~PortWatch() {
  std::unique_lock guard(shared_->lock);
  shared_->stop = true;
  shared_->changed.notify_all();
  const bool ended = shared_->changed.wait_for(guard, kEnding, [this] { return shared_->ended; });
  guard.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

PortWatch::Result PortWatch::latest() const {
  const std::scoped_lock guard(shared_->lock);
  return shared_->result;
}

std::chrono::milliseconds PortWatch::reading_for() const {
  const std::scoped_lock guard(shared_->lock);
  const auto since = shared_->since.value_or(std::chrono::steady_clock::now());
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since);
}

void PortWatch::run(const std::shared_ptr<Shared>& shared, const Read& read,
                    std::chrono::milliseconds period) {
  std::unique_lock guard(shared->lock);
  while (!shared->stop) {
    shared->since = std::chrono::steady_clock::now();
    guard.unlock();
    auto result = read();
    guard.lock();
    shared->since.reset();
    shared->result = std::move(result);
    shared->changed.wait_for(guard, period, [&] { return shared->stop; });
  }
  shared->ended = true;
  shared->changed.notify_all();
}

}  // namespace smd::umad
