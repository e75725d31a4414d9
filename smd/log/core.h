// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all handles of one log share: filter, repetitions, output, behind one lock.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "smd/log/log.h"
#include "smd/log/rate_limit.h"
#include "smd/log/sink.h"
#include "smd/log/writer.h"

namespace smd::log {

/// What a line begins with: nothing, its time and level (text only, JSON has them inside), or `<N>` where the
/// journal reads our stderr.
enum class Stamp : std::uint8_t { none, time, priority };

class Core {
 public:
  /// Lines are written by the caller's thread.
  Core(config::LogConfig config, Output output, Times times, Stamp stamp);
  /// Lines are written by the writer's thread; what found no room is told by `log.dropped`.
  Core(config::LogConfig config, std::unique_ptr<Writer> writer, Times times, Stamp stamp);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// Without the lock. False: the filter writes no line of this level, so none need be made.
  bool may_write(Level level) const { return level <= widest_.load(std::memory_order_relaxed); }
  /// Writes, counts or drops the record by the filter and the rate limit. From any thread, as all below.
  void write(const Record& record);
  /// Writes the counts of repetitions that are due, and how many lines were dropped.
  void tick();
  /// Writes all counts and waits for the writer (Writer::drain).
  void finish();
  /// Configuration and target by new ones; the filter is the configured one again.
  void replace(config::LogConfig config, std::unique_ptr<Writer> writer, Stamp stamp);
  /// Until the next call or replace().
  void set_filter(Filter filter);
  /// A copy of the filter in effect.
  Filter filter();
  /// Replaces the sink; one without `take`: there is none. The sink before may get a record once more after
  /// this returns.
  void set_sink(Sink sink);

 private:
  struct ForSink;
  ForSink for_sink(const Record* record);
  void write_line(const Record& record);
  void set_widest();
  void emit(const Record& record);
  void tell_lost();
  std::string line_of(const Record& record) const;

  std::atomic<Level> widest_;
  std::mutex lock_;
  config::LogConfig config_;
  Filter filter_;
  Output output_;                   ///< where there is no writer
  std::shared_ptr<Writer> writer_;  ///< shared with finish(), which waits without the lock
  Times times_;
  RateLimiter repetitions_;
  std::shared_ptr<const Sink> sink_;  ///< null: none
  RateLimiter sink_repetitions_;      ///< apart: the filter of lines does not apply
  Stamp stamp_;
};

}  // namespace smd::log
