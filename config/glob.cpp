// SPDX-License-Identifier: Apache-2.0
#include "config/glob.h"

#include <optional>

namespace smd::config {
namespace {

struct OneCharacter {
  bool matches = false;
  std::size_t length = 1;  ///< of the pattern's part that was compared
};

/// "[...]" at the beginning of `pattern` against one character; nothing where no ']' ends it.
std::optional<OneCharacter> match_set(std::string_view pattern, char c) {
  std::size_t at = 1;
  const bool negated = at < pattern.size() && pattern[at] == '!';
  if (negated) ++at;
  bool inside = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) return OneCharacter{.matches = inside != negated, .length = at + 1};
    const bool range = at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']';
    const char low = pattern[at];
    const char high = range ? pattern[at + 2] : low;
    inside = inside || (low <= c && c <= high);
    at += range ? 3 : 1;
  }
  return std::nullopt;
}

OneCharacter match_one(std::string_view pattern, char c) {
  if (pattern[0] == '?') return {.matches = true, .length = 1};
  if (pattern[0] == '[') {
    if (const auto set = match_set(pattern, c)) return *set;
  }
  return {.matches = pattern[0] == c, .length = 1};
}

}  // namespace

bool is_glob(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

bool has_open_set(std::string_view pattern) {
  std::size_t at = pattern.find('[');
  while (at < pattern.size()) {
    const auto set = match_set(pattern.substr(at), 'a');
    if (!set) return true;
    at = pattern.find('[', at + set->length);
  }
  return false;
}

bool matches_glob(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t in_name = 0;
  // Where to go on when what follows the last '*' does not match: only the last one can be wrong.
  std::optional<std::size_t> star;
  std::size_t star_name = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_name = in_name;
      continue;
    }
    if (at < pattern.size()) {
      const auto one = match_one(pattern.substr(at), name[in_name]);
      if (one.matches) {
        at += one.length;
        ++in_name;
        continue;
      }
    }
    if (!star) return false;
    at = *star;
    in_name = ++star_name;
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace smd::config
