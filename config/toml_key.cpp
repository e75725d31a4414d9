// SPDX-License-Identifier: Apache-2.0
#include "config/toml_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace smd::config {
namespace {

bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

/// "item" of "[item]" (one pair of brackets) and of "[[item]]" (two).
struct Heading {
  std::string_view name{};
  bool is_block = false;
};

Heading heading_of(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('[')) return {};
  const bool block = line.starts_with("[[");
  line.remove_prefix(block ? 2 : 1);
  return {.name = trimmed(line.substr(0, line.find(']'))), .is_block = block};
}

/// A heading and how many blocks of each array there have been up to it.
class Headings {
 public:
  /// Takes one line, a heading or not.
  void read(std::string_view line) {
    if (!trimmed(line).starts_with('[')) return;
    const auto [name, is_block] = heading_of(line);
    heading_ = name;
    if (!is_block || !is_plain(name)) return;
    ++blocks_[heading_];
    // A new [[subnet]] has no [[subnet.partition]] yet.
    std::erase_if(blocks_, [&](const auto& one) { return one.first.starts_with(heading_ + "."); });
  }

  const std::string& heading() const { return heading_; }

  /// "subnet.partition" as "subnet[0].partition[2]".
  std::string with_indexes() const {
    std::string out;
    for (std::size_t end = 0; end <= heading_.size(); ++end) {
      const bool part_ends = end == heading_.size() || heading_[end] == '.';
      const auto blocks = part_ends ? blocks_.find(heading_.substr(0, end)) : blocks_.end();
      if (blocks != blocks_.end()) out += fmt::format("[{}]", blocks->second - 1);
      if (end < heading_.size()) out += heading_[end];
    }
    return out;
  }

 private:
  std::string heading_{};
  std::map<std::string, unsigned> blocks_{};
};

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string key_near(const std::vector<std::string_view>& lines, std::size_t index) {
  const auto equals = lines[index].find('=');
  const auto key = trimmed(lines[index].substr(0, equals));
  if (equals == std::string_view::npos || !is_plain(key)) return {};
  Headings above;
  for (std::size_t i = 0; i < index; ++i) above.read(lines[i]);
  if (above.heading().empty()) return std::string(key);
  return is_plain(above.heading()) ? fmt::format("{}.{}", above.with_indexes(), key) : std::string();
}

std::string heading_hint(const std::vector<std::string_view>& lines, std::size_t index) {
  const auto here = heading_of(lines[index]);
  if (!is_plain(here.name)) return {};
  for (std::size_t i = 0; i < index; ++i) {
    const auto earlier = heading_of(lines[i]);
    if (earlier.name != here.name || earlier.is_block == here.is_block) continue;
    return fmt::format("line {} has {}: blocks of one array all begin with [[{}]]", i + 1,
                       earlier.is_block ? fmt::format("[[{}]]", here.name) : fmt::format("[{}]", here.name),
                       here.name);
  }
  return {};
}

}  // namespace smd::config
