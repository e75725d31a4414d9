// SPDX-License-Identifier: Apache-2.0
#pragma once
// 'did you mean': the word of a list that a mistyped one is nearest to.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd::config {

/// Letters to add, take away, change or swap with their neighbour to make one of the other; case is ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `words`, where it is near enough (a third of the letters) to be meant; the first of equals.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words);

/// `did you mean "x"?`, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> words);

}  // namespace smd::config
