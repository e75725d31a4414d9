// SPDX-License-Identifier: Apache-2.0
#pragma once
// A record as text or as JSON, always one line, whatever bytes the fabric put into it.

#include <chrono>
#include <string>

#include "smd/log/record.h"

namespace smd::log {

/// `event subnet=… key=value …`; values that hold spaces, quotes, '=' or control characters are quoted.
std::string to_text(const Record& record);

/// One object: time (UTC), level, event, subnet, then the fields. Bytes that are no UTF-8 become U+FFFD.
std::string to_json(const Record& record, std::chrono::system_clock::time_point when);

/// "2026-03-01T12:00:00.123Z"
std::string to_utc(std::chrono::system_clock::time_point when);

}  // namespace smd::log
