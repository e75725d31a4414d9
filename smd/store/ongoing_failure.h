// SPDX-License-Identifier: Apache-2.0
#pragma once
// What keeps a store from writing, said once when it begins and once when it is over.

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "smd/log/log.h"

namespace smd::store {

struct Failure {
  std::string reason;
  std::chrono::system_clock::time_point since;
};

/// From any thread.
class OngoingFailure {
 public:
  /// No failure yet; `directory` is named in the lines.
  OngoingFailure(std::filesystem::path directory, log::Log log)
      : directory_(std::move(directory)), log_(std::move(log)) {}

  /// `store.failed`, unless it has been said since the last end(); now() has the reason in any case.
  void begin(const std::string& reason);
  /// Logs `store.works_again`, if there was a failure.
  void end();
  /// Nothing where all that was put is written in time.
  std::optional<Failure> now() const;

 private:
  std::filesystem::path directory_;
  log::Log log_;
  mutable std::mutex mutex_;
  std::optional<Failure> failure_;
};

}  // namespace smd::store
