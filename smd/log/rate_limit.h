// SPDX-License-Identifier: Apache-2.0
#pragma once
// A repeated message is one line and a count a minute. Memory is bounded by the classes of messages, which
// are bounded by the source code and the number of subnets, whatever the fabric does.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "smd/log/record.h"

namespace smd::log {

struct RatePolicy {
  std::chrono::nanoseconds window = std::chrono::minutes(1);
  std::size_t per_class = 30;  ///< different messages of one class (subnet and event) in a window
};

/// Two messages are the same when subnet, event and subject are; without a subject, when their fields are
/// too. Not thread-safe: its owner's lock guards it. Times are steady, since any start.
class RateLimiter {
 public:
  using Time = std::chrono::nanoseconds;
  /// Nothing counted yet.
  explicit RateLimiter(RatePolicy policy = {}) : policy_(policy) {}

  /// True: write it. False: it is counted, and its count comes out of `due` when the window is over.
  bool admit(const Record& record, Time now);

  /// The counts of windows that are over: the last message of each with `suppressed=N`.
  std::vector<Record> due(Time now);

  /// The counts of all windows, over or not, before the end.
  std::vector<Record> drain();

 private:
  struct Entry {
    Time since{};
    std::uint64_t suppressed = 0;
    Record last;
  };
  struct Class {
    std::map<std::string, Entry> entries;  ///< by subject
    Entry others;                          ///< of subjects that found no room
  };

  void collect(Class& of, Time now, bool all, std::vector<Record>& out) const;

  RatePolicy policy_;
  std::map<std::string, Class> classes_{};
  Time next_due_ = Time::max();
};

}  // namespace smd::log
