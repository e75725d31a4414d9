// SPDX-License-Identifier: Apache-2.0
#pragma once
// A record as text or as JSON, always one line, whatever bytes the fabric put into it.

#include <chrono>
#include <string>
#include <string_view>

#include "smd/log/record.h"

namespace smd::log {

/// `event subnet=… key=value …`; values that hold spaces, quotes, '=' or control characters are quoted.
std::string to_text(const Record& record);

/// ` key=value` of it, appended.
void append_text_field(std::string& out, std::string_view key, std::string_view value);

/// One object: time (UTC), level, event, subnet, then the fields. No key is there twice: a second one gets
/// the suffix "_2", because readers keep only one of them. Bytes that are no UTF-8 become U+FFFD.
std::string to_json(const Record& record, std::chrono::system_clock::time_point when);

/// Without an exponent, so that every tool reads it: as many digits as tell it from others, six decimals at
/// most. "nan", "inf" and "-inf" where it is none.
std::string to_plain(double value);

/// In UTC with milliseconds: "2026-03-01T12:00:00.123Z".
std::string to_utc(std::chrono::system_clock::time_point when);

}  // namespace smd::log
