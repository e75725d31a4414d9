// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines of policy files with one item a line.

#include <string_view>
#include <utility>
#include <vector>

namespace smd::config {

/// The lines with their numbers from 1, trimmed; empty ones are left out.
std::vector<std::pair<unsigned, std::string_view>> numbered_lines(std::string_view text);

/// As `numbered_lines`, without comments ('#' to the end of the line).
std::vector<std::pair<unsigned, std::string_view>> lines_without_comments(std::string_view text);

/// What a GUID looks like, for messages.
inline constexpr std::string_view kGuidForm = "a GUID such as 0x0002c90300001234";

}  // namespace smd::config
