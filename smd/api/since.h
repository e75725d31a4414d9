// SPDX-License-Identifier: Apache-2.0
#pragma once
// From when on, as people write it.

#include <chrono>
#include <optional>
#include <string_view>

namespace smd::api {

/// A time of UTC ("2026-11-29T01:30:53.250Z", also without the Z, the fraction, the seconds or the time of
/// day), or a length of time before `now` ("1h30m", as config::parse_duration). Nothing: it is neither.
std::optional<std::chrono::system_clock::time_point> parse_since(std::string_view text,
                                                                 std::chrono::system_clock::time_point now);

}  // namespace smd::api
