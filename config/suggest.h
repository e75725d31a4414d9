// SPDX-License-Identifier: Apache-2.0
#pragma once
// 'did you mean': the word of a list that is nearest to a mistyped one.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd::config {

/// The number of letters to add, remove, change or swap with their neighbour to turn one into the other
/// (optimal string alignment distance); case is ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `words`, at a distance of at most a third of the letters; the first of equals; else
/// nothing.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words);

/// `did you mean "x"?` for the nearest word, or an empty text.
std::string did_you_mean(std::string_view word, std::span<const std::string> words);
/// The same, or else the words that there are, of many the first: `groups are "a", "b"`. `what`: "groups".
std::string did_you_mean_or_all(std::string_view word, std::span<const std::string> words,
                                std::string_view what);

}  // namespace smd::config
