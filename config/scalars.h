// SPDX-License-Identifier: Apache-2.0
#pragma once
// Notations of configuration and policy files: GUIDs, times, numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "mad/base/id.h"
#include "mad/base/parse.h"

namespace smd::config {

/// "0x0002c90300001234" (1 to 16 digits), "0002c90300001234" or "0002:c903:0000:1234"; never 0.
/// Without "0x" all 16 digits have to be there: fewer could be a decimal number.
std::optional<Guid> parse_guid(std::string_view text);

using base::parse_number;
using base::trim;

/// Whole numbers with units, the largest unit first: "500us", "200ms", "10s", "5m", "1h", "7d", "1h30m".
std::optional<Duration> parse_duration(std::string_view text);

/// The time in the largest unit that leaves no remainder; `parse_duration` reads it.
std::string show_duration(Duration time);

/// "HOST:PORT", with brackets around an IPv6 address; the port is 1 to 65535, decimal.
bool is_address(std::string_view text);

/// The text as a TOML string, in quotes and escaped.
std::string toml_quoted(std::string_view text);

}  // namespace smd::config
