// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words and numbers of a command line of the simulator.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::sim {

using Words = std::vector<std::string>;

/// What is allowed for numbers of 64 bits.
inline constexpr std::string_view kAny64 = "0 to 0xffffffffffffffff";

/// Words between spaces; one in double quotes may hold spaces.
std::expected<Words, std::string> split_words(std::string_view text);
/// A word of the user, as it can stand in a sentence: in quotes, one line, not too long.
std::string quoted(std::string_view text);
/// A whole number from 0 to `most`, decimal or with 0x.
std::optional<std::uint64_t> whole(std::string_view text, std::uint64_t most);
/// A decimal number from 0 to `most`; nothing for other texts.
std::optional<double> number(std::string_view text, double most);

}  // namespace smd::sim
