// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines on their way to where they are written, and the thread that waits there: a terminal that is stopped,
// a pipe that is not read, a slow disk.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "smd/log/output.h"
#include "smd/log/record.h"

namespace smd::log {

/// Has a thread of its own. Used by one thread at a time.
class Writer {
 public:
  struct Limits {
    std::size_t bytes = std::size_t{4} << 20;  ///< of lines that wait; one line always fits
    std::chrono::milliseconds patience{1000};  ///< without a line written, before drain() gives up
  };
  /// With the default limits.
  explicit Writer(Output output);
  /// Starts its thread, which is detached: it outlives this while a write does not return.
  Writer(Output output, Limits limits);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  /// Does not wait: the thread writes what is left and ends. Call drain() first at the end of the process.
  ~Writer();

  /// Returns at once. False: there was no room, the line is lost and counted.
  bool put(const Record& record, std::string line);
  /// Lines lost since the last call that gave a count; 0 as long as more than half of the room is in use, so
  /// that the line that tells it is not lost as well.
  std::uint64_t take_lost();
  /// Waits until all is written, or until nothing was for `Limits::patience`.
  void drain();

 private:
  struct Shared;  ///< the thread's too, which may live longer
  static void work(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;
};

}  // namespace smd::log
