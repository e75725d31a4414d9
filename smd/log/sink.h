// SPDX-License-Identifier: Apache-2.0
#pragma once
// A second reader of a log, which gets records instead of lines.

#include <functional>

#include "smd/log/record.h"

namespace smd::log {

/// Gets the records up to `level`, whatever [log] says, without repetitions: those are a record with
/// `suppressed=N` a minute, as in the log. `take` is called from any thread, without a lock of the log.
struct Sink {
  Level level = Level::info;
  std::function<void(const Record& record)> take;
};

}  // namespace smd::log
