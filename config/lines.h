// SPDX-License-Identifier: Apache-2.0
#pragma once
// Policy files of a line an item.

#include <string_view>
#include <utility>
#include <vector>

namespace smd::config {

/// Numbered from 1, trimmed, empty ones left out.
std::vector<std::pair<unsigned, std::string_view>> numbered_lines(std::string_view text);

/// The same with '#' and what follows it cut off.
std::vector<std::pair<unsigned, std::string_view>> lines_without_comments(std::string_view text);

/// What a GUID looks like, for messages.
inline constexpr std::string_view kGuidForm = "a GUID such as 0x0002c90300001234";

}  // namespace smd::config
