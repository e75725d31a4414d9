// SPDX-License-Identifier: Apache-2.0
#include "config/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace smd::config {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: three rows of the usual table, the oldest for swapped neighbours.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words) {
  constexpr std::size_t kLongest = 64;  // no word of ours is longer
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1);
  for (const auto& candidate : words) {
    // "warning" for "warn".
    constexpr std::size_t kShortest = 4;
    if (candidate.size() >= kShortest && word.starts_with(candidate)) return candidate;
    const auto distance = edit_distance(word, candidate);
    if (distance > best_distance || (best && distance == best_distance)) continue;
    if (distance >= std::max(word.size(), candidate.size())) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> words) {
  const auto found = nearest(word, words);
  return found ? fmt::format("did you mean \"{}\"?", *found) : std::string();
}

std::string did_you_mean_or_all(std::string_view word, std::span<const std::string> words,
                                std::string_view what) {
  constexpr std::size_t kMostListed = 16;
  if (words.empty()) return fmt::format("no {} are defined", what);
  if (auto near = did_you_mean(word, words); !near.empty()) return near;
  const auto listed = words.first(std::min(words.size(), kMostListed));
  auto hint = fmt::format("{} are \"{}\"", what, fmt::join(listed, "\", \""));
  if (words.size() > listed.size()) hint += fmt::format(" and {} more", words.size() - listed.size());
  return hint;
}

}  // namespace smd::config
