// SPDX-License-Identifier: Apache-2.0
#include "smd/log/writer.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace smd::log {

struct Writer::Shared {
  Shared(Output to, Limits bounds) : output(std::move(to)), limits(bounds) {}

  struct Line {
    Record record;
    std::string text;
  };
  const Output output;  // the thread's only
  const Limits limits;
  std::mutex mutex;
  std::condition_variable wake;      // the thread: a line, or the end
  std::condition_variable progress;  // drain(): a line was written
  std::deque<Line> lines;            // the first is being written
  std::size_t bytes = 0;
  std::uint64_t lost = 0;
  std::uint64_t written = 0;
  bool ending = false;
};

Writer::Writer(Output output) : Writer(std::move(output), Limits{}) {}

// Detached: a write that never returns cannot be joined.
Writer::Writer(Output output, Limits limits) : shared_(std::make_shared<Shared>(std::move(output), limits)) {
  std::thread([shared = shared_] { work(shared); }).detach();
}

Writer::~Writer() {
  {
    const std::scoped_lock guard(shared_->mutex);
    shared_->ending = true;
  }
  shared_->wake.notify_one();
}

bool Writer::put(const Record& record, std::string line) {
  auto& shared = *shared_;
  {
    const std::scoped_lock guard(shared.mutex);
    if (!shared.lines.empty() && shared.bytes + line.size() > shared.limits.bytes) {
      ++shared.lost;
      return false;
    }
    shared.bytes += line.size();
    shared.lines.push_back({.record = record, .text = std::move(line)});
  }
  shared.wake.notify_one();
  return true;
}

std::uint64_t Writer::take_lost() {
  const std::scoped_lock guard(shared_->mutex);
  if (shared_->bytes > shared_->limits.bytes / 2) return 0;
  return std::exchange(shared_->lost, 0);
}

void Writer::drain() {
  auto& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  auto seen = shared.written;
  while (!shared.lines.empty()) {
    const bool moved = shared.progress.wait_for(
        lock, shared.limits.patience, [&] { return shared.lines.empty() || shared.written != seen; });
    if (!moved) return;
    seen = shared.written;
  }
}

void Writer::work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->wake.wait(lock, [&] { return shared->ending || !shared->lines.empty(); });
    if (shared->lines.empty()) return;
    // Stays where it is while it is written: drain() waits for it, and a deque moves nothing when it grows.
    const auto& line = shared->lines.front();
    lock.unlock();
    shared->output(line.record, line.text);
    lock.lock();
    shared->bytes -= line.text.size();
    shared->lines.pop_front();
    ++shared->written;
    shared->progress.notify_all();
  }
}

}  // namespace smd::log
