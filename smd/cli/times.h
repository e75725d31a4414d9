// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lengths of time as people write them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd::cli {

/// "90d", "12h", "1h30m" (config::parse_duration): whole seconds, 1 s to 36,600 days.
std::optional<std::int64_t> seconds_of(std::string_view text);

/// What the command line says of a text that is no such time; empty: it is one.
std::string why_no_time(const std::string& text);

}  // namespace smd::cli
