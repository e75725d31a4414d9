// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which key a line of TOML sets, for errors of lines that could not be read.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smd::config {

/// The text without spaces, tabs and carriage returns at both sides.
std::string_view trimmed(std::string_view text);

/// "log.level" or "partition[2].name": the key of line `index` under the headings above it, with the index of
/// each block from 0. Empty where the line or its heading has no plain key.
std::string key_near(const std::vector<std::string_view>& lines, std::size_t index);

/// What to write where the heading in line `index` has one pair of brackets and an earlier one of the same
/// name two, or the reverse; else empty.
std::string heading_hint(const std::vector<std::string_view>& lines, std::size_t index);

}  // namespace smd::config
